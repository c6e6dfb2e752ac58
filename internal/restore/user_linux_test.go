package restore

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/perdure/perdure/internal/test/needs"
)

// Permissions mean nothing to root. As another user, who may not write in a directory whose mode forbids it, everything
// goes the same way.
func TestAUserWithoutRightsRestoresTheSame(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("every other test shows it: this is no root")
		return
	}
	at, err := os.MkdirTemp("/dev/shm", "user") //nolint:usetesting // the other user has to get in
	if err != nil {
		needs.Not(t, "a directory in memory: %v", err)
		return
	}
	t.Cleanup(func() { _ = os.RemoveAll(at) })
	if err := os.Chmod(at, 0o777); err != nil {
		t.Fatal(err)
	}
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	copied, err := os.OpenFile(filepath.Join(at, "test"), os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(copied, self); err != nil {
		t.Fatal(err)
	}
	if err := copied.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(at, "test"), "-test.run", "ExactlyWhatWas|AFinished|KilledAnywhereTheNext/swaps|KilledAnywhereUndo/swaps|BecomesADirectory|BuildersDoNot", "-test.v")
	cmd.Dir, cmd.Env = at, append(os.Environ(), "TMPDIR="+at, "HOME="+at)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || bytes.Count(out, []byte("--- PASS")) < 6 {
		t.Errorf("%v\n%s", err, out)
	}
}
