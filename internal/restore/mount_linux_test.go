package restore

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/test/needs"
)

// Where something else is mounted, nothing can be swapped with the staging directory: what lies there stays and is named,
// the rest is restored, and the restore comes to its end.
func TestAMountInsideIsNamedAndTheRestRestored(t *testing.T) {
	w := newWorld(t)
	w.write("a", "v1").mkdir("m")
	if err := unix.Mount("tmpfs", w.at("m"), "tmpfs", 0, "size=1m"); err != nil {
		needs.Not(t, "the right to mount: %v", err)
		return
	}
	t.Cleanup(func() { _ = unix.Unmount(w.at("m"), unix.MNT_DETACH) })
	w.write("m/f", "v1").write("m/new", "v1")
	target := w.known()
	w.write("a", "v2").write("m/f", "v2").remove("m/new").write("m/late", "v2")
	w.known()
	before := w.picture()
	p := w.plan(target)
	j := w.start(p, w.config(mover{}))
	r, err := j.Run(t.Context())
	w.must(err)
	w.has("a", "v1")
	w.has("m/f", "v2")
	w.has("m/late", "v2")
	if strings.Count(keptPaths(r.Kept), string(Forbidden)) != 3 || r.Modified != 1 {
		t.Errorf("%+v", r)
	}
	_, err = j.Undo(t.Context())
	w.must(err)
	same(t, "undone", w.picture(), before)
	w.must(j.Forget())
	w.clean()
}
