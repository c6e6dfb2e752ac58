package knowledge

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain runs the tests, or, as a process of its own that a test has started, one job on a memory.
func TestMain(m *testing.M) {
	job := os.Getenv("KNOWLEDGE_JOB")
	if job == "" {
		os.Exit(m.Run())
	}
	steps, kill := 0, -1
	if at := os.Getenv("KNOWLEDGE_KILL"); at != "" {
		kill, _ = strconv.Atoi(at)
	}
	cfg := Config{Home: os.Getenv("KNOWLEDGE_HOME"), Dir: os.Getenv("KNOWLEDGE_DIR"), Now: clock, Fault: func(string) error {
		if steps++; steps-1 == kill {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}, InProject: os.Getenv("KNOWLEDGE_SHARED") != ""}
	if most, err := strconv.ParseUint(os.Getenv("KNOWLEDGE_FILE_SIZE"), 10, 64); err == nil {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if err := jobs[job](cfg); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

var testTime = time.Date(2026, 4, 8, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return testTime }

// world is a home and a project, each below a temporary directory.
type world struct {
	*testing.T
	cfg Config
}

func newWorld(t *testing.T) *world {
	dir := t.TempDir()
	w := &world{T: t, cfg: Config{Home: filepath.Join(dir, "home"), Dir: filepath.Join(dir, "project"), Now: clock}}
	for _, d := range []string{w.cfg.Home, w.cfg.Dir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) open() *Memory {
	w.Helper()
	m, err := Open(w.cfg)
	if err != nil {
		w.Fatal(err)
	}
	return m
}

var model = By{Session: "s1", Seq: 7, Source: SourceModel}

// do runs a command that must succeed, and no that must be refused.
func (w *world) do(c Command) string {
	w.Helper()
	text, ok, err := w.open().Do(context.Background(), c, model)
	if err != nil || !ok {
		w.Fatalf("%+v: %q, %v, %v", c, text, ok, err)
	}
	return text
}

func (w *world) no(c Command, words ...string) string {
	w.Helper()
	text, ok, err := w.open().Do(context.Background(), c, model)
	if err != nil || ok {
		w.Fatalf("%+v was not refused: %q, %v", c, text, err)
	}
	for _, word := range words {
		if !strings.Contains(text, word) {
			w.Errorf("%+v: %q does not say %q", c, text, word)
		}
	}
	return text
}

func (w *world) add(s *Scope, text string) Entry {
	w.Helper()
	e, err := s.Add(context.Background(), Addition{Text: text}, By{Source: SourceUser})
	if err != nil {
		w.Fatal(err)
	}
	return e
}

func (w *world) brief() Briefing {
	w.Helper()
	b, err := Brief(w.cfg)
	if err != nil {
		w.Fatal(err)
	}
	return b
}

func (w *world) write(path, text string) {
	w.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

// fileText is the text of a file, empty if there is none.
func fileText(path string) string {
	b, _ := os.ReadFile(path)
	return string(b)
}

func create(path, text string) Command { return Command{Name: "create", Path: path, FileText: text} }

func numberedLines(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+"\n", i, i, i)
	}
	return b.String()
}

// entriesText is an index of n entries.
func entriesText(n int) string {
	return title + "\n\n## Decisions\n" + numberedLines(n, "- [key%d](file%d.md) - says %d")
}
