package task

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/command"
)

// A kill whose intent cannot be written down is an error, and signals nobody; once it can be, the intent says that a signal
// was sent.
func TestKillWithoutItsIntent(t *testing.T) {
	b := newBench(t)
	b.start(b.script("a", "echo up; sleep 600"))
	eventually(t, "it is up", func() bool { return b.output("a") != "" })
	intent := b.dirOf("a").path(intentName)
	if err := errors.Join(os.Remove(intent), os.MkdirAll(filepath.Join(intent, "in the way"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := b.Kill(context.Background(), testSession, "a", "user"); err == nil {
		t.Error("killed without an intent")
	}
	if st := b.state("a"); st.Status != command.Running {
		t.Errorf("it is %s", code(st))
	}
	if err := os.RemoveAll(intent); err != nil {
		t.Fatal(err)
	}
	if err := b.Kill(context.Background(), testSession, "a", "user"); err != nil {
		t.Fatal(err)
	}
	var rec intentRecord
	if err := readRecord(intent, &rec); err != nil || !rec.Sent || rec.By != "user" {
		t.Errorf("%+v, %v", rec, err)
	}
}

// A prepared directory of which something is missing is another command's: it is not started, and prepared anew.
func TestPreparedDirectoryWithoutItsPlan(t *testing.T) {
	b := newBench(t)
	long := counting + "\n#" + pad(maxInline)
	for name, text := range map[string]string{planName: counting, scriptName: long} {
		act := "without-" + name
		if err := b.Prepare(context.Background(), b.script(act, text)); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(b.dirOf(act).path(name)); err != nil {
			t.Fatal(err)
		}
		if err := b.Start(context.Background(), b.script(act, text)); !errors.Is(err, ErrClaimed) {
			t.Errorf("%s: %v", act, err)
		}
		if err := b.Prepare(context.Background(), b.script(act, text)); err != nil {
			t.Errorf("%s: prepared anew: %v", act, err)
		}
		b.start(b.script(act, text))
		if st := b.wait(act); code(st) != "exited 42" {
			t.Errorf("%s: %s", act, code(st))
		}
	}
	if n := b.count(); n != 2 {
		t.Errorf("ran %d times", n)
	}
}

func pad(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'x'
	}
	return string(b)
}

// Nobody else may look into the directory of a command, whatever the umask.
func TestFilesAreTheUsersAlone(t *testing.T) {
	old := unix.Umask(0)
	defer unix.Umask(old)
	b := newBench(t)
	spec := b.script("a", "cat; echo out; exit 3\n#"+pad(maxInline))
	spec.Stdin, spec.Capture = true, true
	if err := b.Prepare(context.Background(), spec); err != nil {
		t.Fatal(err)
	}
	private := func(when string) {
		t.Helper()
		err := filepath.WalkDir(b.Dir, func(path string, _ fs.DirEntry, err error) error {
			info, infoErr := os.Lstat(path)
			if err = errors.Join(err, infoErr); err == nil && path != b.Dir && info.Mode().Perm()&^0o600 != 0 && (!info.IsDir() || info.Mode().Perm()&^0o700 != 0) {
				t.Errorf("%s: %s has mode %s", when, path, info.Mode())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	private("prepared")
	b.start(spec)
	if err := b.CloseStdin(testSession, "a"); err != nil {
		t.Fatal(err)
	}
	if st := b.wait("a"); code(st) != "exited 3" {
		t.Errorf("%s", code(st))
	}
	b.left("a")
	private("ended")
}

// A stand-in that cannot be made whole is not made, and keeps no descriptor open.
func TestStandInWithoutItsDescriptors(t *testing.T) {
	dir := actDir(t.TempDir())
	s := &shim{path: dir, dir: dir, adopted: true} // with no handle of a command
	defer s.dismiss()
	if err := s.startStandby(nil); !errors.Is(err, fs.ErrNotExist) || s.standby != nil {
		t.Errorf("without a FIFO: %v", err)
	}
	if err := unix.Mkfifo(dir.path(fifoName), 0o600); err != nil {
		t.Fatal(err)
	}
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &was) }()
	for n := range uint64(3) { // null device, FIFO, pipe
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: standbyAway + n, Max: was.Max}); err != nil {
			t.Fatal(err)
		}
		if err := s.startStandby(nil); err == nil || s.standby != nil {
			t.Errorf("room for %d descriptors: %v", n, err)
		}
	}
}

// What is moved through a buffer lies where it belongs, and what the file refuses is counted.
func TestCopyBytes(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	pipe := int(r.Fd()) // once: it makes the pipe a blocking one
	if err := unix.SetNonblock(pipe, true); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "f")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if moved, lost, err := copyBytes(pipe, f, 2, 10); moved != 0 || lost != 0 || !errors.Is(err, unix.EAGAIN) {
		t.Errorf("empty: %d, %d, %v", moved, lost, err)
	}
	if _, err := w.WriteString("abcdefgh"); err != nil {
		t.Fatal(err)
	}
	if moved, lost, err := copyBytes(pipe, f, 2, 5); moved != 5 || lost != 0 || err != nil {
		t.Errorf("%d, %d, %v", moved, lost, err)
	}
	if got, err := os.ReadFile(name); string(got) != "\x00\x00abcde" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	closed, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer closed.Close()
	if moved, lost, err := copyBytes(pipe, closed, 0, 5); moved != 0 || lost != 3 || err == nil {
		t.Errorf("refused: %d, %d, %v", moved, lost, err)
	}
}
