// Package clitest is a world for tests of the perdure command: a temporary home and directory, a scripted model, the
// streams, and command lines that are run in the test's own process. The tests of every room use it, from the outside.
package clitest

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli"
	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/provider/scripted"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

var update = flag.Bool("update", false, "rewrite golden files")

// Main runs a package's tests in a binary that is also the shim of commands, and the perdure command itself when a
// command or a terminal of a test runs it.
func Main(m *testing.M) {
	homes.RunShimIfAsked()
	if args, asked := os.LookupEnv("CLI_TEST_ARGS"); asked {
		os.Exit(cli.Main(context.Background(), app.OS(), strings.Split(args, "\n")))
	}
	os.Exit(m.Run())
}

// World is a temporary home, and the command's streams over it.
type World struct {
	T       *testing.T
	Home    string
	Dir     string
	App     *app.App
	Signals chan os.Signal
}

var testNow = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)

// New makes one.
func New(t *testing.T) *World {
	t.Helper()
	w := &World{T: t, Home: filepath.Join(t.TempDir(), "home"), Dir: t.TempDir(), Signals: make(chan os.Signal, 1)}
	w.App = &app.App{
		Stdin: strings.NewReader(""), Dir: w.Dir, Now: func() time.Time { return testNow }, Signals: w.Signals,
		Environ: []string{"PERDURE_HOME=" + w.Home, "HOME=" + w.Dir, "PATH=" + os.Getenv("PATH"), "USER=tester"},
	}
	return w
}

// LockedBuffer may be read while a command writes.
type LockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *LockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *LockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Outcome is what a command line gave.
type Outcome struct {
	Args   []string
	Code   int
	Stdout string
	Stderr string
}

// Run runs a command line to its end.
func (w *World) Run(args ...string) Outcome {
	w.T.Helper()
	o, wait := w.Start(args...)
	wait()
	return *o.Read()
}

// Running is a command line under way.
type Running struct {
	args           []string
	Stdout, Stderr LockedBuffer
	Code           int
}

// Read is what it has written so far, and its exit code once it has ended.
func (r *Running) Read() *Outcome {
	return &Outcome{Args: r.args, Code: r.Code, Stdout: r.Stdout.String(), Stderr: r.Stderr.String()}
}

// Start runs a command line beside the test; wait waits for its end.
func (w *World) Start(args ...string) (r *Running, wait func()) {
	r = &Running{args: args}
	app := *w.App
	app.Stdout, app.Stderr = &r.Stdout, &r.Stderr
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Code = cli.Main(context.Background(), &app, args)
	}()
	return r, func() { <-done }
}

// OK demands success and gives stdout.
func (w *World) OK(args ...string) string {
	w.T.Helper()
	o := w.Run(args...)
	if o.Code != 0 {
		w.T.Fatalf("perdure %s: exit %d\nstdout: %s\nstderr: %s", strings.Join(args, " "), o.Code, o.Stdout, o.Stderr)
	}
	return o.Stdout
}

// Fails demands an exit code and words on stderr.
func (w *World) Fails(code int, words string, args ...string) Outcome {
	w.T.Helper()
	o := w.Run(args...)
	if o.Code != code || !strings.Contains(o.Stderr, words) {
		w.T.Fatalf("perdure %s: exit %d, want %d with %q\nstdout: %s\nstderr: %s", strings.Join(args, " "), o.Code, code, words, o.Stdout, o.Stderr)
	}
	return o
}

// Lines decodes JSON lines.
func Lines(t *testing.T, text string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(text) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v in line %q", err, line)
		}
		out = append(out, m)
	}
	return out
}

// Open opens the home as a program would.
func (w *World) Open(script string) *homes.Home {
	w.T.Helper()
	h, err := homes.Open(w.T.Context(), w.Home, homes.Config{
		Environ: w.App.Environ, Now: w.App.Now,
		Provider: func(string) (modelapi.Provider, error) {
			s, err := scripted.Parse([]byte(script))
			return scripted.New(s), err
		},
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return h
}

var testAgent = session.Agent{
	Name: "default", Provider: "scripted", Model: "test", System: "You are a test.", Tools: []byte(`[{"name":"Bash"}]`), MaxTokens: 1000,
	Price: &model.Price{Input: 1000, Output: 2000},
}

// Configure writes the user's configuration.
func (w *World) Configure(text string) {
	w.T.Helper()
	WriteFile(w.T, filepath.Join(w.Dir, ".config", "perdure", "config.toml"), text)
}

// Create makes a session.
func (w *World) Create(id string) {
	w.T.Helper()
	h := w.Open("{}")
	defer w.Close(h)
	if _, err := h.Create(w.T.Context(), engine.Spec{ID: id, Owner: "tester", Agent: testAgent, Cwd: w.Dir}); err != nil {
		w.T.Fatal(err)
	}
}

// Close closes a home that Open gave.
func (w *World) Close(h *homes.Home) {
	w.T.Helper()
	if err := h.Close(); err != nil {
		w.T.Error(err)
	}
}

// Append adds events to a session's log.
func (w *World) Append(id string, actor store.Actor, bodies ...session.Body) {
	w.T.Helper()
	h := w.Open("{}")
	defer w.Close(h)
	s, err := h.Record(w.T.Context(), id)
	if err != nil {
		w.T.Fatal(err)
	}
	if _, err := s.Append(w.T.Context(), actor, bodies...); err != nil {
		w.T.Fatal(err)
	}
	if err := s.Close(); err != nil {
		w.T.Fatal(err)
	}
}

// Prompt runs a prompt in a session against a script.
func (w *World) Prompt(id, script, text string, mode string) *view.Result {
	w.T.Helper()
	h := w.Open(script)
	defer w.Close(h)
	opt := homes.RunOptions{Prompt: text}
	if mode != "" {
		opt.Mode = "bypassPermissions"
	}
	r, err := h.Run(w.T.Context(), id, opt)
	if err != nil {
		w.T.Fatal(err)
	}
	return r
}

// Asking is a script whose turn "go" calls one tool and then says done.
func Asking(tool string, input any) string {
	b, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"turns":[{"match":"go","steps":[{"text":"I try.","tools":[{"name":%q,"input":%s}]},{"text":"done"}]}]}`, tool, b)
}

// Until polls a condition.
func Until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(20 * time.Second)
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("never: %s", what)
		}
	}
}

var variable = []struct {
	re *regexp.Regexp
	to string
}{
	{regexp.MustCompile(`[0-9a-f]{64}`), "<digest>"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "<uuid>"},
	{regexp.MustCompile(`"pid":[0-9]+`), `"pid":<pid>`},
	{regexp.MustCompile(`pid [0-9]+ on \S+`), "pid <pid> on <host>"},
	{regexp.MustCompile(`"build":"[^"]*"`), `"build":"<build>"`},
	{regexp.MustCompile(`"host":"[^"]*"`), `"host":"<host>"`},
}

// Golden compares text with a file, with what differs from run to run replaced.
func (w *World) Golden(name, text string) {
	w.T.Helper()
	text = strings.ReplaceAll(text, w.Dir, "<dir>")
	for _, v := range variable {
		text = v.re.ReplaceAllString(text, v.to)
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			w.T.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			w.T.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		w.T.Fatal(err)
	}
	if string(want) != text {
		w.T.Errorf("%s differs (rewrite with -update):\ngot\n%s\nwant\n%s", path, text, want)
	}
}

// WriteFile writes a file, with the directories above it.
func WriteFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Scripted writes a script for the scripted model and gives its MODEL argument.
func (w *World) Scripted(script string) string {
	w.T.Helper()
	path := filepath.Join(w.Dir, "model.json")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		w.T.Fatal(err)
	}
	return "scripted/" + path
}

// SaysYes is a script that answers any prompt, twice.
const SaysYes = `{"turns":[{"match":"","steps":[{"text":"Yes."},{"text":"Yes again."}]}]}`

// InHome is a world whose PERDURE_HOME is another one.
func (w *World) InHome(home string) *World {
	other, app := *w, *w.App
	app.Environ = append([]string{"PERDURE_HOME=" + home}, w.App.Environ...)
	other.App = &app
	return &other
}
