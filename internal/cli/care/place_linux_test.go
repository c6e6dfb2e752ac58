package care_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/care"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// ordinary runs f without the rights that root has over files.
func ordinary(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		if os.Geteuid() == 0 {
			_ = unix.Setfsuid(65534)
		}
		f()
	}()
	<-done
}

// checkOf is the text of one of doctor's checks, empty if there is none.
func checkOf(d map[string]any, name string) (text, hint string) {
	for _, c := range d["checks"].([]any) {
		if c := c.(map[string]any); c["name"] == name {
			hint, _ = c["hint"].(string)
			return c["text"].(string), hint
		}
	}
	return "", ""
}

// Goal: doctor says whether the home can be written, which a look at it does not need.
func TestDoctorOfAPlaceThatCannotBeWritten(t *testing.T) {
	w := clitest.New(t)
	w.App.Environ = append(w.App.Environ, "ANTHROPIC_API_KEY=test-key-of-nobody")
	levels, d := w.ChecksOf(0)
	if text, _ := checkOf(d, "write"); levels["write"] != "ok" || !strings.Contains(text, "can be made") {
		t.Errorf("not there yet: %s", text)
	}
	if text, _ := checkOf(d, "disk"); levels["disk"] == "" || strings.Contains(text, "unknown") {
		t.Errorf("the disk that it would be on: %s", text)
	}
	if text, _ := checkOf(d, "store"); text != "" && strings.Contains(text, "sound") {
		t.Errorf("a store that is not there: %s", text)
	}
	w.Create("s")
	if levels, _ := w.ChecksOf(0); levels["write"] != "ok" || levels["store"] != "ok" {
		t.Errorf("%v", levels)
	}

	// The same looks, without root's rights.
	dir := t.TempDir()
	home := filepath.Join(dir, "deep", "home")
	for _, c := range []struct {
		name string
		make func() error
		want string // empty: it can be written
	}{
		{"others' parent", func() error { return os.Chmod(dir, 0o755) }, dir + ": permission denied"},
		{"a parent for all", func() error { return os.Chmod(dir, 0o777) }, ""},
		{"a home of one's own that is closed", func() error { return os.MkdirAll(home, 0o555) }, ""}, // whoever owns it opens it
		{"others' home", func() error { return others(home) }, home + ": permission denied"},
		{"one's own again", func() error { return os.Chown(home, os.Geteuid(), -1) }, ""},
		{"others' database", func() error {
			return os.WriteFile(filepath.Join(home, "perdure.db"), nil, 0o444)
		}, filepath.Join(home, "perdure.db") + ": permission denied"},
	} {
		if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := c.make(); err != nil {
			t.Fatal(err)
		}
		if c.name == "others' home" && os.Geteuid() != 0 {
			continue
		}
		ordinary(func() {
			err := care.Unwritable(home)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
		})
	}
}

// others gives a directory to another user, which root alone may.
func others(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(dir, 12345, -1)
}

// Goal: doctor of something that is no home names it, and does not look at it as if it were one.
func TestDoctorOfAFile(t *testing.T) {
	w := clitest.New(t)
	if err := os.WriteFile(w.Home, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	levels, d := w.ChecksOf(app.ExitFailed)
	text, hint := checkOf(d, "open")
	if levels["open"] != "fail" || !strings.Contains(text, "is a file") || !strings.Contains(hint, "PERDURE_HOME") || levels["permissions"] != "" {
		t.Errorf("%v", d["checks"])
	}
	w.Fails(app.ExitFailed, "PERDURE_HOME", "list")

	w = clitest.New(t)
	if err := os.WriteFile(filepath.Dir(w.Home)+"/file", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	w.App.Environ[0] += "/../file/home"
	if levels, d := w.ChecksOf(app.ExitFailed); levels["write"] != "fail" && levels["open"] != "fail" {
		t.Errorf("%v", d["checks"])
	}
}

// Goal: what cannot be sent says once to whom.
func TestSendThatFailsSaysItOnce(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	if err := os.RemoveAll(filepath.Join(w.Home, "holders")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.Home, "holders"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if o := w.Fails(app.ExitFailed, "send to session s", "send", "s", "x"); strings.Count(o.Stderr, "send to session") != 1 {
		t.Error(o.Stderr)
	}
}

// Goal: a store that cannot be read at all does not promise that other commands read it.
func TestHintOfAStoreThatCannotBeRead(t *testing.T) {
	w := clitest.New(t)
	if err := os.MkdirAll(w.Home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.Home, "perdure.db"), []byte(strings.Repeat("junk ", 2000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := w.Fails(app.ExitFailed, "put a backup in its place", "list"); strings.Contains(o.Stderr, "still read") {
		t.Error(o.Stderr)
	}
}

// Goal: what no run accepts fails in doctor too, once.
func TestDoctorOfConfigurations(t *testing.T) {
	for _, c := range []struct{ config, check, level, words string }{
		{`models = "x"`, "config", "fail", "unknown setting"},
		{`model = "claude"`, "model", "fail", "PROVIDER/MODEL"},
		{`model = "openai/gpt-6-sol"`, "model", "warn", "OPENAI_API_KEY"},
		{`permission_mode = "bypassPermissions"`, "config", "warn", "is not taken"},
	} {
		w := clitest.New(t)
		w.App.Environ = append(w.App.Environ, "ANTHROPIC_API_KEY=test-key-of-nobody")
		w.Configure(c.config)
		code := app.ExitDone
		if c.level == "fail" {
			code = app.ExitFailed
		}
		levels, d := w.ChecksOf(code)
		if text, _ := checkOf(d, c.check); levels[c.check] != c.level || !strings.Contains(text, c.words) {
			t.Errorf("%s: %v", c.config, d["checks"])
		}
		if o := w.Run("doctor"); strings.Count(o.Stdout+o.Stderr, c.words) != 1 {
			t.Errorf("%s is told more than once:\n%s%s", c.config, o.Stdout, o.Stderr)
		}
	}
	w := clitest.New(t)
	w.App.Environ = append(w.App.Environ, "ANTHROPIC_API_KEY=sec\nret")
	if levels, d := w.ChecksOf(app.ExitFailed); levels["model"] != "fail" {
		t.Errorf("%v", d["checks"])
	}
	w.Fails(app.ExitUsage, "a line break at byte 4", "-p", "go")
}
