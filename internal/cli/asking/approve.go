package asking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/pending"
	"github.com/perdure/perdure/internal/cli/run"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/store"
)

// approveFlags are what approvals allow and deny take.
type approveFlags struct {
	allow   bool
	scope   string
	message string
	digest  string
	pattern bool
	all     string
	resume  bool
}

func allowCommand(a *app.App) *cobra.Command {
	f := &approveFlags{allow: true}
	c := &cobra.Command{
		Use: "allow ID...", Short: "Allow calls that wait, exactly as they were shown", Args: cobra.ArbitraryArgs,
		Long: `Allows calls that wait, exactly as they were shown. An ID is one of approvals list, or a session in which one call
waits. The session goes on when it is resumed: by --resume at once, on this terminal. With --scope project or user the
rule is remembered for later sessions too; deny and ask rules win over it, and perdure permissions shows it.`,
		Example: `  perdure approvals allow build --resume
  perdure approvals allow --all build
  perdure approvals allow build:t1.s2.b1.a1 --scope pattern
  perdure approvals allow build --scope project --pattern`,
		RunE: func(cmd *cobra.Command, args []string) error { return decide(a, cmd, f, args) },
	}
	f.register(c)
	c.Flags().StringVar(&f.scope, "scope", "once", "`SCOPE`: once, this call alone; session, it again; project, in every session of its project; user, in every session; pattern, all that the wider rule covers, for the session")
	c.Flags().BoolVar(&f.pattern, "pattern", false, "with --scope session, project or user: allow all that the wider rule of approvals list covers")
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
	case !slices.Contains([]string{"once", "session", "pattern", "project", "user"}, f.scope):
		return app.UsageError("scope %q: want once, session, project, user or pattern", f.scope)
	case f.pattern && f.scope == "once":
		return app.UsageError("--pattern says which rule is allowed: it goes with --scope session, project or user")
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
			before := pending.Became(ctx, h, ref, store.Digest{})
			if before == nil || f.digest != "" && f.digest != before.Bound.String() {
				return nil, nil, err
			}
			id, err := decided(a, f, before)
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
	scope, wider := f.scoped()
	rule, err := pending.Decide(ctx, a, h, w, pending.Answer{Allow: f.allow, Scope: scope, Wider: wider, Message: f.message})
	var before *pending.Decided
	if errors.As(err, &before) {
		_, err = decided(a, f, before)
		return err
	}
	if err != nil {
		return err
	}
	a.Note("%s: %s %s", map[bool]string{true: "allowed", false: "denied"}[f.allow], w.ID, pending.Line(w))
	tellRule(a, w, scope, rule)
	return nil
}

// tellRule says what is allowed besides, and for how long.
func tellRule(a *app.App, w pending.Wait, scope pending.Scope, rule string) {
	if rule == "" {
		return
	}
	where := map[pending.Scope]string{
		pending.Session: "for the session's life", pending.Project: "for every session in " + display.Shown(w.Root, 500), pending.User: "for every session",
	}[scope]
	a.Hint("and %s: %s", where, display.Shown(rule, 500))
	if scope == pending.Project || scope == pending.User {
		a.Hint("perdure permissions list shows it, perdure permissions forget takes it back")
	}
}

// scoped is the scope of an allow, and whether its rule is the wider one.
func (f *approveFlags) scoped() (scope pending.Scope, wider bool) {
	if f.scope == "pattern" {
		return pending.Session, true
	}
	return pending.Scope(f.scope), f.pattern
}

// decided tells that an act was answered so before, and gives its session; another answer is an error.
func decided(a *app.App, f *approveFlags, d *pending.Decided) (id string, err error) {
	if d.Allow != f.allow {
		return "", &app.ExitError{Code: app.ExitFailed, Text: d.Error()}
	}
	a.Note("%s was %s already", d.ID, d.Word())
	return d.ID[:strings.LastIndexByte(d.ID, ':')], nil
}
