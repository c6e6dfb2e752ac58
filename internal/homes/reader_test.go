package homes_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// taskHome is a home with a session s in which tasks are started.
func taskHome(t *testing.T, dir string) *homes.Home {
	t.Helper()
	h, err := homes.Open(t.Context(), dir, homes.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// startTask runs a script as the next task of session s.
func startTask(t *testing.T, h *homes.Home, script string) {
	t.Helper()
	body := &session.TaskRequested{Argv: []string{"sh", "-c", script}, Command: script, Cwd: t.TempDir()}
	if err := h.Deliver(t.Context(), "s", "", body); err != nil {
		t.Fatal(err)
	}
}

// awaitEnd waits for the end of a task.
func awaitEnd(t *testing.T, h *homes.Home, id string) view.Task {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		tasks, err := h.Tasks().List(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range tasks {
			if v.ID == id && !v.Live() {
				return v
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s runs for ever: %+v", id, tasks)
		}
	}
}

// news reads what is new, whole.
func news(t *testing.T, r *homes.Reader) string {
	t.Helper()
	var out strings.Builder
	for {
		n, err := r.Next(3)
		if err != nil {
			t.Fatal(err)
		}
		if n.To == n.From {
			return out.String()
		}
		out.Write(n.Bytes)
	}
}

// Goal: a reader's place is its own, stays through processes, moves only by what was committed, is the same from a fork,
// and belongs to one attempt.
func TestReader(t *testing.T) {
	dir := t.TempDir()
	h := taskHome(t, dir)
	if _, err := h.Create(t.Context(), engine.Spec{ID: "s", Cwd: dir, Agent: session.Agent{Name: "none", Provider: "none", Model: "none"}}); err != nil {
		t.Fatal(err)
	}
	startTask(t, h, "echo hello")
	if v := awaitEnd(t, h, "bash_1"); v.Output != 6 || v.ExitCode == nil || *v.ExitCode != 0 {
		t.Fatalf("%+v", v)
	}
	reader := func(h *homes.Home, id, name string) *homes.Reader {
		t.Helper()
		r, err := h.Tasks().Reader(t.Context(), id, "bash_1", name)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := reader(h, "s", "a")
	if got := news(t, r); got != "hello\n" || r.Position() != 6 {
		t.Errorf("%q, at %d", got, r.Position())
	}
	if got := news(t, reader(h, "s", "a")); got != "hello\n" {
		t.Errorf("what was not committed counts as seen: %q", got)
	}
	r.MoveTo(2)
	if err := r.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h = taskHome(t, dir)
	child, _, err := h.Fork(t.Context(), "s", 0, "", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"s", child} {
		if got := news(t, reader(h, id, "a")); got != "llo\n" {
			t.Errorf("session %s: %q", id, got)
		}
	}
	if got := news(t, reader(h, "s", "b")); got != "hello\n" {
		t.Errorf("another reader: %q", got)
	}
	if err := h.Deliver(t.Context(), "s", "", &session.TaskRequested{Task: "bash_1"}); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, h, "bash_1")
	if got := news(t, reader(h, "s", "a")); got != "hello\n" {
		t.Errorf("another attempt: %q", got)
	}
	refusedReaders(t, h)
}

func refusedReaders(t *testing.T, h *homes.Home) {
	t.Helper()
	for _, c := range []struct {
		id, task, name string
		want           error
	}{
		{"s", "bash_9", "a", homes.ErrNoTask},
		{"nobody", "bash_1", "a", store.ErrNotFound},
		{"s", "bash_1", "", homes.ErrReader},
		{"s", "bash_1", "a\x1b", homes.ErrReader},
		{"s", "bash_1", strings.Repeat("a", 129), homes.ErrReader},
	} {
		if _, err := h.Tasks().Reader(context.Background(), c.id, c.task, c.name); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
