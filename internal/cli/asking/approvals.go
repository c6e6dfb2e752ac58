// Package asking is what a session asks of a human, and what a human tells it: approvals and their rules, answers to
// questions, messages. Each is brought to the session whoever runs it; on demand the session goes on here.
package asking

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/pending"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// ApprovalsCommand is perdure approvals.
func ApprovalsCommand(a *app.App) *cobra.Command {
	return app.Group("approvals", "Tool calls that wait for a human's yes or no", approvalsListCommand(a), allowCommand(a), denyCommand(a))
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
	Offer     string       `json:"offer,omitempty"`          // the rule that --scope session, project and user grant
	Pattern   string       `json:"pattern,omitempty"`        // the wider one that --pattern has them grant
	Allows    string       `json:"pattern_allows,omitempty"` // what that allows besides, in words
	Again     bool         `json:"decided_again,omitempty"`  // a rule granted since may allow it: that is decided when it goes on
}

func viewOfWait(w pending.Wait) approvalView {
	p := w.Call.Approval
	pattern, allows := pending.Wider(w)
	return approvalView{
		ID: w.ID, Kind: pending.Approval, SessionID: w.Session, Tool: w.Call.Tool, Input: homes.JSONValue(pending.Effective(w.Call.Input)), Cwd: p.Cwd, Digest: p.Bound,
		Rule: p.Rule, Asked: view.Stamp(p.Asked), Reason: p.Reason, Offer: p.Offer, Pattern: pattern, Allows: allows,
		Target: p.Target, Always: p.Always, Again: w.Again,
	}
}

func approvalsListCommand(a *app.App) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list [ID]", Short: "List what waits, in a session or in all", Args: app.RangeArgs(0, 1, "at most one session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error {
				approvals, err := waitsFor(ctx, a, h, args, pending.Approval)
				if err != nil {
					return err
				}
				questions, err := waitsFor(ctx, a, h, args, pending.Question)
				if err != nil {
					return err
				}
				return printWaits(a, append(approvals, questions...), asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return c
}

// printWaits lists approvals and questions.
func printWaits(a *app.App, waits []pending.Wait, asJSON bool) error {
	if len(waits) == 0 && !asJSON {
		a.Note("nothing waits for a human")
	}
	for _, w := range waits {
		var err error
		switch q := w.Call.Question; {
		case asJSON && q != nil:
			err = a.JSON(questionView{ID: w.ID, Kind: pending.Question, SessionID: w.Session, Cwd: w.Cwd, Question: *q})
		case asJSON:
			err = a.JSON(viewOfWait(w))
		case q != nil:
			printQuestion(a, w.ID, *q)
		default:
			printApproval(a, w)
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
func printQuestion(a *app.App, id string, q session.Question) {
	a.Linef("%s  asks: %s", id, display.Shown(q.Question, 2000))
	for i, o := range q.Options {
		a.Linef("  %d. %s", i+1, display.Shown(o, 200))
	}
	a.Linef("  perdure answer %s %s", id, map[bool]string{true: "NUMBER   (or a text of yours)", false: "TEXT"}[len(q.Options) > 0])
}

func waitsFor(ctx context.Context, a *app.App, h *homes.Home, args []string, kind string) ([]pending.Wait, error) {
	if len(args) == 0 {
		return pending.All(ctx, a, h, kind)
	}
	id, err := a.Resolve(ctx, h, args[0])
	if err != nil {
		return nil, err
	}
	st, err := h.State(ctx, id)
	if err != nil {
		return nil, err
	}
	return pending.Of(st, kind), nil
}

// printApproval shows a call with all that its judge has to know.
func printApproval(a *app.App, w pending.Wait) {
	v := viewOfWait(w)
	a.Linef("%s  %s  asked %s", v.ID, display.Shown(v.Tool, display.MaxCell), a.Ago(int64(v.Asked)))
	for _, l := range pending.Lines(w, pending.LinesInList) {
		a.Linef("  %s", l)
	}
	if w.Again {
		a.Linef("  %s", pending.DecidedAgain)
	}
	a.Linef("  digest %s", v.Digest)
	a.Linef("  perdure approvals allow %s   (or deny)", v.ID)
	if v.Offer != "" {
		a.Linef("  --scope session would also allow, for the session's life: %s", offered(w))
	}
	if v.Pattern != "" {
		a.Linef("  --scope pattern would also allow, for the session's life: %s: %s", display.Shown(v.Pattern, 500), display.Shown(v.Allows, 500))
	}
	if v.Offer != "" {
		a.Linef("  --scope project, or user, remembers it for later sessions; --pattern the wider one")
	}
}

// offered words the exact rule of an approval. A command has just been shown, with its lines.
func offered(w pending.Wait) string {
	if w.Call.Tool == "Bash" {
		return "this command again, exactly as it is"
	}
	return display.Shown(w.Call.Approval.Offer, 500)
}
