package tools

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// world is an Env on a temporary directory whose State folds what results report.
type world struct {
	Env
	t *testing.T
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, Env: Env{
		Cwd: dir, Home: filepath.Join(dir, "home"), State: session.New("test"), Files: OSFiles{}, Tasks: fakeTasks{},
	}}
}

func (w *world) path(name string) string { return filepath.Join(w.Cwd, name) }

func (w *world) put(name, content string) string {
	w.t.Helper()
	path := w.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w *world) get(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

func (w *world) fold(events []session.Body) {
	for _, b := range events {
		w.State.ApplyBody(store.Event{Seq: w.State.Head.Seq + 1, Kind: session.KindOf(b)}, b)
	}
	if w.State != nil && len(w.State.Faults) > 0 {
		w.t.Fatalf("events do not fit the state: %v", w.State.Faults)
	}
}

// call runs a tool as the engine does: prepare and replace for an edit, run for the others.
func (w *world) call(name string, input any) Result {
	w.t.Helper()
	b, ok := input.(string)
	if !ok {
		j, err := json.Marshal(input)
		if err != nil {
			w.t.Fatal(err)
		}
		b = string(j)
	}
	c := Call{Act: "t1.s1.b1.a1", Name: name, Input: []byte(b)}
	switch tl := Find(Builtin(), name).(type) {
	case Runner:
		r, err := tl.Run(context.Background(), c, w.Env)
		if err != nil {
			w.t.Fatalf("%s: %v", name, err)
		}
		w.fold(r.Events)
		return r
	case Editor:
		e, content, refusal, err := tl.Prepare(context.Background(), c, w.Env)
		if err != nil {
			w.t.Fatalf("%s: %v", name, err)
		}
		if refusal != nil {
			return *refusal
		}
		if err := w.Files.Replace(*e, content); err != nil {
			return EditFailed(*e, err)
		}
		use := session.FileModified
		if e.Pre.IsZero() {
			use = session.FileCreated
		}
		w.fold([]session.Body{&session.FileSeen{File: session.File{Path: e.Path, Digest: e.Post, Size: e.Size, Use: use}}})
		return success("%s", e.Result)
	}
	w.t.Fatalf("no runner or editor %s", name)
	return Result{}
}

type obj map[string]any

// golden compares a result's text; CWD stands for the working directory.
func (w *world) golden(r Result, isError bool, want string) {
	w.t.Helper()
	got := strings.ReplaceAll(model.Text(r.Content), w.Cwd, "CWD")
	if got != want || r.IsError != isError {
		w.t.Errorf("result (error %v):\n%s\nwant (error %v):\n%s", r.IsError, clipText(got, 3000), isError, clipText(want, 3000))
	}
}

func (w *world) contains(r Result, isError bool, parts ...string) {
	w.t.Helper()
	text := model.Text(r.Content)
	for _, p := range parts {
		if !strings.Contains(text, p) {
			w.t.Errorf("result lacks %q:\n%s", p, clipText(text, 2000))
		}
	}
	if r.IsError != isError {
		w.t.Errorf("IsError = %v:\n%s", r.IsError, clipText(text, 2000))
	}
}

// fakeTasks serves outputs from memory. Bytes before keep are gone.
type fakeTasks map[string]*fakeTask

type fakeTask struct {
	out    string
	keep   int64
	st     command.State
	killed int
	typed  []byte // up to its capacity; nil: it has no input
	eof    bool
	err    error
}

func (f fakeTasks) Output(_ context.Context, id string, from int64, limit int) ([]byte, int64, int64, command.State, error) {
	t := f[id]
	if t == nil {
		return nil, 0, 0, command.State{}, ErrNoTask
	}
	t.st.Output = int64(len(t.out))
	gap := max(0, t.keep-from)
	from += gap
	b := []byte(t.out[from:min(int64(len(t.out)), from+int64(limit))])
	return b, from + int64(len(b)), gap, t.st, t.err
}

func (f fakeTasks) Write(_ context.Context, id string, text []byte, eof bool) (int, session.InputOutcome, command.State, error) {
	t := f[id]
	switch {
	case t == nil:
		return 0, "", command.State{}, ErrNoTask
	case t.err != nil:
		return 0, "", t.st, t.err
	case t.st.Status != command.Running:
		return 0, session.InputEnded, t.st, nil
	case t.typed == nil:
		return 0, session.InputClosed, t.st, nil
	}
	n := min(len(text), cap(t.typed)-len(t.typed))
	if t.typed = append(t.typed, text[:n]...); n < len(text) {
		return n, session.InputFull, t.st, nil
	}
	t.eof = eof
	return n, session.InputTaken, t.st, nil
}

func (f fakeTasks) Kill(_ context.Context, id string) (command.State, error) {
	t := f[id]
	if t == nil {
		return command.State{}, ErrNoTask
	}
	if t.killed++; t.st.Status == command.Running && t.err == nil {
		t.st = command.State{Status: command.Killed, Signal: "SIGKILL", By: "model"}
	}
	return t.st, nil
}

func code(n int) command.State {
	return command.State{Status: command.Exited, ExitCode: &n}
}
