package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/test/needs"
)

// Goal: where the disk has no room for what undo must write down first, it says so at once, and nothing else: no plan that
// a person reads, agrees to and sees fail. With room again it does its work.
func TestUndoOnAFullDiskSaysSoFirst(t *testing.T) {
	p := newProject(t)
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=96m"); err != nil {
		needs.Not(t, "no filesystem of the test's own: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	p.Home = filepath.Join(disk, "home")
	p.App.Environ = append([]string{"PERDURE_HOME=" + p.Home}, p.App.Environ...)
	p.write("kept.txt", "as it was\n")
	p.run(p.Scripted(script(t, map[string]string{"go": "echo changed > kept.txt"})), "go")
	after := p.files()
	fill := filepath.Join(disk, "fill")
	f, err := os.Create(fill)
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 64<<10)
	for err == nil {
		_, err = f.Write(block)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, asks := range []bool{false, true} {
		for _, args := range [][]string{{"undo", "s"}, {"undo", "s", "--yes"}} {
			p.App.Asks, p.App.Stdin = asks, strings.NewReader("y\n")
			o := p.Fails(app.ExitFailed, "disk is full, nothing was written", args...)
			if strings.Contains(o.Stdout+o.Stderr, "kept.txt") || strings.Contains(o.Stderr, "do it?") || !strings.Contains(o.Stderr, "free space on the disk that holds PERDURE_HOME") {
				t.Errorf("asks %v, %q: %+v", asks, args, o)
			}
		}
	}
	if o := p.Run("undo", "s", "--dry-run"); o.Code != 0 || !strings.Contains(o.Stdout, "~ kept.txt") {
		t.Errorf("a look: %+v", o)
	}
	p.same("nothing was changed", after)
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	p.OK("undo", "s", "--yes")
	if got := p.files()["kept.txt"]; !strings.HasSuffix(got, "as it was\n") {
		t.Errorf("with room: %s", got)
	}
}
