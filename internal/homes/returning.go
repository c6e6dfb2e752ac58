package homes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/perdure/perdure/internal/bundle"
	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/sys"
	"github.com/perdure/perdure/internal/task"
	"github.com/perdure/perdure/store"
)

// incomingDir has, for each session that comes back, its files until its log is here; from then on they are to be put where
// they belong, by whoever opens the home.
const (
	incomingDir  = "incoming"
	incomingHead = "head" // file with the head of the log that the files belong to
)

// ErrRunsHere says that commands of a session that comes back run here.
var ErrRunsHere = errors.New("commands of it run here")

// Back is a session that is in this home, and whose log goes on in a bundle where it ends here: it was moved away, or
// copied, went on there and comes back. Its forks here stay, since nothing of their past changes.
type Back struct {
	Head      store.Head // of the log here
	Dir       string     // that the session belonged to here
	Lifecycle session.Lifecycle
	bytes     int64 // of the log here
}

// goOn brings the rest of a session's log, and the files that came with it. It is there with all of them when goOn
// returns, or it is as it was: whoever dies in between leaves either what the next opening of the home removes or what
// it puts in place.
func (a *Arrival) goOn(ctx context.Context, dir string) error {
	running, err := a.h.runningActs(ctx, a.Session)
	if err != nil {
		return err
	}
	if len(running) > 0 {
		return fmt.Errorf("%w: %d, which have to end first", ErrRunsHere, len(running))
	}
	if err := a.h.removeDir(incomingDir, a.Session); err != nil {
		return err
	}
	if err = a.h.markIncoming(a.Session, a.Head); err == nil {
		a.h.step("marked")
		err = a.goOnWith(ctx, dir)
	}
	if errors.Is(err, store.ErrUncertain) {
		return err // the next opening knows what became of it
	}
	return errors.Join(err, a.h.settleIncoming(context.WithoutCancel(ctx), a.Session))
}

// goOnWith puts the files aside, then the rest of the log into the store.
func (a *Arrival) goOnWith(ctx context.Context, dir string) error {
	to := bundle.Sink{File: func(f bundle.File, content io.Reader) error {
		if f.Session != a.Session {
			return nil // what a fork inherits is here
		}
		return a.aside(f, content)
	}}
	commit, done, err := a.keepCaptured(ctx, &to)
	if err != nil {
		return err
	}
	if _, err = a.read(ctx, "taking in the bundle", to); err == nil {
		err = commit()
	}
	if err == nil {
		a.h.step("aside")
		err = a.h.eng.Import(ctx, a.incoming(ctx, dir)...)
	}
	if err == nil {
		a.h.step("further")
	}
	return errors.Join(err, done())
}

// aside writes a file of the bundle where it waits for its log, unless the home has it.
func (a *Arrival) aside(f bundle.File, content io.Reader) error {
	if !a.files[f] {
		return fmt.Errorf("%w: it changed while it was read", bundle.ErrFormat)
	}
	if f.Kind != bundle.FileTask {
		return a.output(f, content, incomingDir, f.Session, "outputs")
	}
	runner := &task.Runner{Dir: filepath.Join(a.h.dir, incomingDir, f.Session, "acts"), Now: a.h.cfg.Now}
	return a.task(runner, f, content)
}

// markIncoming makes it durable which log the files belong to that are about to be put aside.
func (h *Home) markIncoming(id string, head store.Head) error {
	root, err := realdir.Make(h.dir, incomingDir, id)
	if err != nil {
		return err
	}
	f, err := root.OpenFile(incomingHead, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err = errors.Join(err, root.Close()); err != nil {
		return err
	}
	b, err := json.Marshal(head)
	if err == nil {
		_, err = f.Write(b)
	}
	at := filepath.Join(h.dir, incomingDir)
	return errors.Join(err, f.Sync(), f.Close(), sys.SyncDir(filepath.Join(at, id)), sys.SyncDir(at), sys.SyncDir(h.dir))
}

// settleIncoming puts what was put aside where it belongs, if the log that it came with is here, and removes it. It may be
// repeated.
func (h *Home) settleIncoming(ctx context.Context, id string) error {
	root, err := realdir.Open(h.dir, incomingDir, id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var head store.Head
	b, err := root.ReadFile(incomingHead)
	_ = root.Close() // It was only read.
	if err == nil && json.Unmarshal(b, &head) == nil {
		here, err := h.has(ctx, bundle.Log{Session: id, Head: head})
		if err != nil && !errors.Is(err, ErrOtherHistory) {
			return err
		}
		if here {
			if err := h.place(id); err != nil {
				return err
			}
			h.step("placed")
		}
	}
	return h.removeDir(incomingDir, id)
}

// place moves what was put aside; what the home has of that name stays.
func (h *Home) place(id string) error {
	for _, p := range []struct{ from, to string }{
		{filepath.Join(incomingDir, id, "outputs"), filepath.Join("outputs", id)},
		{filepath.Join(incomingDir, id, "acts", id), filepath.Join("acts", id)},
	} {
		if err := realdir.Check(h.dir, p.from); err != nil {
			return err
		}
		entries, err := os.ReadDir(filepath.Join(h.dir, p.from))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		to, err := realdir.Make(h.dir, filepath.Dir(p.to), filepath.Base(p.to))
		if err != nil {
			return err
		}
		for _, e := range entries {
			if _, err = to.Lstat(e.Name()); errors.Is(err, fs.ErrNotExist) {
				err = os.Rename(filepath.Join(h.dir, p.from, e.Name()), filepath.Join(h.dir, p.to, e.Name()))
			}
			if err != nil {
				break
			}
		}
		if err = errors.Join(err, to.Close(), sys.SyncDir(filepath.Join(h.dir, p.to)), sys.SyncDir(filepath.Dir(filepath.Join(h.dir, p.to)))); err != nil {
			return err
		}
	}
	return nil
}

// finishReturns settles what processes have left that died while a session came back. What fails is tried by the next
// opening.
func (h *Home) finishReturns(ctx context.Context) {
	entries, err := os.ReadDir(filepath.Join(h.dir, incomingDir))
	if err != nil || len(entries) == 0 {
		return
	}
	unlock, ok := h.tryDeletions()
	if !ok {
		return
	}
	defer unlock()
	for _, e := range entries {
		if err := h.settleIncoming(ctx, e.Name()); err != nil {
			h.cfg.Log.Warn("what came with a session that came back is not in its place yet", "session", e.Name(), "error", err)
		}
	}
}
