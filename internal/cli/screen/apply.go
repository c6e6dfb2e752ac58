package screen

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	filesroom "github.com/perdure/perdure/internal/cli/files"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/chat"
	"github.com/perdure/perdure/internal/ui/rewind"
	"github.com/perdure/perdure/store"
)

// applying brings a session's changes to files to where perdure apply brings them, or takes that back.
type applying struct {
	going // of the session on the screen
	from  string
	undo  bool

	planning sync.Mutex
	do       func(force bool) job // what the plan does that was shown last
}

// job does what a plan has said, and gives words about it.
type job func(ctx context.Context) (said string, err error)

// undoWord has the last apply taken back.
const undoWord = "--undo"

// applyPage opens at /apply [SESSION] and /apply --undo [SESSION].
func (l *link) applyPage(args string) chat.Page {
	if l.session() == "" {
		return nil
	}
	p := l.applying(args)
	cfg := l.goingBack(&p.going)
	cfg.Source = p
	return rewind.NewFiles(cfg, "apply")
}

func (l *link) applying(args string) *applying {
	p := &applying{going: going{l: l, id: l.session(), name: "apply"}}
	var name []string
	for _, word := range strings.Fields(args) {
		if word == undoWord {
			p.undo = true
			continue
		}
		name = append(name, word)
	}
	p.from = strings.Join(name, " ")
	return p
}

// aimed is an apply that knows where it goes.
type aimed struct {
	branch  homes.Branch
	to, dir string // the session whose files they are, empty: none; and its directory
	where   string // in words
}

// aim finds whose changes go where. Of a session that works where others do there are none that would have to be brought.
func (p *applying) aim(ctx context.Context) (g aimed, err error) {
	from := p.id
	if p.from != "" {
		if from, err = p.l.app.Resolve(ctx, p.l.home, strings.Trim(p.from, `"'`)); err != nil {
			return g, err
		}
	}
	switch g.branch, err = p.l.home.BranchOf(ctx, from); {
	case errors.Is(err, homes.ErrNotOwn) && p.undo: // what was applied to its files
		g.to, g.branch = from, homes.Branch{}
		st, err := p.l.home.State(ctx, from)
		if err != nil {
			return g, err
		}
		if g.dir = st.Config.Root; g.dir == "" {
			g.dir = st.Cwd
		}
	case errors.Is(err, homes.ErrNotOwn):
		return g, fmt.Errorf("%w: what it changed is where it works already%s", err, p.forks(ctx, from))
	case err != nil:
		return g, err
	default:
		if g.to, g.dir, err = filesroom.Aim(ctx, p.l.app, p.l.home, &g.branch); err != nil {
			return g, err
		}
	}
	g.where = plain.Line(p.l.app.Tilde(g.dir), 300)
	if g.to != "" {
		g.where = "session " + p.called(ctx, g.to) + ", " + g.where
	}
	return g, nil
}

// called is what a person calls a session.
func (p *applying) called(ctx context.Context, id string) string {
	return app.Called(ctx, p.l.home, id)
}

// maxForks bounds the forks that are named.
const maxForks = 5

// forks says which sessions could be applied instead.
func (p *applying) forks(ctx context.Context, id string) string {
	all, err := p.l.home.ForksOf(ctx, id, maxForks)
	if err != nil || len(all) == 0 {
		return ""
	}
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = p.called(ctx, s.ID)
	}
	return "; /apply NAME brings the changes of one of its forks: " + strings.Join(names, ", ")
}

// Plan says what would become of the files.
func (p *applying) Plan(ctx context.Context, _ string, force bool) (rewind.Plan, error) {
	g, err := p.aim(ctx)
	if err != nil {
		return rewind.Plan{}, err
	}
	if g.to == p.id {
		if err := p.rests(ctx); err != nil {
			return rewind.Plan{}, err
		}
	}
	if g.to == "" {
		if was, err := p.l.home.OpenApply(ctx, g.dir); err != nil || was != nil {
			return p.settles(&g, was), err
		}
	}
	switch {
	case !p.undo:
		return p.brings(ctx, &g, force)
	case g.to != "":
		return p.undoes(ctx, &g)
	}
	return p.takesBack(ctx, &g)
}

// will notes what the plan that is shown does.
func (p *applying) will(do func(force bool) job) {
	p.planning.Lock()
	p.do = do
	p.planning.Unlock()
}

// brings plans an apply.
func (p *applying) brings(ctx context.Context, g *aimed, force bool) (rewind.Plan, error) {
	b, err := p.l.home.Branch(ctx, g.branch.Session)
	if err != nil {
		return rewind.Plan{}, err
	}
	defer b.Release()
	plan, err := p.l.home.PlanApply(ctx, &b, g.to, g.dir, force)
	if err != nil {
		return rewind.Plan{}, err
	}
	plan.Release()
	filesroom.BothSides(plan)
	p.will(func(force bool) job { return p.apply(g, b.Now.Tree, force) })
	out := planned(plan, "")
	out.As = rewind.Words{
		Title:   fmt.Sprintf("the changes of session %s, to %s", p.called(ctx, b.Session), g.where),
		Counts:  plan.String(),
		Nothing: "all of them are there already", Forced: "the fork's version also where both have changed a file", Doing: "Applying",
	}
	return out, nil
}

// apply does it, if the branch is what it was when the plan was shown.
func (p *applying) apply(g *aimed, shown store.Digest, force bool) job {
	return func(ctx context.Context) (string, error) {
		h := p.l.home
		b, err := h.Branch(ctx, g.branch.Session)
		if err != nil {
			return "", err
		}
		defer b.Release()
		if b.Now.Tree != shown {
			return "", errors.New("its files were changed since the plan was shown: look again")
		}
		var done session.FilesRestored
		if g.to != "" {
			done, err = h.ApplyTo(ctx, &b, g.to, force)
		} else {
			got, applyErr := h.ApplyToDir(ctx, &b, g.dir, force)
			done.RestoreCounts, done.Kept, err = got.RestoreCounts, got.Kept, applyErr
		}
		if err != nil {
			return "", err
		}
		back := "/apply " + undoWord
		switch {
		case g.to == p.id:
			back = "/undo"
		case b.Session != p.id:
			back += " " + p.called(ctx, b.Session)
		}
		said := fmt.Sprintf("applied: %s, to %s; %s takes this back%s", done.RestoreCounts, g.where, back, stays(done.Kept))
		for _, c := range h.CommitsOf(ctx, b.Session) {
			said += fmt.Sprintf("\nof its %s the files are there; git branch NAME %.12s, in %s, keeps what it committed", display.Count(int64(c.N), "commit"), c.Newest, plain.Line(p.l.app.Tilde(c.Repo), 300))
		}
		return said, nil
	}
}

// stays names what was left as it is.
func stays(kept []string) string {
	var b strings.Builder
	for i, path := range kept {
		if i == maxStays {
			fmt.Fprintf(&b, "\n= and %d more", len(kept)-i)
			break
		}
		b.WriteString("\n= " + plain.Line(path, 300) + " stays as it is")
	}
	return b.String()
}

// undoes plans to undo the apply to a session's files.
func (p *applying) undoes(ctx context.Context, g *aimed) (rewind.Plan, error) {
	last, err := filesroom.LastApplied(ctx, p.l.home, g.to, "", g.branch.Session)
	if err != nil {
		return rewind.Plan{}, p.notLast(ctx, g, err)
	}
	to := last.Point
	plan, err := p.l.home.PlanRestore(ctx, g.to, to, nil, false)
	if err != nil {
		return rewind.Plan{}, err
	}
	plan.Release()
	p.will(func(bool) job {
		return func(ctx context.Context) (string, error) {
			done, err := p.l.home.RestoreFiles(ctx, g.to, session.RestoreRequested{Target: to.Tree, To: to.To, Undo: to.Undo})
			return fmt.Sprintf("taken back: %s, in %s%s", done.RestoreCounts, g.where, stays(done.Kept)), err
		}
	})
	out := planned(plan, to.To)
	out.As = rewind.Words{Title: p.before(ctx, g, to.Applied), Counts: plan.String(), Settled: true}
	return out, nil
}

// before is what taking the changes of a session back does, in words.
func (p *applying) before(ctx context.Context, g *aimed, id string) string {
	return fmt.Sprintf("%s, to before the changes of session %s were applied", g.where, p.called(ctx, id))
}

// notLast words the error that nothing was applied last that can be taken back, or other changes.
func (p *applying) notLast(ctx context.Context, g *aimed, err error) error {
	if none, ok := errors.AsType[*filesroom.NoApplyError](err); ok {
		return fmt.Errorf("what changed the files of session %s last is no apply: undo goes to %s", p.called(ctx, g.to), none.To)
	}
	if other, ok := errors.AsType[*filesroom.OtherApplyError](err); ok {
		name := p.called(ctx, other.Session)
		return fmt.Errorf("what was applied to %s last are the changes of session %s: /apply %s %s takes them back", g.where, name, undoWord, name)
	}
	if errors.Is(err, homes.ErrNotApplied) {
		return fmt.Errorf("nothing was applied to %s that can be taken back", g.where)
	}
	return err
}

// takesBack plans to take an apply to a directory back.
func (p *applying) takesBack(ctx context.Context, g *aimed) (rewind.Plan, error) {
	found, err := filesroom.LastApplied(ctx, p.l.home, "", g.dir, g.branch.Session)
	if err != nil {
		return rewind.Plan{}, p.notLast(ctx, g, err)
	}
	last := found.Apply
	plan, err := p.l.home.PlanUnapply(ctx, last)
	if err != nil {
		return rewind.Plan{}, err
	}
	plan.Release()
	p.will(func(bool) job {
		return func(ctx context.Context) (string, error) {
			done, err := p.l.home.Unapply(ctx, last)
			return fmt.Sprintf("taken back: %s, in %s%s", done.RestoreCounts, g.where, stays(done.Kept)), err
		}
	})
	out := planned(plan, "")
	out.As = rewind.Words{
		Title: p.before(ctx, g, last.Session), Counts: plan.String(), Settled: true,
	}
	return out, nil
}

// settles plans to finish the apply to a directory that was interrupted, or to take it back.
func (p *applying) settles(g *aimed, was *homes.Applied) (plan rewind.Plan) {
	if was == nil {
		return plan
	}
	back := p.undo && was.Undo == ""
	p.will(func(bool) job {
		return func(ctx context.Context) (string, error) {
			done, err := p.l.home.SettleApply(ctx, g.dir, back)
			switch {
			case err != nil:
				return "", err
			case done == nil:
				return "it was settled meanwhile", nil
			case done.Stage == homes.ApplyDone:
				return "finished: " + done.RestoreCounts.String() + stays(done.Kept), nil
			case done.Stage == homes.ApplyPlanned:
				return "no file had been changed", nil
			}
			return "taken back: the files are as they were", nil
		}
	})
	what, counts := "y finishes it", "or, with /apply "+undoWord+", it is taken back"
	if back {
		what, counts = "y takes it back", "or, with /apply alone, it is finished"
	}
	plan.As = rewind.Words{
		Title:  fmt.Sprintf("%s was interrupted: %s", was.Words(), what),
		Counts: "to " + g.where + ": files there may be half of it; " + counts, Always: true, Settled: true, Doing: "Settling",
	}
	return plan
}

// Do does what the plan has shown.
func (p *applying) Do(ctx context.Context, _ string, _ rewind.Way, force bool) tea.Msg {
	done, err := p.l.enter()
	if err != nil {
		return chat.Done{Name: p.name, Err: err}
	}
	defer done()
	p.planning.Lock()
	do := p.do
	p.planning.Unlock()
	if do == nil {
		return chat.Done{Name: p.name, Err: errors.New("no plan was shown")}
	}
	said, err := do(force)(ctx)
	if err != nil {
		return chat.Done{Name: p.name, Err: err}
	}
	return chat.Done{Name: p.name, Reply: chat.Reply{Note: said}}
}
