package live

import (
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

// Call is a tool call as a person reads it.
type Call struct {
	Tool    string
	Use     string // the provider's id of it
	What    string // what it is about: a command, a path, a pattern
	Started int64  // ms UTC; 0: not yet
}

// Calls follows the tool calls of the newest step.
type Calls struct {
	known map[string]*Call // by act base
}

// Open is a call of a step that was under way before the first event that is seen.
func (c *Calls) Open(act, tool, use string, input []byte) {
	if c.known == nil {
		c.known = map[string]*Call{}
	}
	c.known[session.BaseOf(act)] = &Call{Tool: tool, Use: use, What: session.About(input)}
}

// See takes an event in.
func (c *Calls) See(body session.Body, at int64) {
	switch b := body.(type) {
	case *session.ModelResponded:
		if session.ForSummary(b.Act) {
			break
		}
		clear(c.known)
		for i, bl := range b.Blocks {
			if bl.Type == model.BlockToolUse {
				c.Open(session.CallBase(b.Act, i), bl.Name, bl.ID, bl.Input)
			}
		}
	case *session.ToolStarted:
		if call := c.known[session.BaseOf(b.Act)]; call != nil {
			call.Started = at
		}
	default:
	}
}

// Of is the call that an act is of; one without a name if it is not known.
func (c *Calls) Of(act string) Call {
	if call := c.known[session.BaseOf(act)]; call != nil {
		return *call
	}
	return Call{}
}

// Result is what the model was told of a call: at most so many lines, the last of which counts those that are left out.
func Result(content []model.Part, most int) []string {
	lines := strings.Split(plain.Text(strings.TrimSpace(model.Text(content))), "\n")
	if len(lines) > most {
		left := len(lines) - most + 1
		lines = append(lines[:most-1:most-1], fmt.Sprintf("... %d more lines", left))
	}
	return lines
}
