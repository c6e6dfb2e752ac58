package sessions_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/session"
)

// fork prints the child's id alone, and says when it went back to a settled event.
func TestFork(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("s1") // its act runs from event 9 to 10, and from 12 to 13
	if out := w.OK("fork", "s1", "--id", "child", "--name", "a name"); out != "child\n" {
		t.Errorf("printed %q", out)
	}
	if v := clitest.Lines(t, w.OK("show", "child", "--json"))[0]; v["title"] != "a name" || v["parent"].(map[string]any)["seq"] != 30.0 {
		t.Errorf("child: title %v, parent %v", v["title"], v["parent"])
	}
	o := w.Run("fork", "s1@12", "--id", "back")
	if o.Code != 0 || o.Stdout != "back\n" || !strings.Contains(o.Stderr, "forked at event 11: at event 12") {
		t.Errorf("rounded down: %+v", o)
	}
	if o := w.Run("fork", "s1@11", "--id", "exact"); o.Code != 0 || strings.Contains(o.Stderr, "under way") {
		t.Errorf("at a settled event: %+v", o)
	}
	if id := strings.TrimSpace(w.OK("fork", "s1")); len(id) != 36 {
		t.Errorf("a new id: %q", id)
	}
	w.Fails(2, "session exists", "fork", "s1", "--id", "child")
	w.Fails(2, "no session id", "fork", "s1", "--id", ".hidden")
	w.Fails(2, "--id was given is empty", "fork", "s1", "--id", "")
	w.Fails(2, "numbered from 1", "fork", "s1@0")
	if o := w.Run("fork", "s1@999"); o.Code != 4 || !strings.Contains(o.Stderr, "session s1 has 30 events, and no event 999\n  perdure log s1") {
		t.Errorf("an event that is not there: %+v", o)
	}
	w.Fails(2, `"abc" is no event of session s1`, "fork", "s1@abc")
	w.OK("rename", "s1", "me@home")
	w.OK("fork", "me@home", "--id", "named") // a name may hold an @
	w.OK("fork", "me@home@3", "--id", "named3")
	w.Fails(2, `"work" is no event of session s1`, "fork", "s1@work")
	w.Fails(4, "no session \"you@home\"", "fork", "you@home")
	w.OK("rename", "s1", "s1 again")
	w.Fails(4, "no session", "fork", "nope@3")
	w.Fails(2, "control", "fork", "s1", "--name", "a\nb")
	w.OK("verify", "--all")
}

func TestRename(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	w.Create("s2")
	w.OK("rename", "s1", "my name")
	if v := clitest.Lines(t, w.OK("show", "my name", "--json"))[0]; v["id"] != "s1" || v["title"] != "my name" {
		t.Errorf("by name: %v", v["id"])
	}
	if o := w.Run("rename", "s2", "my name"); o.Code != 0 || !strings.Contains(o.Stderr, "another session has this name") {
		t.Errorf("a twin: %+v", o)
	}
	if o := w.Run("rename", "s2", "s1"); o.Code != 0 || !strings.Contains(o.Stderr, "id of another session") {
		t.Errorf("a name that is an id: %+v", o)
	}
	if o := w.Run("rename", "s1", "name@7"); o.Code != 0 {
		t.Errorf("%+v", o)
	}
	w.Fails(2, "empty", "rename", "s1", " ")
	w.Fails(2, "control", "rename", "s1", "a\x1b[0m")
	w.Fails(2, "256", "rename", "s1", strings.Repeat("x", 257))
	w.Fails(2, "new name", "rename", "s1")
	w.Fails(4, "nearest: ", "rename", "s9", "x")
}

func TestPauseAndClose(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	lifecycle := func() any { return clitest.Lines(t, w.OK("list", "--json"))[0]["lifecycle"] }
	w.OK("pause", "s1")
	if got := lifecycle(); got != "paused" {
		t.Errorf("after pause: %v", got)
	}
	if o := w.Run("pause", "s1"); o.Code != 0 || !strings.Contains(o.Stderr, "paused already") {
		t.Errorf("pause again: %+v", o)
	}
	w.OK("close", "s1")
	if got := lifecycle(); got != "closed" {
		t.Errorf("after close: %v", got)
	}
	w.Fails(1, "cannot be paused", "pause", "s1")
	w.Fails(4, "no session", "close", "nope")
	w.OK("verify", "s1")
}

func TestDelete(t *testing.T) {
	w := clitest.New(t)
	w.Create("parent")
	w.OK("fork", "parent", "--id", "kid")
	for _, dir := range []string{"outputs", "tmp", "streams"} {
		if err := os.MkdirAll(filepath.Join(w.Home, dir, "parent", "x"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.Fails(2, "--yes", "delete", "parent")
	if o := w.Fails(1, "kid", "delete", "parent", "--yes"); !strings.Contains(o.Stderr, "has forks") {
		t.Errorf("%s", o.Stderr)
	}
	if _, err := os.Stat(filepath.Join(w.Home, "tmp", "parent")); err != nil {
		t.Error("a refused deletion removed files")
	}
	if o := w.Run("delete", "kid", "--yes"); o.Code != 0 || !strings.Contains(o.Stderr, "1 session deleted") {
		t.Errorf("%+v", o)
	}
	w.OK("-p", "--session-id", "said", "--model", w.Scripted(clitest.SaysYes), "make the parser faster")
	if out := w.OK("delete", "said", "--dry-run"); !strings.Contains(out, `said that began with "make the parser faster", `) {
		t.Errorf("which session it is cannot be seen: %s", out)
	}
	w.App.Asks, w.App.Stdin = true, strings.NewReader("n\n")
	w.Fails(1, "nothing was deleted", "delete", "parent")
	w.App.Stdin = strings.NewReader("")
	w.Fails(1, "nothing was deleted", "delete", "parent")
	w.App.Stdin = strings.NewReader("yes\n")
	w.OK("delete", "parent")
	w.Fails(4, "no session", "show", "parent")
	for _, dir := range []string{"outputs", "tmp", "streams", "acts"} {
		if _, err := os.Stat(filepath.Join(w.Home, dir, "parent")); !os.IsNotExist(err) {
			t.Errorf("%s/parent is still there: %v", dir, err)
		}
	}
}

// A session that a live process holds is not deleted, and a verb that it does not take in time names the holder.
func TestHeldSession(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	h := w.Open("{}")
	defer w.Close(h)
	s, err := h.Record(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	w.Fails(5, "is held by pid", "delete", "s1", "--yes")
	title := "late"
	a := *w.App
	a.Stderr = &strings.Builder{}
	err = a.Within(t.Context(), h, "s1", 30*time.Millisecond, func(ctx context.Context) error {
		return h.Deliver(ctx, "s1", "", &session.Labelled{Title: &title})
	})
	if code := a.Report(err); code != app.ExitHeld || !strings.Contains(err.Error(), "is held by pid") {
		t.Errorf("exit %d: %v", code, err)
	}
	if v := clitest.Lines(t, w.OK("show", "s1", "--json"))[0]; len(v["inbox"].([]any)) != 1 {
		t.Errorf("inbox %v: want what was accepted", v["inbox"])
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.Deliver(t.Context(), "s1", "", &session.Labelled{Labels: map[string]string{"a": "b"}}); err != nil {
		t.Fatal(err)
	}
	if v := clitest.Lines(t, w.OK("show", "s1", "--json"))[0]; v["title"] != "late" || len(v["inbox"].([]any)) != 0 {
		t.Errorf("title %v, inbox %v", v["title"], v["inbox"])
	}
}
