package sessions

import (
	"context"
	"encoding/json"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/view"
)

// showContext prints what the next request of a session holds: its parts with their tokens, then all of it.
func showContext(ctx context.Context, a *app.App, h *homes.Home, id string, asJSON bool) error {
	v, err := h.Context(ctx, id)
	if err != nil {
		return err
	}
	if asJSON {
		return a.JSON(v)
	}
	return a.Paged(func() error {
		a.Linef("%s: about %s tokens in the next request%s", v.SessionID, display.Grouped(v.Tokens), ofWindow(v))
		rows := [][]string{{"PART", "TOKENS", "BYTES"}}
		for _, p := range v.Parts {
			rows = append(rows, []string{p.Name, display.Grouped(p.Tokens), display.Grouped(p.Bytes)})
		}
		if err := a.Table(rows); err != nil {
			return err
		}
		a.Linef("\n--- system\n%s", display.Safe(v.System))
		tools, err := json.MarshalIndent(v.Tools, "", "  ")
		if err != nil {
			return err
		}
		a.Linef("\n--- tools\n%s\n", display.Safe(string(tools)))
		section(a, "messages", v.Messages, func(m view.Message) { showMessage(a, m) })
		return nil
	})
}

func ofWindow(v *view.Context) string {
	if v.Window == 0 {
		return ""
	}
	return ", of a window of " + display.Grouped(v.Window) + "; compacted from " + display.Grouped(v.CompactAt) + " on"
}
