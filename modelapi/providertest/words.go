package providertest

import (
	"fmt"
	"strings"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// words tell of blocks with their bytes as text, which fmt shows as numbers.
func words(blocks ...model.Block) string {
	out := make([]string, len(blocks))
	for i, b := range blocks {
		out[i] = fmt.Sprintf("%s %q of provider %q, raw %q", b.Type, b.Text, b.Provider, b.Raw)
		if b.Tool != nil {
			out[i] += ", " + called(*b.Tool)
		}
	}
	return "[" + strings.Join(out, "; ") + "]"
}

// called tells of a call.
func called(u model.ToolUse) string {
	return fmt.Sprintf("call %q of %s with %q", u.ID, u.Name, u.Input)
}

// replied tells of a reply.
func replied(r *modelapi.Response) string {
	if r == nil {
		return "no reply"
	}
	return fmt.Sprintf("stop %s, usage %+v, blocks %s", r.Stop, r.Usage, words(r.Blocks...))
}
