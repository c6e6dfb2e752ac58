package task

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/test/needs"
)

// nobody is a user without any right of its own.
const nobody = 65534

// The kernel shows root more of other processes than it shows an ordinary user. Tests that run as root therefore adopt a
// second time as somebody else; all others are ordinary already.
func TestAdoptAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		needs.Not(t, "this is an ordinary user: the other tests show it")
	}
	dir, err := os.MkdirTemp("", "ordinary") //nolint:usetesting // another user has to reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program := filepath.Join(dir, "task.test")
	copyProgram(t, program)
	if err := errors.Join(os.Chmod(dir, 0o700), os.Chown(dir, nobody, nobody)); err != nil {
		needs.Not(t, "no other user here: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, program, "-test.run=^(TestAdopt|TestAdoptRace|TestAdoptKill|TestKillOrphan)$")
	c.Dir, c.Env = dir, []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := c.CombinedOutput()
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EINVAL) {
		needs.Not(t, "no other user can run this here: %v", err)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// copyProgram copies this program to a place that others can reach.
func copyProgram(t *testing.T, to string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(f, from)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}
