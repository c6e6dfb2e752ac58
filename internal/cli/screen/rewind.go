package screen

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/sessions"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/restore"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/chat"
	"github.com/perdure/perdure/internal/ui/rewind"
	"github.com/perdure/perdure/internal/workspace"
)

// going goes back in a session: to before one of its turns, or with the files alone to one moment.
type going struct {
	l    *link
	id   string
	name string // of the command
	// at finds the one moment; nil: turns are chosen from.
	at func(ctx context.Context) (homes.FilePoint, error)

	mu    sync.Mutex
	turns []turnBack
	to    homes.FilePoint // of the plan that was shown last
}

func (l *link) rewindPage(string) chat.Page {
	id := l.session()
	if id == "" {
		return nil
	}
	return rewind.New(l.goingBack(&going{l: l, id: id, name: "rewind"}))
}

func (l *link) undoPage(string) chat.Page {
	id := l.session()
	if id == "" {
		return nil
	}
	at := func(ctx context.Context) (homes.FilePoint, error) { return l.home.UndoPoint(ctx, id) }
	return rewind.NewFiles(l.goingBack(&going{l: l, id: id, name: "undo", at: at}), "undo")
}

func (l *link) restorePage(moment string) chat.Page {
	id := l.session()
	if id == "" || moment == "" {
		return nil
	}
	at := func(ctx context.Context) (homes.FilePoint, error) { return l.home.FilesAt(ctx, id, moment) }
	return rewind.NewFiles(l.goingBack(&going{l: l, id: id, name: "restore", at: at}), moment)
}

func (l *link) goingBack(g *going) rewind.Config {
	return rewind.Config{Styles: l.app.Styles(), Now: l.app.Now, Source: g, Context: l.ctx}
}

// Turns are those that can be gone back to.
func (g *going) Turns(ctx context.Context) ([]rewind.Turn, error) {
	st, err := g.l.state(ctx)
	if err != nil {
		return nil, err
	}
	all, err := turnsBack(ctx, g.l.home, st)
	if err != nil {
		return nil, err
	}
	out := make([]rewind.Turn, len(all))
	for i := range all {
		out[i] = all[i].Turn
	}
	g.mu.Lock()
	g.turns = all
	g.mu.Unlock()
	return out, nil
}

// turn finds a turn that was listed.
func (g *going) turn(key string) (turnBack, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, t := range g.turns {
		if t.Key == key {
			return t, nil
		}
	}
	return turnBack{}, errNoTurn
}

// Plan says what would become of the files.
func (g *going) Plan(ctx context.Context, key string, force bool) (rewind.Plan, error) {
	to, err := g.point(ctx, key)
	if err != nil {
		return rewind.Plan{}, err
	}
	if err := g.rests(ctx); err != nil {
		return rewind.Plan{}, err
	}
	p, err := g.l.home.PlanRestore(ctx, g.id, to, nil, force)
	if err != nil {
		return rewind.Plan{}, err
	}
	p.Release()
	g.mu.Lock()
	g.to = to
	g.mu.Unlock()
	return planned(p, to.To), nil
}

func (g *going) point(ctx context.Context, key string) (homes.FilePoint, error) {
	if g.at != nil {
		return g.at(ctx)
	}
	t, err := g.turn(key)
	if err == nil && t.Turn.Why != "" {
		err = errors.New(t.Turn.Why)
	}
	return t.to, err
}

// maxPlanned bounds the paths of a plan that are listed.
const maxPlanned = 2000

func planned(p *workspace.Planned, to string) rewind.Plan {
	out := rewind.Plan{To: to}
	out.Added, out.Modified, out.Deleted, out.Kept = p.Counts()
	signs := map[restore.Verb]rune{restore.Added: '+', restore.Modified: '~', restore.Deleted: '-'}
	for _, k := range p.Kept { // they come first: nobody should have to scroll to them
		if len(out.Paths) < maxPlanned {
			out.Paths = append(out.Paths, rewind.Path{Sign: '=', Name: k.Path, Why: string(k.Why)})
		}
	}
	for _, c := range p.Changes {
		if len(out.Paths) < maxPlanned {
			out.Paths = append(out.Paths, rewind.Path{Sign: signs[c.Verb()], Name: c.Path, Both: c.Joined})
		}
	}
	out.More = len(p.Kept) + len(p.Changes) - len(out.Paths)
	return out
}

// rests refuses while a turn is open, and says what to do.
func (g *going) rests(ctx context.Context) error {
	st, err := g.l.state(ctx)
	switch {
	case err != nil:
		return err
	case st.Turn == nil:
		return nil
	}
	return fmt.Errorf("a turn is open: wait for its end, or close this page and press esc, which ends it; then /%s again", g.name)
}

// Do goes back: first with the files, then, if that was done, with the conversation, so that the two never are of different
// moments.
func (g *going) Do(ctx context.Context, key string, way rewind.Way, force bool) tea.Msg {
	done, err := g.l.enter()
	if err != nil {
		return chat.Done{Name: g.name, Err: err}
	}
	defer done()
	out := chat.Done{Name: g.name}
	if err := g.rests(ctx); err != nil {
		out.Err = err
		return out
	}
	if way != rewind.Conversation {
		if out.Reply.Note, out.Err = g.files(ctx, force, way == rewind.Both); out.Err != nil {
			if way == rewind.Both {
				out.Err = fmt.Errorf("%w; the conversation stays, too", out.Err)
			}
			return out
		}
	}
	if way != rewind.Files {
		goal, err := g.conversation(ctx, key)
		if err != nil {
			out.Err = fmt.Errorf("the conversation stays: %w", err)
			if out.Reply.Note != "" {
				out.Err = fmt.Errorf("%w; %s", out.Err, out.Reply.Note)
			}
			return out
		}
		goal.Note = strings.TrimSpace(goal.Note + "\n" + out.Reply.Note)
		out.Reply.Note, out.Reply.Go = "", goal
	}
	return out
}

// files restores what the plan has shown. Where the screen leaves the session, it says how that is taken back.
func (g *going) files(ctx context.Context, force, leaves bool) (string, error) {
	g.mu.Lock()
	to := g.to
	g.mu.Unlock()
	wish := session.RestoreRequested{Target: to.Tree, To: to.To, Force: force, Undo: to.Undo}
	got, err := g.l.home.RestoreFiles(ctx, g.id, wish)
	if errors.Is(err, engine.ErrRefused) {
		if rests := g.rests(ctx); rests != nil {
			return "", rests
		}
	}
	if err != nil {
		return "", err
	}
	if !leaves {
		return "", nil // the conversation has it
	}
	said := fmt.Sprintf("files went back to %s: %s", to.To, got.RestoreCounts)
	for i, path := range got.Kept {
		if i == maxStays {
			said += fmt.Sprintf("\n= and %d more", len(got.Kept)-i)
			break
		}
		said += "\n= " + plain.Line(path, 300) + " stays as it is"
	}
	return said + "\nperdure undo " + g.l.app.Call(ctx, g.l.home, g.id) + " takes the files forward again", nil
}

// maxStays bounds the paths that are named when it is done.
const maxStays = 10

// conversation makes a fork that knows nothing of a turn, with the words that began it written and not sent.
func (g *going) conversation(ctx context.Context, key string) (*chat.Goal, error) {
	t, err := g.turn(key)
	if err != nil {
		return nil, err
	}
	h := g.l.home
	name, err := sessions.ForkName(ctx, h, g.id, "")
	if err != nil {
		return nil, err
	}
	child, err := h.ForkLike(ctx, g.id, t.in, t.seq-1, name)
	if err != nil {
		return nil, err
	}
	if b, err := keptDraft(draftOf(t.prompt)); err == nil && t.message > 0 {
		_ = h.KeepDraft(child, "draft.json", b) // it can be written again
	}
	was := app.Called(ctx, h, g.id)
	return &chat.Goal{Session: child, Called: app.Called(ctx, h, child), Kin: true, Note: fmt.Sprintf(
		"the conversation goes on here from before “%s”, in the same directory; session %s, which has all of it, stays as it is: /resume %s goes back to it", words(t.prompt), was, was)}, nil
}
