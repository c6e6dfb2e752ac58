package care_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/test/needs"
)

// Goal: a home on a read-only file system is named as such by whatever would change it, in one sentence, with what works
// there; what that advises does work.
func TestAReadOnlyHomeIsNamed(t *testing.T) {
	w := clitest.New(t)
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64m"); err != nil {
		needs.Not(t, "no filesystem of the test's own: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	at := func(home string) {
		w.Home = home
		w.App.Environ = append([]string{"PERDURE_HOME=" + home}, w.App.Environ[1:]...)
	}
	at(filepath.Join(dir, "home"))
	w.Create("s1")
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(w.Dir, "script.json")
	if err := os.WriteFile(script, []byte(`{"turns":[{"steps":[{"text":"hi"}]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	refused := func(args ...string) {
		t.Helper()
		o := w.Fails(app.ExitFailed, "perdure: the home "+w.Home+" is on a read-only file system: nothing can be kept there\n", args...)
		if strings.Contains(o.Stderr, "chmod") || strings.Contains(o.Stderr, "mkdir") || strings.Count(o.Stderr, "\n") != 2 {
			t.Errorf("%q: %s", args, o.Stderr)
		}
	}
	for _, args := range [][]string{
		{"-p", "--model", "scripted/" + script, "hi"},
		{"send", "s1", "hi"},
		{"rename", "s1", "x"},
		{"fork", "s1"},
		{"close", "s1"},
		{"delete", "-y", "s1"},
		{"task", "run", "--", "true"},
		{"memory", "add", "a fact"},
	} {
		refused(args...)
	}
	w.OK("list")
	w.OK("show", "s1")
	w.OK("log", "s1")
	w.OK("search", "hi")
	w.OK("backup", filepath.Join(t.TempDir(), "copy"))
	at(filepath.Join(dir, "not", "there"))
	refused("-p", "--model", "scripted/"+script, "hi")
}

// The file system of something else than the home is not called the home's.
func TestAnotherReadOnlyPlaceIsNotTheHome(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_RDONLY, "size=1m"); err != nil {
		needs.Not(t, "no filesystem of the test's own: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	o := w.Fails(app.ExitFailed, "read-only file system", "backup", filepath.Join(dir, "copy"))
	if strings.Contains(o.Stderr, "the home") {
		t.Errorf("%s", o.Stderr)
	}
}
