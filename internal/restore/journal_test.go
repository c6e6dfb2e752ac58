package restore

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

var update = flag.Bool("update", false, "write the frozen journal anew")

// begun is a world with a journal that was begun, and the path of its file.
func begun(t *testing.T) (w *world, j *Journal, file string) {
	w, target := small(t)
	j = w.start(w.plan(target), w.config(mover{}))
	w.must(j.Close())
	return w, j, filepath.Join(w.dir, j.ID+journalEnd)
}

// A journal is its user's alone, and one process at a time has it.
func TestAJournalIsItsUsersAndOneProcesss(t *testing.T) {
	w, j, file := begun(t)
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(w.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	one, err := Open(w.dir, j.ID, w.config(mover{}))
	w.must(err)
	if _, err := Open(w.dir, j.ID, w.config(mover{})); !errors.Is(err, ErrBusy) {
		t.Errorf("a second one: %v", err)
	}
	w.must(one.Close())
	w.must(one.Close())
	if _, err := Begin(w.dir, w.root, j.Plan, w.config(mover{})); !errors.Is(err, ErrPending) {
		t.Errorf("another restore was begun over it: %v", err)
	}
	for _, id := range []string{"", "../x", strings.Repeat("0", 16), strings.ToUpper(j.ID) + "g"} {
		if _, err := Open(w.dir, id, w.config(mover{})); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", id, err)
		}
	}
	w.must(os.Symlink(file, filepath.Join(w.dir, strings.Repeat("1", 16)+journalEnd)))
	if _, err := Open(w.dir, strings.Repeat("1", 16), w.config(mover{})); err == nil {
		t.Error("a link was opened for a journal")
	}
}

// What is read back is what was planned, names that are no text included.
func TestAJournalHoldsThePlan(t *testing.T) {
	w, target := scene(t)
	p := w.plan(target)
	w.must(w.start(p, w.config(mover{})).Close())
	got := w.again(w.config(mover{})).Plan
	if got.String() != p.String() || keptPaths(got.Kept) != keptPaths(p.Kept) || got.Need != p.Need || len(got.ops) != len(p.ops) || got.Target != target {
		t.Fatalf("%s: %+v\nwant %s: %+v", got, got, p, p)
	}
	for i := range p.ops {
		a, b := got.ops[i], p.ops[i]
		if a.Path != b.Path || !entriesEqual(a.From, b.From) || !entriesEqual(a.To, b.To) || a.Copy != b.Copy || a.Open != b.Open {
			t.Errorf("%q: %+v, want %+v", b.Path, a, b)
		}
	}
}

func entriesEqual(a, b *tree.Entry) bool { return a == b || a != nil && b != nil && *a == *b }

// A kill while the journal is written leaves the beginning of one: nothing was done by it, and it can be taken away. A
// damaged one is left to people; nothing is done by it either.
func TestATornJournalGoesADamagedOneStays(t *testing.T) {
	_, _, file := begun(t)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSuffix(filepath.Base(file), journalEnd)
	for n := 0; n < len(whole); n += 1 + n/40 {
		dir := t.TempDir()
		must(0, os.WriteFile(filepath.Join(dir, id+journalEnd), whole[:n], 0o600))
		if _, err := Open(dir, id, Config{}); !errors.Is(err, ErrJournal) {
			t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
		if err := Discard(dir, id); err != nil || len(must(Pending(dir))) > 0 {
			t.Fatalf("%d of %d bytes stay: %v", n, len(whole), err)
		}
	}
	for n := 0; n < len(whole); n += 1 + n/40 {
		dir := t.TempDir()
		bad := bytes.Clone(whole)
		bad[n] ^= 0x20
		must(0, os.WriteFile(filepath.Join(dir, id+journalEnd), bad, 0o600))
		j, err := Open(dir, id, Config{})
		if err == nil {
			t.Fatalf("byte %d is another and it is opened: %s", n, j.Root())
		}
		if !errors.Is(err, ErrJournal) {
			t.Fatalf("byte %d: %v", n, err)
		}
	}
	dir := t.TempDir()
	later := bytes.Replace(whole, []byte(" 1 "), []byte(" 2 "), 1)
	must(0, os.WriteFile(filepath.Join(dir, id+journalEnd), later, 0o600))
	if err := Discard(dir, id); !errors.Is(err, ErrJournal) || len(must(Pending(dir))) != 1 {
		t.Errorf("one of a later version: %v", err)
	}
	if err := Discard(filepath.Dir(file), id); !errors.Is(err, ErrPending) {
		t.Errorf("a whole one is taken away: %v", err)
	}
}

// A torn frame behind the plan was never acted on: it is cut off, and what follows is written in its place.
func TestATornEndIsCutOff(t *testing.T) {
	w, j, file := begun(t)
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	w.must(err)
	turned, err := encodeFrame(frame{Turn: &turn{Undo: true}})
	w.must(err)
	_, err = f.Write(turned[:len(turned)-3])
	w.must(err)
	w.must(f.Close())
	j, err = Open(w.dir, j.ID, w.config(mover{}))
	w.must(err)
	if j.Undoing() {
		t.Error("half a word turned it round")
	}
	_, err = j.Run(context.Background())
	w.must(err)
	w.must(j.Close())
	if _, done := w.again(w.config(mover{})).Done(); !done {
		t.Error("what was written behind it is not read")
	}
}

// A directory that is not the one of the plan is left alone: one that was put in its place, or is gone.
func TestAnotherDirectoryInItsPlaceIsLeftAlone(t *testing.T) {
	w, _, _ := begun(t)
	w.must(os.Rename(w.root, w.root+".away"))
	w.must(os.Mkdir(w.root, 0o755))
	w.write("d/f", "v2")
	before := w.picture()
	j := w.again(w.config(mover{}))
	if _, err := j.Run(context.Background()); !errors.Is(err, ErrMoved) {
		t.Errorf("%v", err)
	}
	same(t, "the other directory", w.picture(), before)
	w.must(os.Rename(w.root, w.root+".other"))
	w.must(os.Rename(w.root+".away", w.root))
	if err := j.GiveUp(t.Context()); !errors.Is(err, ErrPending) {
		t.Errorf("its directory is there again, and it is given up: %v", err)
	}
	w.must(os.Rename(w.root, w.root+".away"))
	if err := j.GiveUp(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing is there, and it is given up: %v", err)
	}
	if _, err := j.Run(context.Background()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	w.must(os.Rename(w.root+".away", w.root))
	_, err := j.Run(context.Background())
	w.must(err)
	w.has("d/f", "v1")
}

// A journal of today is read by every later version.
func TestTheJournalsFormIsFrozen(t *testing.T) {
	const file = "testdata/journal-v1"
	if *update {
		link := tree.Entry{Name: "l\xff", Kind: tree.Link, Mode: 0o777, MTime: 5, Target: "t"}
		f := tree.Entry{Name: "f", Kind: tree.File, Mode: 0o644, Size: 1, MTime: 9, Digest: store.Sum([]byte("x"))}
		p := &Plan{Base: store.Sum(nil), Need: 7, ops: []op{{Path: "f", From: &f}, {Path: "d/l\xff", To: &link, Copy: true}}}
		p.Kept = []Kept{{Path: "k\xff", Why: Edited, Copy: "c"}}
		rec := must(p.record("/root\xff", seen{dev: 3, ino: 4, mode: 0o755}))
		var b []byte
		for _, fr := range []frame{{Plan: rec}, {Copy: &besideFrame{Path: []byte("a\xff"), Copy: []byte("b")}}, {Turn: &turn{Undo: true}}, {Done: (&Report{Undone: true, Deleted: 2}).record()}} {
			b = append(b, must(encodeFrame(fr))...)
		}
		must(0, os.MkdirAll("testdata", 0o755))
		must(0, os.WriteFile(file, b, 0o600))
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir, id := t.TempDir(), strings.Repeat("a", 16)
	must(0, os.WriteFile(filepath.Join(dir, id+journalEnd), b, 0o600))
	j := must(Open(dir, id, Config{}))
	r, done := j.Done()
	if !done || !r.Undone || r.Deleted != 2 || !j.Undoing() || j.Root() != "/root\xff" || len(j.before) != 1 || string(j.before[0].Path) != "a\xff" {
		t.Errorf("%+v, %v", r, j)
	}
	p := j.Plan
	if len(p.ops) != 2 || p.ops[1].To.Name != "l\xff" || !p.ops[1].Copy || p.ops[0].From.MTime != 9 || p.Kept[0].Path != "k\xff" || p.Need != 7 || len(p.Changes) != 1 {
		t.Errorf("%+v", p)
	}
}

// No bytes make a journal that leads out of its directory or brings the reader down.
func FuzzJournal(f *testing.F) {
	if b, err := os.ReadFile("testdata/journal-v1"); err == nil {
		f.Add(b)
		_, body, _ := bytes.Cut(b, []byte("\n"))
		line, _, _ := bytes.Cut(body, []byte("\n"))
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, in := range [][]byte{b, framed(b)} {
			fr, n, err := nextFrame(in)
			if err != nil || n == 0 || fr.Plan == nil {
				continue
			}
			p, err := fr.Plan.plan()
			if err != nil {
				continue
			}
			for i := range p.ops {
				if offLimits(p.ops[i].Path) != "" {
					t.Fatalf("%q was taken", p.ops[i].Path)
				}
			}
		}
	})
}

// framed puts a whole head before any body.
func framed(body []byte) []byte {
	head := []byte(frameMagic + " 1 ")
	return append(append(head, []byte(strconv.Itoa(len(body))+" "+store.Sum(body).String()+"\n")...), body...)
}
