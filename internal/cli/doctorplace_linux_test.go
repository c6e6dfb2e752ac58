package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
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
	w := newWorld(t)
	w.app.Environ = append(w.app.Environ, "ANTHROPIC_API_KEY=test-key-of-nobody")
	levels, d := w.checksOf(0)
	if text, _ := checkOf(d, "write"); levels["write"] != levelOK || !strings.Contains(text, "can be made") {
		t.Errorf("not there yet: %s", text)
	}
	if text, _ := checkOf(d, "disk"); levels["disk"] == "" || strings.Contains(text, "unknown") {
		t.Errorf("the disk that it would be on: %s", text)
	}
	if text, _ := checkOf(d, "store"); text != "" && strings.Contains(text, "sound") {
		t.Errorf("a store that is not there: %s", text)
	}
	w.create("s")
	if levels, _ := w.checksOf(0); levels["write"] != levelOK || levels["store"] != levelOK {
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
			err := unwritable(home)
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
	w := newWorld(t)
	if err := os.WriteFile(w.home, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	levels, d := w.checksOf(exitFailed)
	text, hint := checkOf(d, "open")
	if levels["open"] != levelFail || !strings.Contains(text, "is a file") || !strings.Contains(hint, "PERDURE_HOME") || levels["permissions"] != "" {
		t.Errorf("%v", d["checks"])
	}
	w.fails(exitFailed, "PERDURE_HOME", "list")

	w = newWorld(t)
	if err := os.WriteFile(filepath.Dir(w.home)+"/file", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	w.app.Environ[0] += "/../file/home"
	if levels, d := w.checksOf(exitFailed); levels["write"] != levelFail && levels["open"] != levelFail {
		t.Errorf("%v", d["checks"])
	}
}

// Goal: what cannot be sent says once to whom.
func TestSendThatFailsSaysItOnce(t *testing.T) {
	w := newWorld(t)
	w.create("s")
	if err := os.RemoveAll(filepath.Join(w.home, "holders")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.home, "holders"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if o := w.fails(exitFailed, "send to session s", "send", "s", "x"); strings.Count(o.stderr, "send to session") != 1 {
		t.Error(o.stderr)
	}
}

// Goal: a store that cannot be read at all does not promise that other commands read it.
func TestHintOfAStoreThatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	if err := os.MkdirAll(w.home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.home, "perdure.db"), []byte(strings.Repeat("junk ", 2000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := w.fails(exitFailed, "put a backup in its place", "list"); strings.Contains(o.stderr, "still read") {
		t.Error(o.stderr)
	}
}

// Goal: what no run accepts fails in doctor too, once.
func TestDoctorOfConfigurations(t *testing.T) {
	for _, c := range []struct{ config, check, level, words string }{
		{`models = "x"`, "config", levelFail, "unknown setting"},
		{`model = "claude"`, "model", levelFail, "PROVIDER/MODEL"},
		{`model = "openai/gpt-6-sol"`, "model", levelWarn, "OPENAI_API_KEY"},
		{`permission_mode = "bypassPermissions"`, "config", levelWarn, "is not taken"},
	} {
		w := newWorld(t)
		w.app.Environ = append(w.app.Environ, "ANTHROPIC_API_KEY=test-key-of-nobody")
		w.configure(c.config)
		code := exitDone
		if c.level == levelFail {
			code = exitFailed
		}
		levels, d := w.checksOf(code)
		if text, _ := checkOf(d, c.check); levels[c.check] != c.level || !strings.Contains(text, c.words) {
			t.Errorf("%s: %v", c.config, d["checks"])
		}
		if o := w.run("doctor"); strings.Count(o.stdout+o.stderr, c.words) != 1 {
			t.Errorf("%s is told more than once:\n%s%s", c.config, o.stdout, o.stderr)
		}
	}
	w := newWorld(t)
	w.app.Environ = append(w.app.Environ, "ANTHROPIC_API_KEY=sec\nret")
	if levels, d := w.checksOf(exitFailed); levels["model"] != levelFail {
		t.Errorf("%v", d["checks"])
	}
	w.fails(exitUsage, "a line break at byte 4", "-p", "go")
}
