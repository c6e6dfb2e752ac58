package homes_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// written is what stands in the write-ahead log of a home: pages, and the commits that they make up.
type written struct{ pages, commits int }

// walOf reads a home's write-ahead log, whose format is SQLite's: a header of 32 bytes, then for each page a header of
// 24 bytes (with the size of the database in those that end a commit, and the salt of the log's header) and the page.
func walOf(t *testing.T, dir string) (w written) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "perdure.db-wal"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	const header, frame = 32, 24 + 4096
	for at := header; at+frame <= len(b) && string(b[at+8:at+16]) == string(b[16:24]); at += frame {
		w.pages++
		if binary.BigEndian.Uint32(b[at+4:]) != 0 {
			w.commits++
		}
	}
	return w
}

// cost is what f adds to the write-ahead log.
func cost(t *testing.T, dir string, f func() error) written {
	t.Helper()
	before := walOf(t, dir)
	if err := f(); err != nil {
		t.Fatal(err)
	}
	after := walOf(t, dir)
	return written{pages: after.pages - before.pages, commits: after.commits - before.commits}
}

// long makes a session of n app events.
func long(t *testing.T, h *homes.Home, id string, n int) {
	t.Helper()
	ctx := t.Context()
	if _, err := h.Create(ctx, engine.Spec{ID: id, Agent: session.Agent{Provider: "none", Model: "none"}, Cwd: "/"}); err != nil {
		t.Fatal(err)
	}
	s, err := h.Record(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	for done := 0; done < n; {
		batch := make([]session.Body, min(n-done, 500))
		for i := range batch {
			batch[i] = &session.App{Namespace: "test", Data: fmt.Appendf(nil, "event %d", done+i)}
		}
		if _, err := s.Append(ctx, store.Actor{Type: store.ActorUser}, batch...); err != nil {
			t.Fatal(err)
		}
		done += len(batch)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestCreationIsOneCommit: a session, and a fork of any length, is made by one commit of a few pages, the same for a
// parent of 10 events and of 10,000.
func TestCreationIsOneCommit(t *testing.T) {
	dir, ctx := filepath.Join(t.TempDir(), "home"), t.Context()
	open := func() *homes.Home {
		h, err := homes.Open(ctx, dir, homes.Config{})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	h := open()
	long(t, h, "short", 10)
	long(t, h, "long", 10_000)
	if err := h.Close(); err != nil { // The write-ahead log begins anew, and holds no more than what is measured.
		t.Fatal(err)
	}
	h = open()
	defer func() { _ = h.Close() }()
	fork := func(parent, child string) written {
		return cost(t, dir, func() error {
			_, _, err := h.Fork(ctx, parent, 0, child, "")
			return err
		})
	}
	created := cost(t, dir, func() error {
		_, err := h.Create(ctx, engine.Spec{ID: "new", Agent: session.Agent{Provider: "none", Model: "none"}, Cwd: "/"})
		return err
	})
	short, long := fork("short", "child1"), fork("long", "child2")
	t.Logf("created %+v, forked from 10 events %+v, from 10,000 %+v", created, short, long)
	if created.commits != 1 || short.commits != 1 || long != short {
		t.Errorf("want one commit each, and the same pages whatever the parent's length")
	}
	if max(created.pages, long.pages) > 24 { // the descriptions of all tools included
		t.Errorf("more pages than the tables and indexes of one row and one event have")
	}
}

// TestAForkOfTheConversationIsTwoCommits: one makes it, and at most one more is made by the first who opens it.
func TestAForkOfTheConversationIsTwoCommits(t *testing.T) {
	dir, ctx := filepath.Join(t.TempDir(), "home"), t.Context()
	h, err := homes.Open(ctx, dir, homes.Config{Files: &homes.Files{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	long(t, h, "parent", 100)
	var own homes.Own
	made := cost(t, dir, func() (err error) {
		own, err = h.ForkWith(ctx, "parent", homes.ForkSpec{ID: "child", Conversation: true})
		return err
	})
	if made.commits < 1 || made.commits > 2 || !own.Tree.IsZero() || own.Dir != "/" {
		t.Errorf("%+v, %+v", made, own)
	}
}

// watcher is a model that is never reached: it looks at the home's write-ahead log when it is called.
type watcher struct {
	t    *testing.T
	dir  string
	seen written
}

var errWatched = errors.New("that is all that was wanted")

func (*watcher) Name() string { return "watcher" }

func (*watcher) Prefix(modelapi.Request) ([32]byte, error) { return store.Digest{}, nil }

func (w *watcher) Call(context.Context, modelapi.Request, func(modelapi.Delta)) (*modelapi.Response, error) {
	w.seen = walOf(w.t, w.dir)
	return nil, &modelapi.Error{Class: modelapi.ClassInvalid, Status: 400, Message: errWatched.Error()}
}

// TestCommitsBeforeTheFirstRequest: what a new session makes durable before the model is asked, one by one: the
// session, the lease, that it was resumed, the prompt's receipt, the prompt in the log, the turn, the request. Each is
// acknowledged before the next begins.
func TestCommitsBeforeTheFirstRequest(t *testing.T) {
	dir, ctx := filepath.Join(t.TempDir(), "home"), t.Context()
	w := &watcher{t: t, dir: dir}
	h, err := homes.Open(ctx, dir, homes.Config{Provider: func(string) (modelapi.Provider, error) { return w, nil }})
	if err != nil {
		t.Fatal(err)
	}
	// The first write makes the home, which is a commit of its own.
	if _, err := h.Create(ctx, engine.Spec{ID: "first", Agent: session.Agent{Provider: "watcher", Model: "m"}, Cwd: "/"}); err != nil {
		t.Fatal(err)
	}
	before := walOf(t, dir)
	id, err := h.Create(ctx, engine.Spec{Agent: session.Agent{Provider: "watcher", Model: "m"}, Mode: permission.ModeDefault, Cwd: "/"})
	if err == nil {
		_, err = h.Run(ctx, id, homes.RunOptions{Prompt: "go"})
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	commits := w.seen.commits - before.commits
	t.Logf("%d commits, %d pages", commits, w.seen.pages-before.pages)
	if commits != 7 {
		t.Errorf("%d commits before the first request: want 7", commits)
	}
}
