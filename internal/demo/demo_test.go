package demo_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Goal: the demo shows what it says, and the commands it names at the end do end and show what it left.
func TestDemo(t *testing.T) {
	dir := t.TempDir()
	exe := filepath.Join(dir, "perdure")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", exe, "github.com/perdure/perdure/cmd/perdure")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	env := []string{"PERDURE_HOME=" + filepath.Join(dir, "home"), "HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir}
	run := func(name string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Env = env
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		return out.String(), err
	}
	begin := time.Now()
	out, err := run(exe, "demo")
	if err != nil {
		t.Fatalf("demo: %v\n%s", err, out)
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("the demo took %v", took)
	}
	kill := regexp.MustCompile(`End it with: kill (\d+)`).FindStringSubmatch(out)
	show := regexp.MustCompile(`perdure show (\S+)`).FindStringSubmatch(out)
	if kill == nil || show == nil || !strings.Contains(out, "exit code 3") || !strings.Contains(out, "ok") {
		t.Fatalf("demo: %s", out)
	}
	if out, err := run("kill", kill[1]); err != nil {
		t.Fatalf("kill: %v\n%s", err, out)
	}
	deadline := time.Now().Add(10 * time.Second)
	for {
		out, err := run(exe, "task", "list", show[1], "--json")
		if err == nil && !strings.Contains(out, `"running"`) && strings.Contains(out, `"bash_1"`) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the dev server should have ended: %v\n%s", err, out)
		}
		time.Sleep(50 * time.Millisecond) //nolint:forbidigo // polls a condition of other processes, with a deadline
	}
	if left, _ := filepath.Glob("/proc/[0-9]*/cwd"); len(left) > 0 {
		for _, l := range left {
			if to, err := os.Readlink(l); err == nil && strings.HasPrefix(to, dir) {
				t.Errorf("process %s still works in %s", l, to)
			}
		}
	}
}
