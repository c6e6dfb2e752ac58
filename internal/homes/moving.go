package homes

import (
	"context"
	"crypto/rand"
	"encoding/hex"
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
	"github.com/perdure/perdure/store"
)

// movingDir has a file for each session that moves, or that failed to.
const movingDir = "moving"

// ErrSameHome says that a bundle, by which a session is to move, is in the home that it comes from.
var ErrSameHome = errors.New("it does not move to where it is")

// Move is a session on its way to another home. While it lasts its home has a word that the bundle names, too: who
// reads the bundle in a home that has this word is where the session is, or in a copy that was made meanwhile, which
// nobody can tell from it. A word lasts as long as one move, so that older copies are homes of their own.
//
// The bundle ends with the event that closes the session here, which is appended here only when the other home has it:
// so the log here is what the log there begins with, and the session can come back. A move that is tried again, of a
// session that did not go on, is by the same event.
type Move struct {
	h    *Home
	id   string
	word string
	lock *os.File // the file with the word

	head    store.Head  // of the log here
	closing store.Event // the next event, which is in the bundle and not here yet
}

// maxMoving bounds the file of a move, in bytes.
const maxMoving = 4096

// moving is what the file of a move says.
type moving struct {
	Word string     `json:"word"`
	Head store.Head `json:"head"` // of the log then
	Time int64      `json:"time"` // when a move from this head was tried first, ms UTC
}

// BeginMove begins to move a session, and settles first what a dead holder has left. Whoever gets a Move closes it. Errors:
// *store.HeldError for a session that somebody runs or moves, store.ErrNotFound.
func (h *Home) BeginMove(ctx context.Context, id string) (*Move, error) {
	m, err := h.beginMove(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("move session %s: %w", id, err)
	}
	return m, nil
}

func (h *Home) beginMove(ctx context.Context, id string) (*Move, error) {
	info, err := h.store.Get(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case info.Holder != nil && info.Holder.Alive != store.Dead:
		return nil, &store.HeldError{Session: id, Holder: *info.Holder}
	case info.Holder != nil:
		s, err := h.open(ctx, id, Options{})
		if err == nil {
			err = s.Close(ctx, "freed")
		}
		if err != nil {
			return nil, err
		}
	}
	root, err := realdir.Make(h.dir, movingDir)
	if err != nil {
		return nil, err
	}
	if err := regular(root, id); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, root.Close())
	}
	f, err := root.OpenFile(id, os.O_RDWR|os.O_CREATE|noFollow, 0o600)
	if err = errors.Join(err, root.Close()); err != nil {
		return nil, err
	}
	if info, err = h.store.Get(ctx, id); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	m := &Move{h: h, id: id, lock: f, head: info.Head}
	if err := m.begin(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return m, nil
}

// begin takes the file and writes a new word into it, durably.
func (m *Move) begin() error {
	err := sys.Flock(m.lock, sys.Exclusive|sys.Try)
	if errors.Is(err, sys.ErrLocked) {
		return fmt.Errorf("another process moves it: %w", store.ErrHeld)
	}
	if err != nil {
		return err
	}
	var random [16]byte
	_, _ = rand.Read(random[:]) // it never fails
	m.word = hex.EncodeToString(random[:])
	now := moving{Word: m.word, Head: m.head, Time: m.h.cfg.Now().UnixMilli()}
	var before moving
	if b, err := io.ReadAll(io.LimitReader(m.lock, maxMoving)); err == nil && json.Unmarshal(b, &before) == nil && before.Head == m.head {
		now.Time = before.Time
	}
	chain := session.Chain{Session: m.id, Head: m.head}
	if m.closing, err = chain.Event(mover, now.Time, closes()); err != nil {
		return err
	}
	b, err := json.Marshal(now)
	if err == nil {
		err = m.lock.Truncate(0)
	}
	if err == nil {
		_, err = m.lock.WriteAt(b, 0)
	}
	return errors.Join(err, m.lock.Sync(), sys.SyncDir(filepath.Join(m.h.dir, movingDir)))
}

// Word is what the other home has to deny that it has.
func (m *Move) Word() string { return m.word }

// Bundle writes the session as the bundle that it moves by; see [Home.Bundle].
func (m *Move) Bundle(ctx context.Context, to io.Writer, o BundleOptions) (Bundled, error) {
	o.move = m
	return m.h.Bundle(ctx, m.id, to, o)
}

// mover closes a session that moves.
var mover = store.Actor{Type: store.ActorUser}

func closes() *session.LifecycleSet { return &session.LifecycleSet{To: session.LifecycleClosed} }

// Done closes the session here: another home has it. Errors: store.ErrConflict and store.ErrHeld if it went on here
// meanwhile, and is open in both places.
func (m *Move) Done(ctx context.Context) error {
	head, err := m.h.eng.AppendFreeAt(ctx, m.closing.Time, m.id, AppendOptions{Expect: &m.head}, mover, closes())
	if err != nil {
		return err
	}
	if head.Hash != m.closing.Hash {
		return fmt.Errorf("session %s was closed by event %s, and its bundle says %s", m.id, head.Hash, m.closing.Hash)
	}
	_ = m.h.removeDir(movingDir, m.id) // Its word is used up either way.
	return m.h.FreePorts(m.id)
}

// Close ends the move, done or not.
func (m *Move) Close() error { return m.lock.Close() }

// regular fails for what is no file: a pipe in its place might be waited for.
func regular(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", filepath.Join(root.Name(), name))
	}
	return err
}

// hasWord reports whether this home is the one from which a session moves by a word. What cannot be read may have it.
func (h *Home) hasWord(id, word string) (bool, error) {
	root, err := realdir.Open(h.dir, movingDir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var f *os.File
	if err = regular(root, id); err == nil {
		f, err = root.OpenFile(id, os.O_RDONLY|noFollow, 0)
	}
	if err = errors.Join(err, root.Close()); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return false, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxMoving))
	if err = errors.Join(err, f.Close()); err != nil {
		return false, err
	}
	var is moving
	return json.Unmarshal(b, &is) == nil && is.Word == word, nil
}

// comesFromHere reports whether a bundle is one by which a session is to move from this very home.
func (h *Home) comesFromHere(hd bundle.Header) (bool, error) {
	if hd.Move == "" {
		return false, nil
	}
	return h.hasWord(hd.Session, hd.Move)
}
