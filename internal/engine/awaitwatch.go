package engine

import (
	"context"
	"regexp"
	"sync"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
)

// How outputs are followed.
const (
	awaitPause  = 100 * time.Millisecond // between two looks at an output that grows
	awaitRest   = 500 * time.Millisecond // the same of one that has been silent
	awaitChunk  = 256 << 10
	awaitErrors = 8                // looks in a row that may fail
	scanKeep    = 30 * time.Second // at least between two records of how far outputs were looked at
	scanBytes   = 4 << 20          // that is worth a record
)

// awaitWatch follows a task's output for one await, beside the loop. Of a task that a fork inherited it watches the end
// too, since that is in no log that the session has.
type awaitWatch struct {
	s     *awaits
	a     session.Await
	owner string // session whose task it is
	old   bool   // the await is older than this holder: what is found at first happened meanwhile
	stop  context.CancelFunc

	catching bool // the loop's: the first look is not over
	saved    time.Time

	mu     sync.Mutex
	finder tools.Finder
}

// watchAwaits starts what is needed to tell of open awaits, and stops what is not needed any more.
func (s *awaits) watchAwaits() {
	for id, w := range s.awaiting.watches {
		if s.state.Await(id) == nil {
			w.stop()
			s.caught(w)
			delete(s.awaiting.watches, id)
		}
	}
	for _, a := range s.state.Awaits {
		t := s.state.Task(a.Task)
		switch {
		case a.Session != "" || a.Event == session.AwaitTimer || s.awaiting.watches[a.ID] != nil || s.eng.cfg.Commands == nil:
		case a.Event == session.AwaitEnd && (t == nil || t.Session == ""): // the log will tell
		case s.state.Lifecycle == session.LifecycleClosed || s.state.Lifecycle == session.LifecycleArchived:
		default:
			s.watchAwait(a)
		}
	}
}

func (s *awaits) watchAwait(a session.Await) {
	w := &awaitWatch{s: s, a: a, owner: s.lease.Session, old: a.Seq <= s.opened, catching: true, saved: s.eng.cfg.Now()}
	if t := s.state.Task(a.Task); t != nil {
		w.owner = s.ownerOf(t)
	}
	if a.Event == session.AwaitLine {
		pattern, err := regexp.Compile(a.Pattern)
		if err != nil { // a log of another make: nothing matches
			pattern = regexp.MustCompile(`$.^`)
		}
		secrets := s.eng.cfg.Secrets
		w.finder = tools.Finder{Pattern: pattern, Replace: secrets.Replace, Partial: secrets.Partial, At: a.Position, Gap: a.Gap}
	}
	var ctx context.Context
	ctx, w.stop = context.WithCancel(s.watchCtx)
	if s.awaiting.watches == nil {
		s.awaiting.watches = map[string]*awaitWatch{}
	}
	s.awaiting.watches[a.ID] = w
	s.awaiting.catching++
	s.watchers.Go(func() { w.run(ctx) })
}

// caught notes, in the loop, that a watch has looked at all that was there when it began.
func (s *awaits) caught(w *awaitWatch) {
	if w.catching {
		w.catching = false
		s.awaiting.catching--
	}
}

// run looks until the await is met, nobody wants it any more, or looking fails for good: then the next holder looks.
func (w *awaitWatch) run(ctx context.Context) {
	first, pause, at := true, awaitPause, int64(-1)
	for failed := 0; failed < awaitErrors; {
		met, err := w.look(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			failed++
		case met != nil || first:
			over := false
			if w.s.ask(ctx, func() (err error) { over, err = w.report(ctx, met, first); return err }) != nil || over {
				return
			}
			first, failed = false, 0
		}
		if pause = min(2*pause, awaitRest); w.finder.Next() != at {
			pause, at = awaitPause, w.finder.Next()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
	w.s.eng.cfg.Log.Warn("an awaited output cannot be read", "session", w.s.lease.Session, "await", w.a.ID, "task", w.a.Task)
	_ = w.s.ask(ctx, func() error { w.s.caught(w); return nil })
}

// report tells the loop what was found. Over: there is nothing left to look for.
func (w *awaitWatch) report(ctx context.Context, met *session.AwaitMet, first bool) (over bool, err error) {
	s := w.s
	if met != nil {
		// The end of a task of this session is told once the log knows of it.
		t := s.state.Task(w.a.Task)
		if met.How == session.MetLine || t == nil || t.Act != w.a.TaskAct || t.Session != "" || !t.Live() {
			over, err = true, s.meet(ctx, w.a.ID, *met, w.old && first)
		}
	}
	s.caught(w)
	return over, err
}

// look reads what is new, up to the end as it is at first, so that a fast printer cannot hold it.
func (w *awaitWatch) look(ctx context.Context) (*session.AwaitMet, error) {
	cmds := w.s.eng.cfg.Commands
	// The state comes first: what it says was printed can then be read.
	st, err := cmds.State(w.owner, w.a.TaskAct)
	if err != nil {
		return nil, err
	}
	over := st.Status != command.Running && st.Stragglers == 0
	if w.a.Event == session.AwaitEnd {
		if over {
			return &session.AwaitMet{How: session.MetEnd, End: &st}, nil
		}
		return nil, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	line, ok, err := w.read(ctx, st)
	if !ok && err == nil && over {
		line, ok = w.finder.End()
	}
	switch {
	case err != nil:
		return nil, err
	case ok:
		return &session.AwaitMet{How: session.MetLine, Line: line, Gap: w.finder.Gap}, nil
	case over:
		return &session.AwaitMet{How: session.MetNoLine, Gap: w.finder.Gap, End: &st}, nil
	}
	return nil, nil
}

func (w *awaitWatch) read(ctx context.Context, st command.State) (line string, ok bool, err error) {
	f := &w.finder
	for st.Reason != command.ReasonDirMissing && f.Next() < st.Output && ctx.Err() == nil {
		b, next, gap, err := w.s.eng.cfg.Commands.Read(w.owner, w.a.TaskAct, f.Next(), awaitChunk)
		if err != nil {
			return "", false, err
		}
		if gap > 0 {
			if line, ok := f.Skip(gap); ok {
				return line, true, nil
			}
		}
		if line, ok := f.Write(b); ok {
			return line, true, nil
		}
		if len(b) == 0 && gap == 0 || next < f.Next() {
			return "", false, nil
		}
	}
	return "", false, ctx.Err()
}

// saveScans records how far outputs were looked at, when that is worth it, or at the end.
func (s *awaits) saveScans(ctx context.Context, end bool) error {
	if len(s.awaiting.watches) == 0 {
		return nil
	}
	now := s.eng.cfg.Now()
	b := &session.AwaitScanned{}
	for _, a := range s.state.Awaits {
		w := s.awaiting.watches[a.ID]
		if w == nil || !end && now.Sub(w.saved) < scanKeep {
			continue
		}
		w.mu.Lock()
		at, gap := w.finder.At, w.finder.Gap
		w.mu.Unlock()
		if at > a.Position && (end || at-a.Position > scanBytes) {
			b.Positions = append(b.Positions, session.AwaitPosition{ID: a.ID, Position: at, Gap: gap})
			w.saved = now
		}
	}
	if len(b.Positions) == 0 {
		return nil
	}
	return s.append(ctx, engineActor, b)
}
