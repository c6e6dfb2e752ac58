package tools

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// child is what a re-executed test binary does: one Replace, killed at a step or under a file size limit.
type child struct {
	Edit     session.Edit
	Content  []byte
	KillAt   string
	FileSize uint64
}

const childVariable = "PERDURE_TOOL_TEST_CHILD"

func TestMain(m *testing.M) {
	if job := os.Getenv(childVariable); job != "" {
		os.Exit(runChild(job))
	}
	os.Exit(m.Run())
}

func runChild(job string) int {
	var c child
	b, err := os.ReadFile(job)
	if err != nil || json.Unmarshal(b, &c) != nil {
		return 3
	}
	files := OSFiles{Fault: func(step string) error {
		if step == c.KillAt {
			_ = unix.Kill(os.Getpid(), unix.SIGKILL)
			select {}
		}
		return nil
	}}
	if c.FileSize > 0 {
		signal.Ignore(unix.SIGXFSZ)
		if unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: c.FileSize, Max: c.FileSize}) != nil {
			return 3
		}
	}
	switch err := files.Replace(c.Edit, c.Content); {
	case err == nil:
		return 0
	case errors.Is(err, ErrNoSpace):
		return 4
	default:
		os.Stderr.WriteString(err.Error())
		return 1
	}
}

// start runs a child and gives its exit status, -1 when it was killed.
func (c child) start(t *testing.T) int {
	t.Helper()
	b, err := json.Marshal(c)
	job := filepath.Join(t.TempDir(), "job")
	if err != nil || os.WriteFile(job, b, 0o600) != nil {
		t.Fatal("no job file")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+job)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if stderr.Len() > 0 {
		t.Logf("child: %s", stderr.String())
	}
	return cmd.ProcessState.ExitCode()
}

var (
	renameSteps = []string{
		StepMkdir, StepSweep, StepCreate, StepWrite, StepWritten, StepSync, StepCheck, StepRename, StepSyncDir, StepDone,
	}
	placeSteps = []string{StepMkdir, StepSweep, StepCheck, StepPlaceWrite, StepPlaceMid, StepPlaceSync, StepDone}
)

// editOf is an edit of a file as it is to a content.
func editOf(t *testing.T, path string, content []byte) session.Edit {
	t.Helper()
	old, info, err := OSFiles{}.Read(path, 0)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return *change(path, info, old, content)
}

// litter gives the temporary files in a directory.
func litter(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, tempPrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func digestOf(t *testing.T, path string) store.Digest {
	t.Helper()
	d, _, err := OSFiles{}.Digest(path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Goal: a process killed at any step leaves the file as before or as after the edit, never between; the edit can
// then be made again, and nothing is left behind.
func TestReplaceKilled(t *testing.T) {
	content := []byte(strings.Repeat("after\n", 5000))
	littered := 0
	for _, fresh := range []bool{false, true} {
		for i, step := range renameSteps {
			w := newWorld(t)
			path := w.path("dir/f")
			mode := fs.FileMode(0o644)
			if !fresh {
				w.put("dir/f", strings.Repeat("before\n", 3000))
				if mode = 0o754; os.Chmod(path, mode) != nil {
					t.Fatal("chmod")
				}
			}
			e := editOf(t, path, content)
			if got := (child{Edit: e, Content: content, KillAt: step}).start(t); got != -1 {
				t.Fatalf("%s: child ended with %d", step, got)
			}
			renamed := i > 7 // the steps after StepRename
			if got := digestOf(t, path); got != e.Pre && got != e.Post || (got == e.Post) != renamed {
				t.Errorf("%s: file is neither or too early, digest %s", step, got)
			}
			littered += len(litter(t, w.path("dir")))
			if err := (OSFiles{}).Replace(e, content); err != nil {
				t.Errorf("%s: again: %v", step, err)
			}
			if digestOf(t, path) != e.Post {
				t.Errorf("%s: not made after the second time", step)
			}
			if names := litter(t, w.path("dir")); len(names) > 0 {
				t.Errorf("%s: left %v", step, names)
			}
			if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != mode && !fresh {
				t.Errorf("%s: mode %v, %v", step, fi.Mode(), err)
			}
		}
	}
	if littered != 10 { // negative control: create to rename do leave a file that the next Replace sweeps
		t.Errorf("crashes left %d temporary files, want 10", littered)
	}
}

// Goal: a hard-linked file keeps its other name. Its write is not atomic, and a crash in the middle shows: the
// digest is then neither the old nor the new one.
func TestReplaceInPlaceKilled(t *testing.T) {
	content := []byte(strings.Repeat("after\n", 5000))
	for _, step := range placeSteps {
		w := newWorld(t)
		path := w.put("f", strings.Repeat("before\n", 6000))
		if err := os.Link(path, w.path("other")); err != nil {
			t.Fatal(err)
		}
		e := editOf(t, path, content)
		if !e.InPlace {
			t.Fatal("a hard-linked file is not marked")
		}
		if got := (child{Edit: e, Content: content, KillAt: step}).start(t); got != -1 {
			t.Fatalf("%s: child ended with %d", step, got)
		}
		got := digestOf(t, path)
		if got != digestOf(t, w.path("other")) || len(litter(t, w.Cwd)) > 0 {
			t.Errorf("%s: the names lead to two files, or a temporary file is left", step)
		}
		err := OSFiles{}.Replace(e, content)
		switch torn := got != e.Pre && got != e.Post; {
		case torn != (step == StepPlaceMid):
			t.Errorf("%s: torn %v", step, torn)
		case torn && !errors.Is(err, ErrChanged):
			t.Errorf("%s: a torn file is written again: %v", step, err)
		case !torn && (err != nil || digestOf(t, w.path("other")) != e.Post):
			t.Errorf("%s: again: %v", step, err)
		}
	}
}

// Goal: an error at any step leaves the file whole and nothing beside it, and is returned.
func TestReplaceFails(t *testing.T) {
	boom := errors.New("boom")
	for _, linked := range []bool{false, true} {
		steps := renameSteps
		if linked {
			steps = placeSteps
		}
		for _, step := range steps {
			w := newWorld(t)
			path := w.put("f", "before, which is longer\n")
			if linked {
				if err := os.Link(path, w.path("other")); err != nil {
					t.Fatal(err)
				}
			}
			e, reached := editOf(t, path, []byte("after\n")), false
			err := OSFiles{Fault: func(s string) error {
				if s == step {
					reached = true
					return boom
				}
				return nil
			}}.Replace(e, []byte("after\n"))
			if !errors.Is(err, boom) || !reached || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v", step, err)
			}
			got := digestOf(t, path)
			if got != e.Pre && got != e.Post {
				t.Errorf("%s: torn: %q", step, w.get("f"))
			}
			if errors.Is(err, ErrUnsettled) != (got == e.Post) {
				t.Errorf("%s: %v, but the digest is %s", step, err, got)
			}
			if names := litter(t, w.Cwd); len(names) > 0 {
				t.Errorf("%s: left %v", step, names)
			}
		}
	}
}

// Goal: where there is no room, the error says so, the file is as it was and nothing is left.
func TestReplaceNoSpace(t *testing.T) {
	for _, linked := range []bool{false, true} {
		w := newWorld(t)
		path := w.put("f", strings.Repeat("old", 2000))
		if linked {
			if err := os.Link(path, w.path("other")); err != nil {
				t.Fatal(err)
			}
		}
		content := []byte(strings.Repeat("new", 100_000))
		e := editOf(t, path, content)
		if got := (child{Edit: e, Content: content, FileSize: 8192}).start(t); got != 4 {
			t.Errorf("linked %v: child ended with %d, want ErrNoSpace", linked, got)
		}
		if digestOf(t, path) != e.Pre || len(litter(t, w.Cwd)) > 0 {
			t.Errorf("linked %v: the file changed, or a temporary one is left", linked)
		}
		w.golden(EditFailed(e, ErrNoSpace), true, "no space left: CWD/f was not written (300000 bytes); the file is as it was. "+
			"Free space on its disk or raise the quota")
	}
}
