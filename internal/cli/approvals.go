package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

func (a *App) approvalsCommand() *cobra.Command {
	return group("approvals", "Tool calls that wait for a human's yes or no", a.approvalsListCommand(), a.allowCommand(), a.denyCommand())
}

// approvalView is a line of approvals list --json.
type approvalView struct {
	ID        string       `json:"id"`
	Kind      string       `json:"kind"` // approval; see questionView for the other one
	SessionID string       `json:"session_id"`
	Tool      string       `json:"tool"`
	Input     any          `json:"input"`
	Cwd       string       `json:"cwd"`
	Target    string       `json:"target,omitempty"` // the path that the call works on, behind all links
	Always    bool         `json:"always,omitempty"` // it asks in every mode and whatever is granted
	Digest    store.Digest `json:"digest"`           // of what is shown; an answer is bound to it
	Rule      string       `json:"rule"`             // that asks; empty: no rule allows the call
	Asked     view.Stamp   `json:"asked_at"`
	Reason    string       `json:"reason,omitempty"`
	Offer     string       `json:"offer,omitempty"`          // the rule that --scope session grants
	Pattern   string       `json:"pattern,omitempty"`        // the wider one that --scope pattern grants
	Allows    string       `json:"pattern_allows,omitempty"` // what that allows besides, in words
	Again     bool         `json:"decided_again,omitempty"`  // a rule granted since may allow it: that is decided when it goes on
}

func viewOfWait(w wait) approvalView {
	p := w.call.Approval
	pattern, allows := wider(w)
	return approvalView{
		ID: w.id, Kind: kindApproval, SessionID: w.session, Tool: w.call.Tool, Input: homes.JSONValue(effective(w.call.Input)), Cwd: p.Cwd, Digest: p.Bound,
		Rule: p.Rule, Asked: view.Stamp(p.Asked), Reason: p.Reason, Offer: p.Offer, Pattern: pattern, Allows: allows,
		Target: p.Target, Always: p.Always, Again: w.again,
	}
}

func (a *App) approvalsListCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list [ID]", Short: "List what waits, in a session or in all", Args: rangeArgs(0, 1, "at most one session"),
		ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.verb(cmd, func(ctx context.Context, h *homes.Home) error {
				approvals, err := a.waitsFor(ctx, h, args, kindApproval)
				if err != nil {
					return err
				}
				questions, err := a.waitsFor(ctx, h, args, kindQuestion)
				if err != nil {
					return err
				}
				return a.printWaits(append(approvals, questions...), asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return c
}

// printWaits lists approvals and questions.
func (a *App) printWaits(waits []wait, asJSON bool) error {
	if len(waits) == 0 && !asJSON {
		a.note("nothing waits for a human")
	}
	for _, w := range waits {
		var err error
		switch q := w.call.Question; {
		case asJSON && q != nil:
			err = a.json(questionView{ID: w.id, Kind: kindQuestion, SessionID: w.session, Cwd: w.cwd, Question: *q})
		case asJSON:
			err = a.json(viewOfWait(w))
		case q != nil:
			a.printQuestion(w.id, *q)
		default:
			a.printApproval(w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// questionView is a line of approvals list --json for a question.
type questionView struct {
	ID        string `json:"id"`
	Kind      string `json:"kind"`
	SessionID string `json:"session_id"`
	Cwd       string `json:"cwd"`
	session.Question
}

// printQuestion shows what the model asks, and how to answer.
func (a *App) printQuestion(id string, q session.Question) {
	a.linef("%s  asks: %s", id, shown(q.Question, 2000))
	for i, o := range q.Options {
		a.linef("  %d. %s", i+1, shown(o, 200))
	}
	a.linef("  perdure answer %s %s", id, map[bool]string{true: "NUMBER   (or a text of yours)", false: "TEXT"}[len(q.Options) > 0])
}

func (a *App) waitsFor(ctx context.Context, h *homes.Home, args []string, kind string) ([]wait, error) {
	if len(args) == 0 {
		return a.allWaits(ctx, h, kind)
	}
	id, err := a.resolve(ctx, h, args[0])
	if err != nil {
		return nil, err
	}
	st, err := h.State(ctx, id)
	if err != nil {
		return nil, err
	}
	return waitsOf(st, kind), nil
}

const decidedAgain = "since a rule was granted it is decided again when the session goes on; an answer is still taken"

// printApproval shows a call with all that its judge has to know.
func (a *App) printApproval(w wait) {
	v := viewOfWait(w)
	a.linef("%s  %s  asked %s", v.ID, shown(v.Tool, maxCell), a.ago(int64(v.Asked)))
	for _, l := range callLines(w, linesInList) {
		a.linef("  %s", l)
	}
	if w.again {
		a.linef("  %s", decidedAgain)
	}
	a.linef("  digest %s", v.Digest)
	a.linef("  perdure approvals allow %s   (or deny)", v.ID)
	if v.Offer != "" {
		a.linef("  --scope session would also allow, for the session's life: %s", offered(w))
	}
	if v.Pattern != "" {
		a.linef("  --scope pattern would also allow, for the session's life: %s: %s", shown(v.Pattern, 500), shown(v.Allows, 500))
	}
}

// offered words the exact rule of an approval. A command has just been shown, with its lines.
func offered(w wait) string {
	if w.call.Tool == "Bash" {
		return "this command again, exactly as it is"
	}
	return shown(w.call.Approval.Offer, 500)
}
