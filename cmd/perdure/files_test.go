package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Goal: with too few files to open, the command names the limit and the remedy and ends; it neither hangs nor panics.
// With enough of them it works, whatever the soft limit is.
func TestFewFiles(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "perdure")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", exe, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	home := t.TempDir()
	run := func(limit string) (string, int) {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", "ulimit "+limit+` && exec "$0" task run --name s -- true`, exe)
		cmd.Env = []string{"PERDURE_HOME=" + filepath.Join(home, "p"), "HOME=" + home, "PATH=" + os.Getenv("PATH")}
		cmd.Dir = home
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		err := cmd.Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return stderr.String(), exit.ExitCode()
		}
		if err != nil {
			t.Fatal(err)
		}
		return stderr.String(), 0
	}
	for n := 6; n < 64; n += 6 {
		said, code := run(fmt.Sprint("-n ", n))
		if code != 1 || !strings.Contains(said, fmt.Sprint(n, " files")) || !strings.Contains(said, "ulimit -n 256") || strings.Contains(said, "goroutine") {
			t.Errorf("%d files: exit %d, %s", n, code, said)
		}
	}
	for _, limit := range []string{"-n 64", "-S -n 12"} {
		if said, code := run(limit); code != 0 {
			t.Errorf("ulimit %s: exit %d, %s", limit, code, said)
		}
	}
}
