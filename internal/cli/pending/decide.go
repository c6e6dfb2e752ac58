package pending

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	safe "github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/store"
)

// Scope says how long an allow holds.
type Scope string

// The scopes. Those after Once give a rule: for the session's life where it works now; for the sessions of its project;
// for every session.
const (
	Once    Scope = "once"
	Session Scope = "session"
	Project Scope = "project"
	User    Scope = "user"
)

// Answer is a person's answer to a call that waits.
type Answer struct {
	Allow   bool
	Scope   Scope  // of an allow
	Wider   bool   // its rule is the wider one, not the exact one
	Message string // for the model
}

// Decided is the error about a call that somebody answered before.
type Decided struct {
	ID    string
	Bound store.Digest
	Allow bool
	By    string
}

func (d *Decided) Error() string {
	return fmt.Sprintf("%s was %s already, by %s", d.ID, d.Word(), d.By)
}

// Word is the answer that was given.
func (d *Decided) Word() string { return verdict(d.Allow) }

func verdict(allow bool) string {
	if allow {
		return "allowed"
	}
	return "denied"
}

// Rule is the rule that an answer gives besides; empty: none. Errors say why its scope cannot be had.
func Rule(w Wait, a Answer) (rule string, err error) {
	switch {
	case !a.Allow || a.Scope == Once || a.Scope == "":
		return "", nil
	case a.Scope == Project && (w.Root == "" || !Within(w.Call.Approval.Cwd, w.Root)):
		return "", app.UsageError("%s runs outside of its project: no rule of the project would hold there", w.ID)
	case a.Wider:
		if rule, _ = Wider(w); rule == "" {
			return "", app.UsageError("no pattern covers %s: allow it with --scope session or once", w.ID)
		}
		return rule, nil
	}
	if rule = w.Call.Approval.Offer; rule == "" {
		return "", app.UsageError("no rule covers %s alone: it can only be allowed --scope once", w.ID)
	}
	return rule, nil
}

// Within reports whether a directory is another one or lies below it.
func Within(dir, top string) bool {
	return dir == top || strings.HasPrefix(dir, strings.TrimSuffix(top, "/")+"/")
}

// Decide answers a call that waits, and has the rule remembered that the answer's scope wants. What is allowed is the call
// as it was shown, whatever becomes of the rule. It returns that rule. Errors: *Decided where somebody has answered
// before, also with the same answer; engine.ErrRefused where the call is another one by now.
//
// The rule is kept before the answer is: a crash between the two leaves a call that waits, and the same answer given again
// is the same. Where the answer does not count, a rule that it brought is taken back.
func Decide(ctx context.Context, a *app.App, h *homes.Home, w Wait, ans Answer) (rule string, err error) {
	if rule, err = Rule(w, ans); err != nil {
		return "", err
	}
	if rule != "" && h.Hides([]byte(rule)) {
		return "", fmt.Errorf("%s: %w", w.ID, homes.ErrSecret)
	}
	takeBack, err := remember(ctx, a, w, ans, rule)
	if err != nil {
		return "", err
	}
	p := w.Call.Approval
	err = a.Within(ctx, h, w.Session, app.Patience, func(ctx context.Context) error {
		return h.Deliver(ctx, w.Session, "", &session.ApprovalAnswered{
			Act: w.Call.ID, Allow: ans.Allow, Bound: p.Bound, Pre: p.Pre, Grant: rule, Message: ans.Message,
		})
	})
	if err == nil {
		return rule, nil
	}
	if errors.Is(err, engine.ErrRefused) {
		if d := Became(ctx, h, w.ID, p.Bound); d != nil {
			err = d
		}
	}
	if kept := takeBack(context.WithoutCancel(ctx)); kept != nil {
		err = errors.Join(err, fmt.Errorf("the rule %s is remembered all the same: %w", safe.Shown(rule, 200), kept))
	}
	return "", err
}

// remember keeps a rule beyond the session. takeBack forgets it, if it was not kept before.
func remember(ctx context.Context, a *app.App, w Wait, ans Answer, rule string) (takeBack func(context.Context) error, err error) {
	nothing := func(context.Context) error { return nil }
	if rule == "" || ans.Scope != Project && ans.Scope != User {
		return nothing, nil
	}
	r := settings.Remembered{Rule: rule, By: a.Getenv("USER"), At: a.Now()}
	if ans.Scope == Project {
		r.Project = w.Root
	}
	file := settings.AllowedFile(settings.UserFile(a.Getenv))
	added, err := settings.Remember(ctx, file, r)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s is not answered, since its rule cannot be remembered (once and for the session need no file): %w", w.ID, err)
	case !added:
		return nothing, nil
	}
	return func(ctx context.Context) error {
		_, err := settings.Forget(ctx, file, func(o settings.Remembered) bool { return o.Rule == r.Rule && o.Project == r.Project })
		return err
	}, nil
}

// Became tells how a call was answered that does not wait any more, by its id (session:act); nil: nobody knows. A digest
// that is not zero must be that of what was answered.
func Became(ctx context.Context, h *homes.Home, id string, bound store.Digest) *Decided {
	i := strings.LastIndexByte(id, ':')
	if i < 0 || !IsAct(id[i+1:]) {
		return nil
	}
	var found *Decided
	fits := func(digest store.Digest) bool { return bound.IsZero() || digest == bound }
	st, err := h.State(ctx, id[:i])
	if err != nil {
		return nil //nolint:nilerr // then nobody knows
	}
	if c := st.Call(id[i+1:]); c != nil && c.Approval != nil {
		if p := c.Approval; p.Answered && fits(p.Bound) {
			found = &Decided{ID: id, Bound: p.Bound, Allow: p.Allow, By: by(p.By)}
		}
		return found
	}
	answered(ctx, h, st, id[i+1:], func(e store.Event, body session.Body) {
		if b, ok := body.(*session.ApprovalAnswered); ok && fits(b.Bound) {
			found = &Decided{ID: id, Bound: b.Bound, Allow: b.Allow, By: by(e.Actor)}
		}
	})
	return found
}

// BecameOf tells how a question was answered that does not wait any more, and by whom; empty: nobody knows.
func BecameOf(ctx context.Context, h *homes.Home, id string) (text, who string) {
	i := strings.LastIndexByte(id, ':')
	if i < 0 || !IsAct(id[i+1:]) {
		return "", ""
	}
	st, err := h.State(ctx, id[:i])
	if err != nil {
		return "", ""
	}
	answered(ctx, h, st, id[i+1:], func(e store.Event, body session.Body) {
		if b, ok := body.(*session.QuestionAnswered); ok {
			text, who = b.Text, by(e.Actor)
		}
	})
	return text, who
}

// maxAnswered is how far back in a log an answer is looked for, in events.
const maxAnswered = 2000

// answered finds the newest answers to an act.
func answered(ctx context.Context, h *homes.Home, st *session.State, act string, see func(store.Event, session.Body)) {
	for e, err := range h.Events(ctx, st.ID, max(st.Head.Seq-maxAnswered, 1), 0) {
		if err != nil {
			return
		}
		if e.Kind != session.KindApprovalAnswered && e.Kind != session.KindQuestionAnswered {
			continue
		}
		body, err := session.Decode(e)
		if err != nil {
			continue
		}
		var of string
		switch b := body.(type) {
		case *session.ApprovalAnswered:
			of = b.Act
		case *session.QuestionAnswered:
			of = b.Act
		default:
		}
		if session.BaseOf(of) == session.BaseOf(act) {
			see(e, body)
		}
	}
}

func by(a store.Actor) string { return safe.Shown(cmp.Or(a.ID, string(a.Type)), 100) }
