package asking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/pending"
	"github.com/perdure/perdure/internal/cli/run"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
)

// approveFlags are what approvals allow and deny take.
type approveFlags struct {
	allow   bool
	scope   string
	message string
	digest  string
	all     string
	resume  bool
}

func allowCommand(a *app.App) *cobra.Command {
	f := &approveFlags{allow: true}
	c := &cobra.Command{
		Use: "allow ID...", Short: "Allow calls that wait, exactly as they were shown", Args: cobra.ArbitraryArgs,
		Long: `Allows calls that wait, exactly as they were shown. An ID is one of approvals list, or a session in which one call
waits. The session goes on when it is resumed: by --resume at once, on this terminal.`,
		Example: `  perdure approvals allow build --resume
  perdure approvals allow --all build
  perdure approvals allow build:t1.s2.b1.a1 --scope pattern`,
		RunE: func(cmd *cobra.Command, args []string) error { return decide(a, cmd, f, args) },
	}
	f.register(c)
	c.Flags().StringVar(&f.scope, "scope", "once", "`SCOPE`: once, this call alone; session, it and its like; pattern, all that the wider rule of approvals list covers")
	c.Flags().StringVar(&f.message, "message", "", "`TEXT` for the model")
	return c
}

func denyCommand(a *app.App) *cobra.Command {
	f := &approveFlags{scope: "once"}
	c := &cobra.Command{
		Use: "deny ID...", Short: "Deny calls that wait", Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return decide(a, cmd, f, args) },
	}
	f.register(c)
	c.Flags().StringVar(&f.message, "message", "", "`TEXT` for the model, such as what to do instead")
	return c
}

func (f *approveFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.all, "all", "", "every call that waits in `SESSION`")
	c.Flags().BoolVar(&f.resume, "resume", false, "go on with the session at once, as perdure -p --resume does")
	c.Flags().StringVar(&f.digest, "digest", "", "only if the call still has the `DIGEST` that approvals list shows")
}

func (f *approveFlags) check(args []string) error {
	switch {
	case f.scope != "once" && f.scope != "session" && f.scope != "pattern":
		return app.UsageError("scope %q: want once, session or pattern", f.scope)
	case len(args) == 0 && f.all == "":
		return app.UsageError("want an approval, or a session in which one waits, or --all SESSION")
	case len(args) > 0 && f.all != "":
		return app.UsageError("give approvals, or --all SESSION, not both")
	case f.digest != "" && len(args) != 1:
		return app.UsageError("--digest goes with one approval")
	}
	return nil
}

// decide answers approvals, and goes on with their session if that is asked for.
func decide(a *app.App, cmd *cobra.Command, f *approveFlags, args []string) error {
	if err := f.check(args); err != nil {
		return err
	}
	var sessions []string
	err := a.Verb(cmd, func(ctx context.Context, h *homes.Home) (err error) {
		sessions, err = decideAll(ctx, a, h, f, args)
		if err != nil || f.resume {
			return err
		}
		for _, id := range sessions {
			run.GoOn(ctx, a, h, id)
		}
		return nil
	})
	if err != nil || !f.resume {
		return err
	}
	for _, id := range sessions {
		if err := run.ResumeHere(cmd.Context(), a, id); err != nil {
			return err
		}
	}
	return nil
}

// decideAll answers each approval and gives the sessions that they belong to, each once.
func decideAll(ctx context.Context, a *app.App, h *homes.Home, f *approveFlags, args []string) (sessions []string, err error) {
	waits, known, err := named(ctx, a, h, f, args)
	if err != nil {
		return nil, err
	}
	for _, id := range known {
		sessions = addOnce(sessions, id)
	}
	for _, w := range waits {
		if err := decideOne(ctx, a, h, f, w); err != nil {
			return sessions, err
		}
		sessions = addOnce(sessions, w.Session)
	}
	return sessions, nil
}

func addOnce(list []string, id string) []string {
	for _, s := range list {
		if s == id {
			return list
		}
	}
	return append(list, id)
}

// named finds all approvals that are named before any is answered, so that a wrong name answers none. Those that have
// this answer already are only told; their sessions are given apart.
func named(ctx context.Context, a *app.App, h *homes.Home, f *approveFlags, args []string) (waits []pending.Wait, known []string, err error) {
	if f.all != "" {
		id, err := a.Resolve(ctx, h, f.all)
		if err != nil {
			return nil, nil, err
		}
		st, err := h.State(ctx, id)
		if waits = nil; err == nil {
			if waits = pending.Of(st, pending.Approval); len(waits) == 0 {
				err = pending.None(st, f.all, pending.Approval)
			}
		}
		return waits, nil, err
	}
	seen := map[string]bool{}
	for _, ref := range args {
		w, err := pending.Find(ctx, a, h, ref, pending.Approval)
		if err != nil {
			id, err := decided(ctx, a, h, ref, f, err)
			if err != nil {
				return nil, nil, err
			}
			known = append(known, id)
			continue
		}
		if f.digest != "" && f.digest != w.Call.Approval.Bound.String() {
			return nil, nil, &app.ExitError{
				Code: app.ExitFailed, Text: fmt.Sprintf("%s is no longer the call with that digest", w.ID), Hint: "perdure approvals list " + w.Session + " shows it",
			}
		}
		if !seen[w.ID] {
			seen[w.ID] = true
			waits = append(waits, w)
		}
	}
	return waits, known, nil
}

// decideOne answers one approval. Giving the same answer again succeeds: a process that was killed before the first one
// was acknowledged may repeat it.
func decideOne(ctx context.Context, a *app.App, h *homes.Home, f *approveFlags, w pending.Wait) error {
	grant, err := f.grant(w)
	if err != nil {
		return err
	}
	err = a.Within(ctx, h, w.Session, app.Patience, func(ctx context.Context) error {
		return h.Approve(ctx, w.Waiting(), homes.Approval{Allow: f.allow, Grant: grant, Message: f.message})
	})
	if errors.Is(err, engine.ErrRefused) {
		_, err = decided(ctx, a, h, w.ID, f, err)
		return err
	}
	if err != nil {
		return err
	}
	a.Note("%s: %s %s", map[bool]string{true: "allowed", false: "denied"}[f.allow], w.ID, pending.Line(w))
	if grant != "" {
		a.Hint("and for the session's life: %s", display.Shown(grant, 500))
	}
	return nil
}

// grant is the rule that the scope gives besides.
func (f *approveFlags) grant(w pending.Wait) (rule string, err error) {
	switch {
	case !f.allow || f.scope == "once":
		return "", nil
	case f.scope == "pattern":
		if rule, _ = pending.Wider(w); rule == "" {
			return "", app.UsageError("no pattern covers %s: allow it with --scope session or once", w.ID)
		}
		return rule, nil
	}
	if rule = w.Call.Approval.Offer; rule == "" {
		return "", app.UsageError("no rule covers %s alone: it can only be allowed --scope once", w.ID)
	}
	return rule, nil
}

// decided tells that the act under ref was answered so before, and gives its session; else err stands.
func decided(ctx context.Context, a *app.App, h *homes.Home, ref string, f *approveFlags, err error) (id string, _ error) {
	i := strings.LastIndexByte(ref, ':')
	if i < 0 || !pending.IsAct(ref[i+1:]) {
		return "", err
	}
	st, stateErr := h.State(ctx, ref[:i])
	if stateErr != nil {
		return "", err
	}
	c := st.Call(ref[i+1:])
	if c == nil || c.Approval == nil || !c.Approval.Answered || f.digest != "" && f.digest != c.Approval.Bound.String() {
		return "", err
	}
	word := map[bool]string{true: "allowed", false: "denied"}
	if c.Approval.Allow != f.allow {
		return "", &app.ExitError{Code: app.ExitFailed, Text: fmt.Sprintf("%s was %s already, by %s", ref, word[!f.allow], display.Shown(cmp.Or(c.Approval.By.ID, string(c.Approval.By.Type)), 100))}
	}
	a.Note("%s was %s already", ref, word[f.allow])
	return st.ID, nil
}
