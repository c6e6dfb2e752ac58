package cli

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

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/provider/scripted"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestMain lets this binary be the shim of commands, and be the perdure command itself, run by a command.
func TestMain(m *testing.M) {
	homes.RunShimIfAsked()
	if args, asked := os.LookupEnv("CLI_TEST_ARGS"); asked {
		os.Exit(Main(context.Background(), OS(), strings.Split(args, "\n")))
	}
	os.Exit(m.Run())
}

// world is a temporary home, and the command's streams over it.
type world struct {
	t       *testing.T
	home    string
	dir     string
	app     *App
	signals chan os.Signal
}

var testNow = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, home: filepath.Join(t.TempDir(), "home"), dir: t.TempDir(), signals: make(chan os.Signal, 1)}
	w.app = &App{
		Stdin: strings.NewReader(""), Dir: w.dir, Now: func() time.Time { return testNow }, Signals: w.signals,
		Environ: []string{"PERDURE_HOME=" + w.home, "HOME=" + w.dir, "PATH=" + os.Getenv("PATH"), "USER=tester"},
	}
	return w
}

// lockedBuffer may be read while a command writes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// outcomeOf is what a command line gave.
type outcomeOf struct {
	args   []string
	code   int
	stdout string
	stderr string
}

func (w *world) run(args ...string) outcomeOf {
	w.t.Helper()
	o, wait := w.start(args...)
	wait()
	return *o.read()
}

// running is a command line under way.
type running struct {
	args           []string
	stdout, stderr lockedBuffer
	code           int
}

func (r *running) read() *outcomeOf {
	return &outcomeOf{args: r.args, code: r.code, stdout: r.stdout.String(), stderr: r.stderr.String()}
}

func (w *world) start(args ...string) (r *running, wait func()) {
	r = &running{args: args}
	app := *w.app
	app.Stdout, app.Stderr = &r.stdout, &r.stderr
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.code = Main(context.Background(), &app, args)
	}()
	return r, func() { <-done }
}

// ok demands success and gives stdout.
func (w *world) ok(args ...string) string {
	w.t.Helper()
	o := w.run(args...)
	if o.code != 0 {
		w.t.Fatalf("perdure %s: exit %d\nstdout: %s\nstderr: %s", strings.Join(args, " "), o.code, o.stdout, o.stderr)
	}
	return o.stdout
}

// fails demands an exit code and words on stderr.
func (w *world) fails(code int, words string, args ...string) outcomeOf {
	w.t.Helper()
	o := w.run(args...)
	if o.code != code || !strings.Contains(o.stderr, words) {
		w.t.Fatalf("perdure %s: exit %d, want %d with %q\nstdout: %s\nstderr: %s", strings.Join(args, " "), o.code, code, words, o.stdout, o.stderr)
	}
	return o
}

// lines decodes JSON lines.
func lines(t *testing.T, text string) []map[string]any {
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

// open opens the home as a program would.
func (w *world) open(script string) *homes.Home {
	w.t.Helper()
	h, err := homes.Open(w.t.Context(), w.home, homes.Config{
		Environ: w.app.Environ, Now: w.app.Now,
		Provider: func(string) (model.Provider, error) {
			s, err := scripted.Parse([]byte(script))
			return scripted.New(s), err
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

var testAgent = session.Agent{
	Name: "default", Provider: "scripted", Model: "test", System: "You are a test.", Tools: []byte(`[{"name":"Bash"}]`), MaxTokens: 1000,
	Price: &model.Price{Input: 1000, Output: 2000},
}

// configure writes the user's configuration.
func (w *world) configure(text string) {
	w.t.Helper()
	writeFile(w.t, filepath.Join(w.dir, ".config", "perdure", "config.toml"), text)
}

// create makes a session.
func (w *world) create(id string) {
	w.t.Helper()
	h := w.open("{}")
	defer w.close(h)
	if _, err := h.Create(w.t.Context(), engine.Spec{ID: id, Owner: "tester", Agent: testAgent, Cwd: w.dir}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) close(h *homes.Home) {
	w.t.Helper()
	if err := h.Close(); err != nil {
		w.t.Error(err)
	}
}

// append adds events to a session's log.
func (w *world) append(id string, actor store.Actor, bodies ...session.Body) {
	w.t.Helper()
	h := w.open("{}")
	defer w.close(h)
	s, err := h.Record(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := s.Append(w.t.Context(), actor, bodies...); err != nil {
		w.t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// prompt runs a prompt in a session against a script.
func (w *world) prompt(id, script, text string, mode string) *view.Result {
	w.t.Helper()
	h := w.open(script)
	defer w.close(h)
	opt := homes.RunOptions{Prompt: text}
	if mode != "" {
		opt.Mode = "bypassPermissions"
	}
	r, err := h.Run(w.t.Context(), id, opt)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// asking is a script whose turn "go" calls one tool and then says done.
func asking(tool string, input any) string {
	b, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"turns":[{"match":"go","steps":[{"text":"I try.","tools":[{"name":%q,"input":%s}]},{"text":"done"}]}]}`, tool, b)
}

// until polls a condition.
func until(t *testing.T, what string, cond func() bool) {
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

// golden compares text with a file, with what differs from run to run replaced.
func (w *world) golden(name, text string) {
	w.t.Helper()
	text = strings.ReplaceAll(text, w.dir, "<dir>")
	for _, v := range variable {
		text = v.re.ReplaceAllString(text, v.to)
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			w.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	if string(want) != text {
		w.t.Errorf("%s differs (rewrite with -update):\ngot\n%s\nwant\n%s", path, text, want)
	}
}
