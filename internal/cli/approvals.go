package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/engine"
	"github.com/perdure/perdure/session"
)

func (a *App) approvalsCommand() *cobra.Command {
	return group("approvals", "Tool calls that wait for a human's yes or no", a.approvalsListCommand(), a.allowCommand(), a.denyCommand())
}

// approvalView is a line of approvals list --json.
type approvalView struct {
	ID        string         `json:"id"`
	SessionID string         `json:"session_id"`
	Tool      string         `json:"tool"`
	Input     any            `json:"input"`
	Cwd       string         `json:"cwd"`
	Target    string         `json:"target,omitempty"` // the path that the call works on, behind all links
	Always    bool           `json:"always,omitempty"` // it asks in every mode and whatever is granted
	Digest    session.Digest `json:"digest"`           // of what is shown; an answer is bound to it
	Rule      string         `json:"rule"`             // that asks; empty: no rule allows the call
	Asked     perdure.Stamp  `json:"asked_at"`
	Reason    string         `json:"reason,omitempty"`
	Offer     string         `json:"offer,omitempty"` // the rule that --scope session grants
}

func viewOfWait(w wait) approvalView {
	p := w.call.Approval
	return approvalView{
		ID: w.id, SessionID: w.session, Tool: w.call.Tool, Input: perdure.JSONValue(w.call.Input), Cwd: p.Cwd, Digest: p.Bound,
		Rule: p.Rule, Asked: perdure.Stamp(p.Asked), Reason: p.Reason, Offer: p.Offer,
		Target: p.Target, Always: p.Always,
	}
}

func (a *App) approvalsListCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list [ID]", Short: "List what waits, in a session or in all", Args: rangeArgs(0, 1, "at most one session"),
		ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.verb(cmd, func(ctx context.Context, h *perdure.Home) error {
				waits, err := a.waitsFor(ctx, h, args)
				if err != nil {
					return err
				}
				if len(waits) == 0 && !asJSON {
					a.note("no approval waits")
				}
				for _, w := range waits {
					if err := a.printApproval(viewOfWait(w), asJSON); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return c
}

func (a *App) waitsFor(ctx context.Context, h *perdure.Home, args []string) ([]wait, error) {
	if len(args) == 0 {
		return a.allWaits(ctx, h, kindApproval)
	}
	id, err := resolve(ctx, h, args[0])
	if err != nil {
		return nil, err
	}
	st, err := h.State(ctx, id)
	if err != nil {
		return nil, err
	}
	return waitsOf(st, kindApproval), nil
}

// printApproval shows the whole input: who answers has to see what is answered.
func (a *App) printApproval(v approvalView, asJSON bool) error {
	if asJSON {
		return a.json(v)
	}
	a.linef("%s  %s  asked %s", v.ID, oneline(v.Tool, maxCell), a.ago(int64(v.Asked)))
	a.linef("  in %s", oneline(v.Cwd, 500))
	if v.Target != "" {
		a.linef("  works on %s", oneline(v.Target, 4096))
	}
	if v.Reason != "" {
		a.linef("  because %s", oneline(v.Reason, 500))
	}
	if v.Offer != "" {
		a.linef("  --scope session would allow %s", oneline(v.Offer, 500))
	}
	a.indented(inputText(v.Input))
	return nil
}

func (a *App) allowCommand() *cobra.Command {
	var scope, message, digest string
	c := &cobra.Command{
		Use: "allow ID", Short: "Allow the call that waits, exactly as it was shown", Args: exactArgs(1, "an approval, or a session in which one waits"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if scope != "once" && scope != "session" {
				return usageError("scope %q: want once or session", scope)
			}
			return a.decide(cmd, args[0], true, digest, func(ctx context.Context, h *perdure.Home, w wait) error {
				grant := ""
				if scope == "session" {
					if grant = w.call.Approval.Offer; grant == "" {
						return usageError("no rule covers this call alone: it can only be allowed --scope once")
					}
				}
				return h.Approve(ctx, w.session, w.call.ID, true, w.call.Approval.Bound, grant, message)
			})
		},
	}
	c.Flags().StringVar(&scope, "scope", "once", "once: this call alone; session: calls like it, for the session's life")
	c.Flags().StringVar(&message, "message", "", "`TEXT` for the model")
	c.Flags().StringVar(&digest, "digest", "", "only if the call still has the `DIGEST` that approvals list showed")
	return c
}

func (a *App) denyCommand() *cobra.Command {
	var message, digest string
	c := &cobra.Command{
		Use: "deny ID", Short: "Deny the call that waits", Args: exactArgs(1, "an approval, or a session in which one waits"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.decide(cmd, args[0], false, digest, func(ctx context.Context, h *perdure.Home, w wait) error {
				return h.Approve(ctx, w.session, w.call.ID, false, w.call.Approval.Bound, "", message)
			})
		},
	}
	c.Flags().StringVar(&message, "message", "", "`TEXT` for the model, such as what to do instead")
	c.Flags().StringVar(&digest, "digest", "", "only if the call still has the `DIGEST` that approvals list showed")
	return c
}

// decide answers one approval. Giving the same answer again succeeds: whoever was killed before the first one was
// acknowledged may repeat it.
func (a *App) decide(cmd *cobra.Command, ref string, allow bool, digest string, answer func(context.Context, *perdure.Home, wait) error) error {
	return a.verb(cmd, func(ctx context.Context, h *perdure.Home) error {
		w, err := a.findWait(ctx, h, ref, kindApproval)
		if err != nil {
			return a.decided(ctx, h, ref, allow, digest, err)
		}
		if digest != "" && digest != w.call.Approval.Bound.String() {
			return &exitError{
				code: exitFailed, text: fmt.Sprintf("%s is no longer the call with that digest", w.id), hint: "perdure approvals list " + w.session + " shows it",
			}
		}
		err = a.within(ctx, h, w.session, patience, func(ctx context.Context) error { return answer(ctx, h, w) })
		if errors.Is(err, engine.ErrRefused) {
			return a.decided(ctx, h, w.id, allow, digest, err)
		}
		if err != nil {
			return err
		}
		a.note("%s answered: %s %s", w.id, oneline(w.call.Tool, maxCell), oneline(inputText(perdure.JSONValue(w.call.Input)), 200))
		a.goOn(ctx, h, w.session)
		return nil
	})
}

// goOn says how to run a session whose wait is over, unless somebody does.
func (a *App) goOn(ctx context.Context, h *perdure.Home, id string) {
	if info, err := h.Store().Get(ctx, id); err == nil && info.Holder == nil {
		a.hint("perdure -p --resume %s goes on", id)
	}
}

// decided tells whether the act under ref was answered before; else err stands.
func (a *App) decided(ctx context.Context, h *perdure.Home, ref string, allow bool, digest string, err error) error {
	i := strings.LastIndexByte(ref, ':')
	if i < 0 || !isAct(ref[i+1:]) {
		return err
	}
	st, stateErr := h.State(ctx, ref[:i])
	if stateErr != nil {
		return err
	}
	c := st.Call(ref[i+1:])
	if c == nil || c.Approval == nil || !c.Approval.Answered || digest != "" && digest != c.Approval.Bound.String() {
		return err
	}
	word := map[bool]string{true: "allowed", false: "denied"}
	if c.Approval.Allow != allow {
		return &exitError{code: exitFailed, text: fmt.Sprintf("%s was %s already, by %s", ref, word[!allow], oneline(c.Approval.By.ID, 100))}
	}
	a.note("%s was %s already", ref, word[allow])
	a.goOn(ctx, h, st.ID)
	return nil
}
