package importing_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/test/forge"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// travelling makes a session with files, packed into a file, and says what its files are.
func travelling(t *testing.T) (w *clitest.World, file string, files map[string]int) {
	t.Helper()
	w = clitest.New(t)
	work := filepath.Join(w.Dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	w.App.Dir = work
	m := w.Scripted(`{"turns":[{"match":"","steps":[{"tools":[{"name":"Bash","input":{"command":"mkdir d; for i in 1 2 3; do head -c $((i*50000)) /dev/urandom >d/f$i; done; echo x >x; head -c 3000000 /dev/zero >z"}}]},{"text":"done"}]}]}`)
	w.OK("-p", "--dangerously-skip-permissions", "--model", m, "--session-id", "one", "go")
	file = filepath.Join(t.TempDir(), "one.perdure")
	w.OK("export", "one", "-o", file, "--secrets", "keep")
	return w, file, map[string]int{"d/f1": 50000, "d/f2": 100000, "d/f3": 150000, "x": 2, "z": 3_000_000}
}

// wholeOrNothing looks at what an import left: the session with all its files, the session without any, or nothing at all.
func wholeOrNothing(t *testing.T, to *clitest.World, up string, files map[string]int) (here, written bool) {
	t.Helper()
	here = to.OK("list", "--json") != ""
	entries, err := os.ReadDir(up)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "there" {
			t.Errorf("%s is left", e.Name())
			continue
		}
		some, err := os.ReadDir(filepath.Join(up, "there"))
		if err != nil {
			t.Fatal(err)
		}
		written = len(some) > 0
	}
	for name, size := range files {
		info, err := os.Stat(filepath.Join(up, "there", name))
		if written && (err != nil || info.Size() != int64(size)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if written && !here {
		t.Error("there are files of a session that is not here")
	}
	plans, _ := os.ReadDir(filepath.Join(to.App.Getenv("PERDURE_HOME"), "deleting"))
	for _, plan := range plans {
		if plan.Name() != ".lock" {
			t.Errorf("a plan is left: %s", plan.Name())
		}
	}
	return here, written
}

// Goal: wherever there is no room for more, an import leaves the session whole, or nothing of it; what is left out is said,
// and the next import of the same bundle makes it good.
func TestNoRoomInAnImport(t *testing.T) {
	w, file, files := travelling(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	refused, bare, whole := 0, 0, 0
	for _, kib := range []int{0, 1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 300, 320, 400, 1024, 8192} {
		up := t.TempDir()
		to := there(w)
		args := []string{"import", file, "--dir", filepath.Join(up, "there"), "--yes"}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", fmt.Sprintf("trap '' XFSZ; ulimit -f %d; exec \"$0\"", kib*2), exe)
		cmd.Dir, cmd.Env = up, append([]string{"CLI_TEST_ARGS=" + strings.Join(args, "\n")}, to.App.Environ...)
		out, err := cmd.CombinedOutput()
		here, written := wholeOrNothing(t, to, up, files)
		switch {
		case err == nil && here && written:
			whole++
		case err != nil && here && !written && strings.Contains(string(out), "its files are not"):
			bare++
		case err != nil && !here && !written:
			refused++
		default:
			t.Errorf("%d KiB: %v, here %t, written %t: %s", kib, err, here, written, out)
		}
		to.OK(args...)
		if here, written := wholeOrNothing(t, to, up, files); !here || !written {
			t.Errorf("%d KiB: the next import: here %t, written %t", kib, here, written)
		}
	}
	t.Logf("refused %d, without files %d, whole %d", refused, bare, whole)
	if refused == 0 || bare == 0 || whole == 0 {
		t.Error("there was no difference")
	}
}

// Goal: an import with files that is killed at any time leaves the session whole, or nothing of it, once the home is used
// again; the next command, whichever it is, takes away what was left beside its directory, and the next import of the same
// bundle makes it good.
func TestKilledInAnImportWithFiles(t *testing.T) {
	rounds := 12
	if os.Getenv("PERDURE_SOAK") != "" {
		rounds = 500
	}
	w, file, files := travelling(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	up, killed, left := t.TempDir(), 0, 0
	beside := func() []string {
		found, err := filepath.Glob(filepath.Join(up, ".perdure-building-*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	to := there(w)
	args := []string{"import", file, "--dir", filepath.Join(up, "there"), "--yes"}
	took := 50 * time.Millisecond
	for round := range rounds {
		cmd := exec.CommandContext(t.Context(), exe)
		cmd.Dir, cmd.Env = up, append([]string{"CLI_TEST_ARGS=" + strings.Join(args, "\n")}, to.App.Environ...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-time.After(took * time.Duration(round+1) / time.Duration(rounds)) // any moment will do
		_ = cmd.Process.Kill()
		if cmd.Wait() != nil {
			killed++
		}
		left += len(beside())
		if to.OK("list"); len(beside()) > 0 {
			t.Errorf("round %d: %q is there after the next command", round, beside())
		}
		began := time.Now()
		to.OK(args...)
		took = max(took, time.Since(began))
		if here, written := wholeOrNothing(t, to, up, files); !here || !written {
			t.Errorf("round %d: here %t, written %t", round, here, written)
		}
		to.OK("verify", "one")
		to.OK("delete", "one", "--yes")
		if err := os.RemoveAll(filepath.Join(up, "there")); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d of %d were killed, %d left something beside", killed, rounds, left)
}

// What of a session's files cannot be written is named, for the eyes and nothing more.
func TestWhatIsNotWrittenIsNamed(t *testing.T) {
	w := clitest.New(t)
	object := forge.Object(
		tree.Entry{Name: ".git", Kind: tree.Dir, Flags: tree.Skipped, Mode: 0o755},
		tree.Entry{Name: ".perdure-restore-\x1b[2J", Kind: tree.File, Mode: 0o644, Size: 1, Digest: store.Sum([]byte("x"))},
		forge.File("a", []byte("x")),
		tree.Entry{Name: "node_modules", Kind: tree.Dir, Flags: tree.Skipped, Mode: 0o755},
	)
	file := filepath.Join(t.TempDir(), "x.perdure")
	if err := os.WriteFile(file, forge.OfTrees([][]byte{[]byte("x")}, object).Bytes(t), 0o600); err != nil {
		t.Fatal(err)
	}
	o := w.Run("import", file, "--dir", filepath.Join(w.Dir, "new"), "--yes")
	if o.Code != 0 || strings.Contains(o.Stderr, "\x1b") || strings.Contains(o.Stderr, ".git:") || strings.Count(o.Stderr, "not written: ") != 2 || !strings.Contains(o.Stderr, "not written: node_modules: ") {
		t.Errorf("%+v", o)
	}
}
