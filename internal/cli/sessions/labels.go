package sessions

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
)

// Pairs reads KEY=VALUE arguments; of KEY= the value is empty.
func Pairs(what string, args []string) (map[string]string, error) {
	out := make(map[string]string, len(args))
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if !ok || strings.TrimSpace(key) == "" {
			return nil, app.UsageError("%s %q: write KEY=VALUE", what, arg)
		}
		out[key] = value
	}
	return out, nil
}

// LabelCommand is perdure label.
func LabelCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "label ID [KEY=VALUE...]", Short: "Show a session's labels, or set them; KEY= removes one",
		Long: `Labels are a session's metadata: for people and programs that look for sessions (perdure list --label KEY=VALUE). The
model does not see them.`,
		Example: "  perdure label fix-login team=payments ticket=SHOP-12\n  perdure label fix-login ticket=",
		Args:    app.RangeArgs(1, maxPairs, "a session, and labels"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				if len(args) == 1 {
					st, err := h.State(ctx, id)
					if err == nil {
						listPairs(a, st.Labels)
					}
					return err
				}
				set, err := Pairs("label", args[1:])
				if err != nil {
					return err
				}
				return a.Deliver(ctx, h, id, &session.Labelled{Labels: set})
			})
		},
	}
}

// maxPairs bounds the arguments of one command line.
const maxPairs = 256

func listPairs(a *app.App, of map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(of)) {
		a.Linef("%s=%s", display.Safe(k), display.Safe(of[k]))
	}
}

// StateCommand is perdure state.
func StateCommand(a *app.App) *cobra.Command {
	var remove []string
	c := &cobra.Command{
		Use: "state ID [KEY=VALUE...]", Short: "Show a session's scratch state, or set values of it",
		Long: `The scratch state holds values of a workflow that outlive the conversation: a program or a person sets them, and a model
is given them when the session begins and after each compaction; a key that begins with a dot it is not given. A value is
any text; keys and values have 1 MiB in all.`,
		Example: "  perdure state fix-login\n  perdure state fix-login stage=review ticket=SHOP-12\n  perdure state fix-login --delete stage",
		Args:    app.RangeArgs(1, maxPairs, "a session, and values"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				set, err := Pairs("state", args[1:])
				if err != nil {
					return err
				}
				if len(set)+len(remove) == 0 {
					return listState(ctx, a, h, id)
				}
				for _, k := range slices.Sorted(maps.Keys(set)) {
					if err := a.Deliver(ctx, h, id, &session.StateSet{Key: k, Value: []byte(set[k])}); err != nil {
						return err
					}
				}
				for _, k := range remove {
					if err := a.Deliver(ctx, h, id, &session.StateSet{Key: k, Delete: true}); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	c.Flags().StringArrayVar(&remove, "delete", nil, "remove the value of `KEY`")
	return c
}

func listState(ctx context.Context, a *app.App, h *homes.Home, id string) error {
	st, err := h.State(ctx, id)
	if err != nil {
		return err
	}
	for _, k := range slices.Sorted(maps.Keys(st.Scratch)) {
		value := string(st.Scratch[k])
		if strings.ContainsAny(value, "\n\r") { // one line for each key
			b, _ := json.Marshal(value) // a string has a form
			value = string(b)
		}
		a.Linef("%s=%s", display.Safe(k), display.Safe(value))
	}
	return nil
}
