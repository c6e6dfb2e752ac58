package newfile_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/perdure/perdure/internal/cli/newfile"
)

// Who is killed while they write a file leaves nothing of it.
func TestNewFileOfAKilledProcess(t *testing.T) {
	if file := os.Getenv("NEWFILE_TEST_NEWFILE"); file != "" {
		t.Fatal(newfile.Write(file, os.Getenv("NEWFILE_TEST_REPLACE") != "", func(to io.Writer) error {
			_, _ = io.WriteString(to, "half")
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}))
	}
	for _, replace := range []string{"", "yes"} {
		dir := t.TempDir()
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestNewFileOfAKilledProcess$")
		child.Env = append(os.Environ(), "NEWFILE_TEST_NEWFILE="+filepath.Join(dir, "out"), "NEWFILE_TEST_REPLACE="+replace)
		if out, err := child.CombinedOutput(); err == nil || err.Error() != "signal: killed" {
			t.Fatalf("not killed: %v\n%s", err, out)
		}
		if all, err := os.ReadDir(dir); err != nil || len(all) > 0 {
			t.Errorf("left: %v, %v", all, err)
		}
	}
}
