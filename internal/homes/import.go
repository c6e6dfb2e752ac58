package homes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/perdure/perdure/internal/bundle"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/progress"
	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/task"
	"github.com/perdure/perdure/store"

	"github.com/perdure/perdure/internal/sys"
)

// noFollow has a file opened only where it is named, and never waited for.
const noFollow = sys.NoFollow | sys.NonBlock

// ErrOtherHistory says that a session of the bundle's id is here, and its log is another one.
var ErrOtherHistory = errors.New("a session of this id is here with another history")

// Arrival is a bundle that was read to its end and is sound. Nothing of it is in the home yet.
type Arrival struct {
	bundle.Header
	Known   bool // the session is here already, as the bundle has it, or further
	State   *session.State
	Running int   // tasks that ran when it was written: they stay where they run
	Back    *Back // the session is here, and its log goes on in the bundle; nil: it is not, or is Known

	h      *Home
	from   io.ReadSeeker
	limits bundle.Limits
	size   int64     // of the bundle, in bytes; 0: nobody knows
	logs   []arrived // ancestors first
	files  map[bundle.File]bool
}

// arrived is one log of a bundle.
type arrived struct {
	bundle.Log
	state  *session.State
	before session.Lifecycle // of the state, before the newest event
	here   bool              // its session is in this home
	like   *likeness         // to the log that its session has here; nil: it has none
}

// Receive reads a bundle to its end, from its beginning on, and checks all of it. It changes nothing. Errors:
// bundle.ErrFormat, bundle.ErrNewer, bundle.ErrTooLarge, ErrOtherHistory, ErrSameHome, store.ErrNewer.
func (h *Home) Receive(ctx context.Context, from io.ReadSeeker, limits bundle.Limits) (*Arrival, error) {
	a := &Arrival{h: h, from: from, limits: limits, files: map[bundle.File]bool{}}
	trees := newUnfolding()
	if size, err := from.Seek(0, io.SeekEnd); err == nil {
		a.size = size
	}
	hd, err := a.read(ctx, "verifying the bundle", bundle.Sink{
		Log:   func(l bundle.Log) error { return a.begin(ctx, l) },
		Event: a.fold,
		File: func(f bundle.File, _ io.Reader) error {
			a.files[f] = true
			return nil
		},
		Tree: trees.add,
	})
	if err == nil && hd.Trees+hd.Blobs > 0 && h.cfg.captured == nil {
		err = errNoCaptured
	}
	if err == nil {
		err = trees.check()
	}
	for _, l := range a.logs {
		l.like.end()
	}
	if err != nil {
		return nil, fmt.Errorf("read bundle: %w", err)
	}
	a.Header = hd
	if same, err := h.comesFromHere(hd); err != nil || same {
		return nil, errors.Join(err, fmt.Errorf("session %s lives in this home: %w", hd.Session, ErrSameHome))
	}
	for i := range a.logs {
		l := &a.logs[i]
		switch {
		case l.state.ID != l.Session:
			return nil, fmt.Errorf("read bundle: %w: the log of %s says that it is of another session", bundle.ErrFormat, l.Session)
		case l.state.ReadOnly != "":
			return nil, fmt.Errorf("read bundle: session %s: %w: %s", l.Session, store.ErrNewer, l.state.ReadOnly)
		case listedBytes(l.state) > maxListed:
			return nil, fmt.Errorf("read bundle: session %s: %w: its title, labels and model have %d bytes", l.Session, bundle.ErrTooLarge, listedBytes(l.state))
		}
		if l.here, err = h.has(ctx, l.Log); errors.Is(err, ErrOtherHistory) && l.like != nil {
			err = a.further(ctx, l, i == len(a.logs)-1)
		}
		if err != nil {
			return nil, err
		}
	}
	last := a.logs[len(a.logs)-1]
	a.State, a.Known = last.state, last.here
	for _, t := range a.State.Tasks {
		if t.Session == "" && t.Live() {
			a.Running++
		}
	}
	return a, nil
}

// until reads until ctx ends: little that is read may unfold into much.
type until struct {
	ctx  context.Context //nolint:containedctx // of one reading
	from io.Reader
	work *progress.Work
}

func (u until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := u.from.Read(p)
	u.work.Add(0, int64(n))
	return n, err
}

// maxListed bounds what lists of sessions read and show of one from elsewhere, in bytes: every list would pay for more.
const maxListed = 256 << 10

func listedBytes(st *session.State) int {
	h := engine.Heads(st)
	n := len(h.Title) + len(h.Model)
	for k, v := range h.Labels {
		n += len(k) + len(v)
	}
	return n
}

// read reads the bundle from its beginning on; what says why.
func (a *Arrival) read(ctx context.Context, what string, to bundle.Sink) (bundle.Header, error) {
	if _, err := a.from.Seek(0, io.SeekStart); err != nil {
		return bundle.Header{}, err
	}
	work := a.h.Progress().Begin(what, "")
	defer work.End()
	work.Sized(0, a.size)
	return bundle.Read(until{ctx, a.from, work}, a.limits, to)
}

func (a *Arrival) begin(ctx context.Context, l bundle.Log) error {
	st := session.New(l.Session)
	if n := len(a.logs); l.Parent != nil {
		st = session.Fork(a.logs[n-1].state, l.Session)
	}
	like, err := a.h.liken(ctx, l)
	a.logs = append(a.logs, arrived{Log: l, state: st, like: like})
	return err
}

func (a *Arrival) fold(e store.Event) error {
	l := &a.logs[len(a.logs)-1]
	l.like.meet(e)
	l.before = l.state.Lifecycle
	if err := l.state.Apply(e); err != nil {
		return fmt.Errorf("%w: %w", bundle.ErrFormat, err)
	}
	return nil
}

// has reports whether a session is here with a log, which may go on after it.
func (h *Home) has(ctx context.Context, l bundle.Log) (bool, error) {
	info, err := h.store.Get(ctx, l.Session)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	other := fmt.Errorf("session %s: %w: %d events here, %d in the bundle", l.Session, ErrOtherHistory, info.Head.Seq, l.Head.Seq)
	if info.Head.Seq < l.Head.Seq || l.Head.Seq == 0 {
		return false, other
	}
	for e, err := range h.store.Read(ctx, l.Session, l.Head.Seq, l.Head.Seq) {
		if err != nil {
			return false, err
		}
		if e.Hash == l.Head.Hash {
			return true, nil
		}
	}
	return false, other
}

// Import brings the session into the home, as one that belongs to a directory, which is made if it is missing. What it
// inherits comes as sessions of their own, which are closed. It is there when Import returns, durably, or nothing is:
// who dies in the middle leaves a plan by which the next opening of the home removes what there is. A session that is
// here already is left as it is, and one that comes back goes on: wholly, or it is as it was. Errors: ErrOtherHistory,
// ErrRunsHere,
// *store.HeldError, store.ErrConflict if it went on here meanwhile, engine.ErrNoImport, store.ErrFull, store.ErrUncertain.
func (a *Arrival) Import(ctx context.Context, dir string) error {
	if a.Known {
		return nil
	}
	unlock, err := a.h.lockDeletions(ctx)
	if err != nil {
		return fmt.Errorf("import session %s: %w", a.Session, err)
	}
	defer unlock()
	var ids []string
	for _, l := range a.logs {
		if !l.here {
			ids = append(ids, l.Session)
		}
	}
	made, err := makeDir(dir)
	if err == nil {
		_, err = roomy(ctx, a.h, "", func() (struct{}, error) {
			if a.Back != nil {
				return struct{}{}, a.goOn(ctx, dir)
			}
			return struct{}{}, a.bring(ctx, ids, dir)
		})
	}
	if err != nil {
		if made {
			_ = os.Remove(dir) // only while it is empty
		}
		return fmt.Errorf("import session %s: %w", a.Session, err)
	}
	return nil
}

// makeDir makes a directory if there is none, and says so.
func makeDir(dir string) (made bool, err error) {
	if _, err := os.Stat(dir); err == nil {
		return false, nil
	}
	return true, os.MkdirAll(dir, 0o755)
}

// bring does it, under the lock of deletions.
func (a *Arrival) bring(ctx context.Context, ids []string, dir string) error {
	for i, id := range ids {
		if err := a.makeRoom(ctx, id); err != nil {
			for _, id := range ids[:i] {
				err = errors.Join(err, a.h.dropPlan(id)) // nothing was written yet
			}
			return err
		}
	}
	a.h.step("planned")
	err := a.store(ctx, ids, dir)
	if errors.Is(err, store.ErrUncertain) {
		return err // the plan stays: the next opening removes what there is
	}
	a.h.step("imported")
	ctx = context.WithoutCancel(ctx)
	for _, id := range ids {
		if err != nil {
			if left := a.h.removeFiles(ctx, id); left != nil {
				err = errors.Join(err, left)
				continue // the plan stays
			}
		}
		err = errors.Join(err, a.h.dropPlan(id))
	}
	return err
}

// makeRoom removes what an older session of an id left behind, under the plan that removes what comes if this process dies.
func (a *Arrival) makeRoom(ctx context.Context, id string) error {
	switch _, err := a.h.store.Get(ctx, id); {
	case err == nil:
		return fmt.Errorf("session %s: %w", id, store.ErrExists)
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	if err := a.h.planDeletion(id); err != nil {
		return err
	}
	if err := a.h.removeFiles(ctx, id); err != nil {
		return errors.Join(err, a.h.dropPlan(id))
	}
	return nil
}

// store writes files, then captured files, then the sessions that name them.
func (a *Arrival) store(ctx context.Context, ids []string, dir string) error {
	to := bundle.Sink{File: func(f bundle.File, content io.Reader) error { return a.writeFile(ids, f, content) }}
	commit, done, err := a.keepCaptured(ctx, &to)
	if err != nil {
		return err
	}
	if _, err = a.read(ctx, "taking in the bundle", to); err == nil {
		err = commit()
	}
	if err == nil {
		a.h.step("files")
		err = a.h.eng.Import(ctx, a.incoming(ctx, dir)...)
	}
	return errors.Join(err, done())
}

// incoming are the sessions that are not here yet.
func (a *Arrival) incoming(ctx context.Context, dir string) (all []engine.Incoming) {
	for i, l := range a.logs {
		if l.here {
			continue
		}
		st := l.state
		b := &session.Imported{Head: st.Head, From: st.Config.Root, Root: dir, Cwd: dir, Part: i < len(a.logs)-1, Price: a.h.Price(st.Agent.Provider, st.Agent.Model)}
		if rel, err := filepath.Rel(st.Config.Root, st.Cwd); err == nil && filepath.IsLocal(rel) {
			if info, err := os.Stat(filepath.Join(dir, rel)); err == nil && info.IsDir() {
				b.Cwd = filepath.Join(dir, rel)
			}
		}
		if a.Move != "" && !b.Part && st.Lifecycle == session.LifecycleClosed {
			b.Lifecycle = l.before
		}
		b.Text = []byte(arrivalText(b))
		in := engine.Incoming{State: st, Past: a.past(ctx, i, 0), Bytes: l.Bytes, Body: b}
		if a.Back != nil {
			in.Past, in.Here, in.Bytes = a.past(ctx, i, a.Back.Head.Seq), &a.Back.Head, max(0, l.Bytes-a.Back.bytes)
			b.Since = a.Back.Head.Seq
		}
		all = append(all, in)
	}
	return all
}

// arrivalText is what the model is told.
func arrivalText(b *session.Imported) string {
	return fmt.Sprintf(`[This session was moved to another machine. Its directory is now %q; it was %q. Read files before you rely on what you
know of them. Commands that ran are not here, exported variables are unset, outputs named by paths of the other machine may be
missing, and what was allowed there has to be allowed again.]`, b.Root, b.From)
}

// errEnough ends a reading of a bundle of which the rest is not needed.
var errEnough = errors.New("enough")

// past are the events of one log behind a seq. That they are those that were checked follows from the hash of the event
// after them.
func (a *Arrival) past(ctx context.Context, i int, behind int64) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		at := -1
		_, err := a.read(ctx, "taking in events", bundle.Sink{
			Log: func(bundle.Log) error {
				if at++; at > i {
					return errEnough
				}
				return nil
			},
			Event: func(e store.Event) error {
				if at == i && e.Seq > behind && !yield(e, nil) {
					return errEnough
				}
				return nil
			},
			File: func(bundle.File, io.Reader) error { return errEnough },
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(store.Event{}, err)
		}
	}
}

// writeFile writes a file that the home keeps for one of the sessions, durably.
func (a *Arrival) writeFile(ids []string, f bundle.File, content io.Reader) error {
	switch {
	case !a.files[f]:
		return fmt.Errorf("%w: it changed while it was read", bundle.ErrFormat)
	case !slices.Contains(ids, f.Session) || !plainID(f.Session):
		return nil
	case f.Kind == bundle.FileTask:
		return a.task(a.h.commands(), f, content)
	}
	return a.output(f, content, "outputs", f.Session)
}

// output writes it into a directory of the home.
func (a *Arrival) output(f bundle.File, content io.Reader, names ...string) error {
	root, err := realdir.Make(a.h.dir, names...)
	if err != nil {
		return err
	}
	out, err := root.OpenFile(f.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err = errors.Join(err, root.Close()); err != nil {
		return err
	}
	_, err = io.Copy(out, content)
	dir := filepath.Join(a.h.dir, filepath.Join(names...))
	return errors.Join(err, out.Sync(), out.Close(), sys.SyncDir(dir), sys.SyncDir(filepath.Dir(dir)))
}

// task keeps the end of a task, of which the log has to know.
func (a *Arrival) task(to *task.Runner, f bundle.File, content io.Reader) error {
	for _, l := range a.logs {
		if l.Session != f.Session {
			continue
		}
		for _, t := range l.state.Tasks {
			if t.Act != f.Name || t.Session != "" || t.Live() {
				continue
			}
			err := to.Import(f.Session, f.Name, t.CommandState(), f.Offset, content)
			if err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			return nil
		}
	}
	return nil
}
