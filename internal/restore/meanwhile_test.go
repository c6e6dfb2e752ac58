package restore

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/store"
)

// precious is what somebody writes while a restore runs. It must be somewhere afterwards.
const precious = "precious words of a person"

// meddling is what another program does to the directory while a restore runs.
type meddling struct {
	name string
	do   func(w *world, outside string)
	edit bool // it leaves precious words behind
	home string
}

var meddlings = []meddling{
	{name: "edits in place", edit: true, do: func(w *world, _ string) { overwrite(w.at("d/f")) }},
	{name: "saves anew", edit: true, do: func(w *world, _ string) {
		_ = os.WriteFile(w.at("d/f~"), []byte(precious), 0o600)
		_ = os.Rename(w.at("d/f~"), w.at("d/f"))
	}},
	{name: "makes what is to come", edit: true, do: func(w *world, _ string) { overwrite(w.at("d/new")) }},
	{name: "edits what is to go", edit: true, do: func(w *world, _ string) { overwrite(w.at("d/late")) }},
	{name: "adds to what is to go", edit: true, do: func(w *world, _ string) {
		_ = os.MkdirAll(w.at("e"), 0o755)
		overwrite(w.at("e/own"))
	}},
	{name: "deletes", do: func(w *world, _ string) { _ = os.Remove(w.at("d/f")) }},
	{name: "puts a link", do: func(w *world, out string) {
		for _, p := range []string{"d/f", "d/new", "d/late"} {
			_ = os.Remove(w.at(p))
			_ = os.Symlink(filepath.Join(out, "secret"), w.at(p))
		}
	}},
	{name: "puts a pipe", do: func(w *world, _ string) {
		for _, p := range []string{"d/f", "d/new", "d/late"} {
			_ = os.Remove(w.at(p))
			_ = unix.Mkfifo(w.at(p), 0o600)
		}
	}},
	{name: "puts a directory", edit: true, do: func(w *world, _ string) {
		_ = os.Remove(w.at("d/f"))
		_ = os.Mkdir(w.at("d/f"), 0o755)
		overwrite(w.at("d/f/in"))
	}},
	{name: "moves the directory", do: func(w *world, _ string) { _ = os.Rename(w.at("d"), w.at("moved")) }},
	{name: "takes the directory away", do: func(w *world, out string) { _ = os.Rename(w.at("d"), filepath.Join(out, "taken")) }, home: "taken"},
	{name: "puts a link for the directory", do: func(w *world, out string) {
		_ = os.Rename(w.at("d"), w.at("moved"))
		_ = os.Symlink(out, w.at("d"))
	}},
	{name: "puts a link inside for the directory", do: func(w *world, _ string) {
		_ = os.Rename(w.at("d"), w.at("moved"))
		_ = os.Symlink("safe", w.at("d"))
	}},
	{name: "puts a link for a directory that comes", do: func(w *world, out string) {
		_ = os.RemoveAll(w.at("c"))
		_ = os.Symlink(out, w.at("c"))
	}},
}

func overwrite(p string) { _ = os.WriteFile(p, []byte(precious), 0o644) }

// small is a scene with one of each kind of step.
func small(t testing.TB) (w *world, target store.Digest) {
	w = fastWorld(t)
	w.write("d/f", "v1").write("d/new", "v1").write("c/in", "v1").write("safe/f", "safe").write("safe/new", "safe")
	target = w.known()
	w.write("d/f", "v2").remove("d/new").remove("c").write("d/late", "v2").write("e/late", "v2")
	w.known()
	return w, target
}

// Whatever another program does, at whatever moment of a restore: nothing outside of the directory is written, nothing
// behind a link is read or written, and its own words are still there.
//
// A peer followed a link that was put in a directory's place; another one wrote over an edit that was made meanwhile.
func TestNothingThatHappensMeanwhileIsLostOrFollowed(t *testing.T) {
	for _, m := range meddlings {
		for name, mv := range map[string]mover{"swaps": {}, "no swap": {noExchange: true}} {
			t.Run(m.name+", "+name, func(t *testing.T) {
				for n, last := 0, false; !last; n++ {
					w, target := small(t)
					outside := t.TempDir()
					w.must(os.WriteFile(filepath.Join(outside, "secret"), []byte("v2"), 0o600))
					w.must(os.WriteFile(filepath.Join(outside, "f"), []byte("v2"), 0o600))
					w.must(os.WriteFile(filepath.Join(outside, "late"), []byte("v2"), 0o600))
					before := picture(t, outside)
					cfg, seen := w.config(mv), 0
					cfg.Fault = func(string, string) error {
						if seen++; seen-1 == n {
							m.do(w, outside)
						}
						return nil
					}
					j := w.start(w.plan(target), cfg)
					r, err := j.Run(context.Background())
					w.must(err)
					last = seen <= n
					after := picture(t, outside)
					for p := range after {
						if m.home != "" && within(p, m.home) {
							delete(after, p)
						}
					}
					delete(before, ".")
					delete(after, ".")
					same(t, "outside", after, before)
					w.has("safe/f", "safe")
					w.has("safe/new", "safe")
					w.lacks("safe/late")
					if m.edit && !last && !w.holds(precious) {
						t.Errorf("at step %d the words of a person are lost; kept %s", n, keptPaths(r.Kept))
					}
					w.must(j.Forget())
					w.clean()
					if t.Failed() {
						t.Fatalf("at step %d", n)
					}
				}
			})
		}
	}
}

// holds reports whether some file holds exactly that.
func (w *world) holds(content string) bool {
	found := false
	_ = filepath.WalkDir(w.root, func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			b, _ := os.ReadFile(p)
			found = found || string(b) == content
		}
		return nil
	})
	return found
}

// An edit that is made while a restore is killed, and before it goes on, is kept, too, on the way there and on the way
// back.
func TestAnEditBetweenAKillAndTheNextRunIsKept(t *testing.T) {
	for _, back := range []bool{false, true} {
		for _, m := range meddlings {
			if !m.edit {
				continue
			}
			for n, last := 0, false; !last; n++ {
				w, target := small(t)
				cfg := w.config(mover{})
				cfg.Fault, _ = killAt(n)
				j := w.start(w.plan(target), cfg)
				_, err := j.Run(context.Background())
				last = err == nil
				w.must(j.Close())
				m.do(w, "")
				j = w.again(w.config(mover{}))
				run := j.Run
				if back {
					run = j.Undo
				}
				r, err := run(context.Background())
				w.must(err)
				if !w.holds(precious) {
					t.Fatalf("%s, killed at %d, back %v: lost; kept %s", m.name, n, back, keptPaths(r.Kept))
				}
				w.must(j.Forget())
				w.clean()
			}
		}
	}
}

// What stayed on the way there is nothing that an undo would write beside: all is as before, with somebody's words in it.
func TestUndoLeavesNoCopiesOfItsOwn(t *testing.T) {
	for _, p := range []string{"d/f", "d/new", "d/late"} {
		w, target := small(t)
		before := w.picture()
		cfg := w.config(mover{})
		cfg.Fault = func(step, _ string) error {
			if step == "staged" {
				overwrite(w.at(p))
			}
			return nil
		}
		j := w.start(w.plan(target), cfg)
		r, err := j.Run(context.Background())
		w.must(err)
		if len(r.Kept) != 1 || r.Kept[0].Path != p {
			t.Errorf("%s: kept %+v", p, r.Kept)
		}
		_, err = j.Undo(context.Background())
		w.must(err)
		after := w.picture()
		w.has(p, precious)
		delete(before, p)
		delete(after, p)
		same(t, p, after, before)
	}
}

// A conflict that is found only while a restore runs leaves one copy beside the edit, however often it is killed from then
// on, and an undo takes that copy away again and leaves the edit.
func TestALateCopyIsMadeOnceAndTakenBack(t *testing.T) {
	for n, last := 0, false; !last; n++ {
		w, target := small(t)
		before := w.picture()
		cfg, seen := w.config(mover{}), -1
		cfg.Fault = func(step, at string) error {
			if step == "swap" && at == "d/f" && seen < 0 {
				overwrite(w.at("d/f"))
				seen = 0
			}
			if seen >= 0 {
				if seen++; seen-1 == n {
					return errStop
				}
			}
			return nil
		}
		j := w.start(w.plan(target), cfg)
		_, err := j.Run(context.Background())
		last = err == nil
		w.must(j.Close())
		j = w.again(w.config(mover{}))
		r, err := j.Run(context.Background())
		w.must(err)
		w.has("d/f", precious)
		w.has("d/f.perdure-conflict", "v1")
		w.lacks("d/f.perdure-conflict-2")
		if len(r.Kept) != 1 || r.Kept[0].Path != "d/f" || r.Kept[0].Copy != "d/f.perdure-conflict" || !r.Kept[0].Late {
			t.Errorf("killed at %d: kept %+v", n, r.Kept)
		}
		w.must(j.Close())
		j = w.again(w.config(mover{}))
		_, err = j.Undo(context.Background())
		w.must(err)
		after := w.picture()
		w.has("d/f", precious)
		delete(after, "d/f")
		delete(before, "d/f")
		same(t, "undone", after, before)
		w.must(j.Forget())
		w.clean()
		if t.Failed() {
			t.Fatalf("killed at %d", n)
		}
	}
}
