package cli

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// fork prints the child's id alone, and says when it went back to a settled event.
func TestFork(t *testing.T) {
	w := newWorld(t)
	w.eventful("s1") // its act runs from event 9 to 10, and from 12 to 13
	if out := w.ok("fork", "s1", "--id", "child", "--name", "a name"); out != "child\n" {
		t.Errorf("printed %q", out)
	}
	if v := lines(t, w.ok("show", "child", "--json"))[0]; v["title"] != "a name" || v["parent"].(map[string]any)["seq"] != 30.0 {
		t.Errorf("child: title %v, parent %v", v["title"], v["parent"])
	}
	o := w.run("fork", "s1@12", "--id", "back")
	if o.code != 0 || o.stdout != "back\n" || !strings.Contains(o.stderr, "forked at event 11: at event 12") {
		t.Errorf("rounded down: %+v", o)
	}
	if o := w.run("fork", "s1@11", "--id", "exact"); o.code != 0 || o.stderr != "" {
		t.Errorf("at a settled event: %+v", o)
	}
	if id := strings.TrimSpace(w.ok("fork", "s1")); len(id) != 36 {
		t.Errorf("a new id: %q", id)
	}
	w.fails(2, "session exists", "fork", "s1", "--id", "child")
	w.fails(2, "no session id", "fork", "s1", "--id", ".hidden")
	w.fails(2, "--id was given is empty", "fork", "s1", "--id", "")
	w.fails(2, "numbered from 1", "fork", "s1@0")
	if o := w.run("fork", "s1@999"); o.code != 4 || !strings.Contains(o.stderr, "session s1 has 30 events, and no event 999\n  perdure log s1") {
		t.Errorf("an event that is not there: %+v", o)
	}
	w.fails(2, `"abc" is no event of session s1`, "fork", "s1@abc")
	w.ok("rename", "s1", "me@home")
	w.ok("fork", "me@home", "--id", "named") // a name may hold an @
	w.ok("fork", "me@home@3", "--id", "named3")
	w.fails(2, `"work" is no event of session s1`, "fork", "s1@work")
	w.fails(4, "no session \"you@home\"", "fork", "you@home")
	w.ok("rename", "s1", "s1 again")
	w.fails(4, "no session", "fork", "nope@3")
	w.fails(2, "control", "fork", "s1", "--name", "a\nb")
	w.ok("verify", "--all")
}

func TestRename(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	w.create("s2")
	w.ok("rename", "s1", "my name")
	if v := lines(t, w.ok("show", "my name", "--json"))[0]; v["id"] != "s1" || v["title"] != "my name" {
		t.Errorf("by name: %v", v["id"])
	}
	if o := w.run("rename", "s2", "my name"); o.code != 0 || !strings.Contains(o.stderr, "another session has this name") {
		t.Errorf("a twin: %+v", o)
	}
	if o := w.run("rename", "s2", "s1"); o.code != 0 || !strings.Contains(o.stderr, "id of another session") {
		t.Errorf("a name that is an id: %+v", o)
	}
	if o := w.run("rename", "s1", "name@7"); o.code != 0 {
		t.Errorf("%+v", o)
	}
	w.fails(2, "empty", "rename", "s1", " ")
	w.fails(2, "control", "rename", "s1", "a\x1b[0m")
	w.fails(2, "256", "rename", "s1", strings.Repeat("x", 257))
	w.fails(2, "new name", "rename", "s1")
	w.fails(4, "nearest: ", "rename", "s9", "x")
}

func TestPauseAndClose(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	lifecycle := func() any { return lines(t, w.ok("list", "--json"))[0]["lifecycle"] }
	w.ok("pause", "s1")
	if got := lifecycle(); got != "paused" {
		t.Errorf("after pause: %v", got)
	}
	if o := w.run("pause", "s1"); o.code != 0 || !strings.Contains(o.stderr, "paused already") {
		t.Errorf("pause again: %+v", o)
	}
	w.ok("close", "s1")
	if got := lifecycle(); got != "closed" {
		t.Errorf("after close: %v", got)
	}
	w.fails(1, "cannot be paused", "pause", "s1")
	w.fails(4, "no session", "close", "nope")
	w.ok("verify", "s1")
}

func TestDelete(t *testing.T) {
	w := newWorld(t)
	w.create("parent")
	w.ok("fork", "parent", "--id", "kid")
	for _, dir := range []string{"outputs", "tmp", "streams"} {
		if err := os.MkdirAll(filepath.Join(w.home, dir, "parent", "x"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.fails(2, "--yes", "delete", "parent")
	if o := w.fails(1, "kid", "delete", "parent", "--yes"); !strings.Contains(o.stderr, "has forks") {
		t.Errorf("%s", o.stderr)
	}
	if _, err := os.Stat(filepath.Join(w.home, "tmp", "parent")); err != nil {
		t.Error("a refused deletion removed files")
	}
	if o := w.run("delete", "kid", "--yes"); o.code != 0 || !strings.Contains(o.stderr, "1 session deleted") {
		t.Errorf("%+v", o)
	}
	w.ok("-p", "--session-id", "said", "--model", w.scripted(saysYes), "make the parser faster")
	if out := w.ok("delete", "said", "--dry-run"); !strings.Contains(out, `said that began with "make the parser faster", `) {
		t.Errorf("which session it is cannot be seen: %s", out)
	}
	w.app.Asks, w.app.Stdin = true, strings.NewReader("n\n")
	w.fails(1, "nothing was deleted", "delete", "parent")
	w.app.Stdin = strings.NewReader("")
	w.fails(1, "nothing was deleted", "delete", "parent")
	w.app.Stdin = strings.NewReader("yes\n")
	w.ok("delete", "parent")
	w.fails(4, "no session", "show", "parent")
	for _, dir := range []string{"outputs", "tmp", "streams", "acts"} {
		if _, err := os.Stat(filepath.Join(w.home, dir, "parent")); !os.IsNotExist(err) {
			t.Errorf("%s/parent is still there: %v", dir, err)
		}
	}
}

// A session that a live process holds is not deleted, and a verb that it does not take in time names the holder.
func TestHeldSession(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	h := w.open("{}")
	defer w.close(h)
	s, err := h.Record(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	w.fails(5, "is held by pid", "delete", "s1", "--yes")
	title := "late"
	app := *w.app
	app.Stderr = &strings.Builder{}
	err = app.within(t.Context(), h, "s1", 30*time.Millisecond, func(ctx context.Context) error {
		return h.Deliver(ctx, "s1", "", &session.Labelled{Title: &title})
	})
	if code := app.report(err); code != exitHeld || !strings.Contains(err.Error(), "is held by pid") {
		t.Errorf("exit %d: %v", code, err)
	}
	if v := lines(t, w.ok("show", "s1", "--json"))[0]; len(v["inbox"].([]any)) != 1 {
		t.Errorf("inbox %v: want what was accepted", v["inbox"])
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.Deliver(t.Context(), "s1", "", &session.Labelled{Labels: map[string]string{"a": "b"}}); err != nil {
		t.Fatal(err)
	}
	if v := lines(t, w.ok("show", "s1", "--json"))[0]; v["title"] != "late" || len(v["inbox"].([]any)) != 0 {
		t.Errorf("title %v, inbox %v", v["title"], v["inbox"])
	}
}

// verify says ok, or names every fault and leaves the other sessions alone.
func TestVerify(t *testing.T) {
	w := newWorld(t)
	w.eventful("good")
	w.eventful("bad")
	if out := w.ok("verify", "bad"); out != "ok\n" {
		t.Errorf("printed %q", out)
	}
	w.damage("bad", 3)
	o := w.run("verify", "bad")
	if o.code != 1 || !strings.Contains(o.stdout, "event 3") || strings.Contains(o.stdout, "ok") {
		t.Errorf("damaged: %+v", o)
	}
	l := lines(t, w.run("verify", "bad", "--json").stdout)[0]
	if l["ok"] != false || l["id"] != "bad" || len(l["faults"].([]any)) == 0 {
		t.Errorf("in JSON: %v", l)
	}
	o = w.run("verify", "--all")
	if o.code != 1 || !strings.Contains(o.stdout, "good  ok\n") || !strings.Contains(o.stdout, "bad  ") {
		t.Errorf("all: %+v", o)
	}
	if l := lines(t, w.ok("verify", "good", "--json"))[0]; l["ok"] != true || l["faults"] == nil {
		t.Errorf("good in JSON: %v", l)
	}
	w.fails(2, "--all", "verify")
	w.fails(2, "not both", "verify", "good", "--all")
	w.fails(4, "no session", "verify", "nope")
	if o := w.run("log", "bad", "--json"); o.code != 1 || !strings.Contains(o.stderr, "perdure verify bad") {
		t.Errorf("log of a damaged session: %+v", o)
	}
	if o := w.run("usage"); o.code != 0 && o.code != 1 {
		t.Errorf("usage: %+v", o)
	}
	w.ok("log", "good")
}

// damage changes one byte of an event's body on disk.
func (w *world) damage(id string, seq int) {
	w.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(w.home, "perdure.db"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	r, err := db.Exec(`UPDATE event SET body = substr(body, 1, length(body)-2) || x'ff00'
		WHERE seq = ? AND session_no = (SELECT sno FROM session WHERE id = ?)`, seq, id)
	if err != nil {
		w.t.Fatal(err)
	}
	if n, _ := r.RowsAffected(); n != 1 {
		w.t.Fatalf("%d events damaged", n)
	}
}

// usage sums by model, a fork from its fork on, so that nothing counts twice.
func TestUsage(t *testing.T) {
	w := newWorld(t)
	w.eventful("s1")
	w.eventful("s2")
	w.ok("fork", "s1", "--id", "kid")
	one := lines(t, w.ok("usage", "s1", "--json"))[0]
	all := lines(t, w.ok("usage", "--json"))[0]
	if u := one["usage"].(map[string]any); u["input_tokens"] != 10.0 || u["cache_write_tokens"] != 40.0 || one["cost_usd"] != 0.0015 {
		t.Errorf("one: %v", one)
	}
	if u := all["usage"].(map[string]any); u["input_tokens"] != 20.0 || all["cost_usd"] != 0.003 || all["sessions"] != 3.0 {
		t.Errorf("all: %v", all)
	}
	if models := all["usage"].(map[string]any)["models"].([]any); len(models) != 1 || models[0].(map[string]any)["calls"] != 2.0 {
		t.Errorf("models: %v", models)
	}
	w.golden("usage_text", w.ok("usage"))
	if u := lines(t, w.ok("usage", "kid", "--json"))[0]["usage"].(map[string]any); u["input_tokens"] != 0.0 {
		t.Errorf("of the fork: %v", u)
	}
}

// An unknown price makes a sum unknown, in JSON null.
func TestUsageOfUnknownPrice(t *testing.T) {
	if got := addCost(new(float64), nil); got != nil {
		t.Errorf("sum %v", *got)
	}
	if got := money(nil); got != "?" {
		t.Errorf("shown as %q", got)
	}
}

func TestVersionAndCompletion(t *testing.T) {
	w := newWorld(t)
	if v := lines(t, w.ok("version", "--json"))[0]; v["version"] == "" || v["codec"] != 1.0 {
		t.Errorf("version: %v", v)
	}
	if out := w.ok("version"); !strings.HasPrefix(out, "perdure ") {
		t.Errorf("version: %q", out)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if out := w.ok("completion", shell); !strings.Contains(out, "perdure") {
			t.Errorf("completion %s: %q", shell, out)
		}
	}
	w.fails(2, "want bash", "completion", "tcsh")
	w.create("complete-me")
	if out := w.ok("__complete", "show", "comp"); !strings.HasPrefix(out, "complete-me") {
		t.Errorf("completes to %q", out)
	}
	if out := w.ok("__complete", "approv"); !strings.HasPrefix(out, "approvals") {
		t.Errorf("completes to %q", out)
	}
}

// Every command has words for people, and a group says what it needs.
func TestHelp(t *testing.T) {
	w := newWorld(t)
	var names []string
	for _, c := range w.app.commands() {
		names = append(names, c.Name())
		if c.Short == "" {
			t.Errorf("%s has no description", c.Name())
		}
		w.ok(c.Name(), "--help")
	}
	help := w.ok("--help")
	for _, want := range []string{"PERDURE_HOME", "~/.local/share/perdure", "~/.config/perdure/config.toml", "perdure -p [PROMPT] [flags]"} {
		if !strings.Contains(help, want) {
			t.Errorf("--help does not name %s", want)
		}
	}
	if slices.Contains(names, "") || len(names) < 15 {
		t.Errorf("commands: %v", names)
	}
	w.fails(2, "needs one of: run, list, output, kill", "task")
	w.fails(2, `got "fly"`, "task", "fly")
	w.fails(2, "needs one of", "approvals")
	w.fails(2, "needs one of", "permissions")
}

// createEmpty makes a session as only another user of the store can.
func (w *world) createEmpty(id string) {
	w.t.Helper()
	h := w.open("{}")
	defer w.close(h)
	if err := h.Store().Create(w.t.Context(), store.NewSession{ID: id, Created: testNow.UnixMilli()}); err != nil {
		w.t.Fatal(err)
	}
}

// dropSnapshots makes every state be computed from the log.
func (w *world) dropSnapshots() {
	w.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(w.home, "perdure.db"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Exec("DELETE FROM snapshot"); err != nil {
		w.t.Fatal(err)
	}
}
