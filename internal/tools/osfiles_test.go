package tools

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Goal: a file that changes at any moment before the rename is not overwritten, a new one that appears neither.
func TestReplaceChanged(t *testing.T) {
	for _, fresh := range []bool{false, true} {
		for _, step := range renameSteps[:7] {
			w := newWorld(t)
			path := w.path("f")
			if !fresh {
				w.put("f", "before\n")
			}
			e := editOf(t, path, []byte("after\n"))
			err := OSFiles{Fault: func(s string) error {
				if s == step {
					w.put("f", "somebody else's\n")
				}
				return nil
			}}.Replace(e, []byte("after\n"))
			if !errors.Is(err, ErrChanged) || w.get("f") != "somebody else's\n" {
				t.Errorf("fresh %v, %s: %v, %q", fresh, step, err, w.get("f"))
			}
			if names := litter(t, w.Cwd); len(names) > 0 {
				t.Errorf("%s: left %v", step, names)
			}
		}
	}
	// A hard-linked file that changes before the check is not overwritten either.
	for _, step := range placeSteps[:3] {
		w := newWorld(t)
		path := w.put("f", "before\n")
		if err := os.Link(path, w.path("other")); err != nil {
			t.Fatal(err)
		}
		e := editOf(t, path, []byte("after\n"))
		err := OSFiles{Fault: func(s string) error {
			if s == step {
				w.put("f", "somebody else's\n")
			}
			return nil
		}}.Replace(e, []byte("after\n"))
		if !errors.Is(err, ErrChanged) || w.get("f") != "somebody else's\n" {
			t.Errorf("linked, %s: %v, %q", step, err, w.get("f"))
		}
	}
	// A new file may appear even after the last check: the rename itself sees it.
	w := newWorld(t)
	e := editOf(t, w.path("f"), []byte("x"))
	err := OSFiles{Fault: func(s string) error {
		if s == StepRename {
			w.put("f", "theirs")
		}
		return nil
	}}.Replace(e, []byte("x"))
	if !errors.Is(err, ErrChanged) || w.get("f") != "theirs" {
		t.Errorf("%v, %q", err, w.get("f"))
	}
}

// Goal: what became a symlink, a directory or a pipe, or is gone, is not written through.
func TestReplaceOtherKinds(t *testing.T) {
	for name, swap := range map[string]func(path string) error{
		"symlink":   func(p string) error { return os.Symlink("elsewhere", p) },
		"directory": func(p string) error { return os.Mkdir(p, 0o755) },
		"pipe":      func(p string) error { return unix.Mkfifo(p, 0o600) },
		"gone":      func(string) error { return nil },
	} {
		w := newWorld(t)
		path := w.put("f", "before\n")
		w.put("elsewhere", "before\n")
		e := editOf(t, path, []byte("after\n"))
		if err := errors.Join(os.Remove(path), swap(path)); err != nil {
			t.Fatal(err)
		}
		err := OSFiles{}.Replace(e, []byte("after\n"))
		if !errors.Is(err, ErrChanged) && !errors.Is(err, ErrNotRegular) || w.get("elsewhere") != "before\n" {
			t.Errorf("%s: %v", name, err)
		}
	}
	w := newWorld(t)
	e := editOf(t, w.path("f"), []byte("x"))
	if err := (OSFiles{}).Replace(e, []byte("y")); err == nil {
		t.Error("a content that is not the edit's is written")
	}
	e.Path = "f"
	if err := (OSFiles{}).Replace(e, []byte("x")); err == nil {
		t.Error("a relative path is written")
	}
}

// Goal: the new content is synced before it gets its name, the name after, and new directories from the top; an error
// of the first sync leaves the old content.
func TestReplaceSyncs(t *testing.T) {
	w := newWorld(t)
	path := w.path("a/b/f")
	var order []string
	note := func(f *os.File) error {
		what := strings.TrimPrefix(f.Name(), w.Cwd)
		if strings.Contains(what, tempPrefix) {
			b, err := os.ReadFile(f.Name())
			what = fmt.Sprintf("temp %q %v", b, err)
		}
		_, err := os.Stat(path)
		order = append(order, fmt.Sprintf("%s made=%v", what, err == nil))
		return f.Sync()
	}
	if err := (OSFiles{Sync: note}).Replace(editOf(t, path, []byte("new")), []byte("new")); err != nil {
		t.Fatal(err)
	}
	want := " made=false|/a made=false|temp \"new\" <nil> made=false|/a/b made=true"
	if got := strings.Join(order, "|"); got != want {
		t.Errorf("order: %s, want %s", got, want)
	}
	e := editOf(t, path, []byte("newer"))
	err := OSFiles{Sync: func(*os.File) error { return unix.EIO }}.Replace(e, []byte("newer"))
	if !errors.Is(err, unix.EIO) || w.get("a/b/f") != "new" || len(litter(t, w.path("a/b"))) > 0 {
		t.Errorf("%v, %q", err, w.get("a/b/f"))
	}
}

// Goal: an edit that is made already is made again without harm.
func TestReplaceTwice(t *testing.T) {
	w := newWorld(t)
	path := w.put("f", "before\n")
	e := editOf(t, path, []byte("after\n"))
	for range 3 {
		if err := (OSFiles{}).Replace(e, []byte("after\n")); err != nil || w.get("f") != "after\n" {
			t.Errorf("%v, %q", err, w.get("f"))
		}
	}
}

// Goal: of many edits of one file at once exactly one wins each round, no content is mixed and nothing is left; a
// sweep never takes away a temporary file in use.
func TestReplaceAtOnce(t *testing.T) {
	w := newWorld(t)
	path := w.put("f", "start")
	for round := range 20 {
		var wg sync.WaitGroup
		var mu sync.Mutex
		won := map[string]bool{}
		pre, info, err := OSFiles{}.Read(path, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			content := []byte(fmt.Sprintf("%d.%d", round, i))
			e := *change(path, info, pre, content)
			other := w.path(fmt.Sprintf("own%d", i))
			own := editOf(t, other, content)
			wg.Go(func() {
				switch err := (OSFiles{}).Replace(e, content); {
				case err == nil:
					mu.Lock()
					won[string(content)] = true
					mu.Unlock()
				case !errors.Is(err, ErrChanged):
					t.Error(err)
				}
				if err := (OSFiles{}).Replace(own, content); err != nil {
					t.Errorf("an edit beside it failed: %v", err)
				}
			})
		}
		wg.Wait()
		if !won[w.get("f")] {
			t.Errorf("round %d: holds %q, winners %v", round, w.get("f"), won)
		}
	}
	if names := litter(t, w.Cwd); len(names) > 0 {
		t.Errorf("left %v", names)
	}
}

// Goal: owner, extended attributes and mode of the file go over to the new content.
func TestReplaceKeeps(t *testing.T) {
	w := newWorld(t)
	path := w.put("f", "before\n")
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	attributes := unix.Setxattr(path, "user.note", []byte("kept"), 0) == nil
	root := os.Geteuid() == 0
	if root {
		if err := os.Chown(path, 1234, 2345); err != nil {
			t.Fatal(err)
		}
	}
	e := editOf(t, path, []byte("after\n"))
	if err := (OSFiles{}).Replace(e, []byte("after\n")); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil || st.Mode&0o777 != 0o600 {
		t.Errorf("mode %o, %v", st.Mode, err)
	}
	if root && (st.Uid != 1234 || st.Gid != 2345) {
		t.Errorf("owner %d:%d", st.Uid, st.Gid)
	}
	value := make([]byte, 10)
	if n, err := unix.Getxattr(path, "user.note", value); attributes && (err != nil || string(value[:n]) != "kept") {
		t.Errorf("attribute %q, %v", value, err)
	}
}

// Goal: a sweep takes only temporary files of edits that no process holds.
func TestSweep(t *testing.T) {
	w := newWorld(t)
	dir, err := openDir(w.Cwd, unix.O_RDONLY)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	held, err := createTemp(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	w.put(tempPrefix+"1-1"+tempSuffix, "stale")
	w.put(tempPrefix+"other", "not ours")
	w.put("notes.tmp", "not ours")
	if err := os.Mkdir(w.path(tempPrefix+"d"+tempSuffix), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("notes.tmp", w.path(tempPrefix+"l"+tempSuffix)); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(w.path(tempPrefix+"p"+tempSuffix), 0o600); err != nil {
		t.Fatal(err)
	}
	sweep(dir)
	list, err := os.ReadDir(w.Cwd)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range list {
		names = append(names, d.Name())
	}
	if len(names) != 6 || strings.Contains(strings.Join(names, " "), "1-1") {
		t.Errorf("left: %v", names)
	}
}

// Goal: bounded reads, whole digests and what is known of files that are there and that are not.
func TestOSFilesRead(t *testing.T) {
	w := newWorld(t)
	path := w.put("f", "content")
	b, info, err := OSFiles{}.Read(path, 4)
	if err != nil || string(b) != "cont" || !info.Exists || info.Size != 7 || info.Links != 1 || info.Mode != 0o644 || info.Mtime == 0 {
		t.Errorf("%q, %+v, %v", b, info, err)
	}
	d, _, err := OSFiles{}.Digest(path)
	if err != nil || d != store.Sum([]byte("content")) {
		t.Errorf("digest %s, %v", d, err)
	}
	d, info, err = OSFiles{Umask: func() uint32 { return 0o077 }}.Digest(w.path("none"))
	if err != nil || !d.IsZero() || info.Exists || info.Mode != 0o600 {
		t.Errorf("missing: %s, %+v, %v", d, info, err)
	}
	if _, info, err = (OSFiles{}).Read(w.Cwd, 0); err != nil || !info.Dir {
		t.Errorf("directory: %+v, %v", info, err)
	}
	if m := (OSFiles{}).umask(); m > 0o777 {
		t.Errorf("umask %o", m)
	}
	// Files of the kernel have no size, and some would wait for ever.
	if b, _, err := (OSFiles{}).Read(fmt.Sprintf("/proc/%d/status", os.Getpid()), 0); err != nil || !bytes.Contains(b, []byte("Name:")) {
		t.Errorf("proc: %d bytes, %v", len(b), err)
	}
}

// Goal: a write into what can't be written says so.
func TestEditFailedWords(t *testing.T) {
	w := newWorld(t)
	e := session.Edit{Path: w.path("f"), Size: 3}
	w.golden(EditFailed(e, fmt.Errorf("x: %w", ErrChanged)), true, "CWD/f changed while the edit was made; nothing was written. Read it again")
	w.golden(EditFailed(e, &os.PathError{Op: "open", Path: "/d/t", Err: unix.EACCES}), true, "CWD/f was not written: open /d/t: permission denied")
	w.golden(EditFailed(e, &os.LinkError{Op: "rename", Old: "a", New: "b", Err: unix.EBUSY}), true,
		"CWD/f was not written: it is a mount of its own, as files given to a container are; change it with a command")
	w.golden(EditFailed(e, unsettled(unix.ENOSPC)), true,
		"CWD/f may have been written or not: outcome unsettled: no space left on device. Read it before going on")
}

// Goal: an edit that a crash left made but perhaps not durable is synced, content and name, when it is made again.
func TestReplaceOfAMadeEditSyncs(t *testing.T) {
	w := newWorld(t)
	path := w.put("f", "before\n")
	e := editOf(t, path, []byte("after\n"))
	w.put("f", "after\n")
	var synced []string
	note := func(f *os.File) error {
		synced = append(synced, strings.TrimPrefix(f.Name(), w.Cwd))
		return f.Sync()
	}
	if err := (OSFiles{Sync: note}).Replace(e, []byte("after\n")); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%q", synced); got != `["/f" ""]` {
		t.Errorf("synced %s, want the file, then its directory", got)
	}
}

// Goal: a file that got a second name after its edit was prepared keeps both: it is written in place, or not at all.
func TestReplaceOfAFileThatGotASecondName(t *testing.T) {
	for _, step := range renameSteps[:7] {
		w := newWorld(t)
		path := w.put("f", "before\n")
		e := editOf(t, path, []byte("after\n"))
		err := OSFiles{Fault: func(s string) error {
			if s == step {
				return os.Link(path, w.path("other"))
			}
			return nil
		}}.Replace(e, []byte("after\n"))
		switch {
		case w.get("f") != w.get("other"):
			t.Errorf("%s: the names lead to two files", step)
		case err != nil && (step == StepMkdir || step == StepSweep):
			t.Errorf("%s: it is not written in place: %v", step, err)
		case err == nil && w.get("f") != "after\n", err != nil && (!errors.Is(err, ErrChanged) || w.get("f") != "before\n"):
			t.Errorf("%s: %v, %q", step, err, w.get("f"))
		}
	}
}

// Goal: a directory that is moved away while a file in it is written, and another put in its place, gets nothing: the
// path was decided about, not the directory.
func TestReplaceInADirectoryThatMoved(t *testing.T) {
	for _, linked := range []bool{false, true} {
		w := newWorld(t)
		path := w.put("d/f", "before\n")
		if linked {
			if err := os.Link(path, w.path("second")); err != nil {
				t.Fatal(err)
			}
		}
		e := editOf(t, path, []byte("after\n"))
		err := OSFiles{Fault: func(s string) error {
			if s != StepCheck {
				return nil
			}
			err := os.Rename(w.path("d"), w.path("hooks"))
			w.put("d/f", "before\n")
			return err
		}}.Replace(e, []byte("after\n"))
		if !errors.Is(err, ErrChanged) || w.get("hooks/f") != "before\n" || w.get("d/f") != "before\n" {
			t.Errorf("linked %v: %v, %q, %q", linked, err, w.get("hooks/f"), w.get("d/f"))
		}
	}
}
