package restore

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// first fills a directory with one of everything.
func first(w *world) {
	w.write("a.txt", "one").old("a.txt", 1000)
	w.write("run.sh", "#!/bin/sh\n").mode("run.sh", 0o755).old("run.sh", 2000)
	w.write("sub/deep/b.txt", strings.Repeat("deep ", 5000)).write("sub/c.txt", "c")
	w.write("gone/x", "x").write("gone/y/z", "z").mkdir("empty").mkdir("gone/hollow")
	w.link("a.txt", "link").link("/nowhere/at all", "dangling")
	w.write("readonly/r.txt", "r").mode("readonly/r.txt", 0o444).mode("readonly", 0o555)
	w.write("turns/into/file", "t").write("file", "f").mkdir("modes").mode("modes", 0o750)
	w.write("bad\xff\nname", "odd").write("-rf", "dash").write("x.perdure-conflict", "mine").write("blank", "")
}

// second changes all of it, by edits, deletions, moves, modes and replacements.
func second(w *world) {
	w.write("a.txt", "two").mode("run.sh", 0o644).write("sub/deep/b.txt", "short").remove("gone").remove("empty")
	w.remove("link").link("sub", "link").remove("dangling").write("dangling", "a file now").write("new/n", "n")
	w.mode("readonly", 0o755).remove("readonly/r.txt").write("readonly/s.txt", "s").mode("readonly", 0o500)
	w.remove("turns").write("turns", "a file").remove("file").write("file/inside", "i").mode("modes", 0o700)
	w.rename("bad\xff\nname", "moved\xff").remove("-rf").write("x.perdure-conflict", "other").write("blank", "full")
	w.mkdir("hollow").link("x", "newlink")
}

// Whatever the session did, a restore brings back exactly what was: contents, modes, links, empty directories and times;
// and restoring what was before it brings that back.
//
// A peer's restore brought back edits of its own edit tool only; changes by the shell, deletions and moves stayed.
func TestARestoreBringsBackExactlyWhatWas(t *testing.T) {
	w := newWorld(t)
	first(w)
	target, before := w.known(), w.picture()
	second(w)
	changed, after := w.known(), w.picture()
	p, r := w.restore(target)
	same(t, "restored", w.picture(), before)
	if len(r.Kept) > 0 {
		t.Errorf("kept %s", keptPaths(r.Kept))
	}
	if a, m, d, _ := p.Counts(); a != r.Added || m != r.Modified || d != r.Deleted || a == 0 || m == 0 || d == 0 {
		t.Errorf("planned %s, did %+v", p, r)
	}
	w.known()
	w.restore(changed)
	same(t, "and back", w.picture(), after)
}

// The plan names every path that becomes another, and no other; what is listed is what happens.
//
// A peer listed nothing, and files that it did not list were gone.
func TestThePlanListsEveryChange(t *testing.T) {
	w := newWorld(t)
	first(w)
	target, before := w.known(), w.picture()
	second(w)
	w.known()
	after := w.picture()
	var want, got []string
	for _, p := range slices.Concat(slices.Collect(maps.Keys(before)), slices.Collect(maps.Keys(after))) {
		if before[p] != after[p] {
			want = append(want, p)
		}
	}
	for _, c := range w.plan(target).Changes {
		got = append(got, c.Path)
		_, was := after[c.Path]
		_, will := before[c.Path]
		verb := map[[2]bool]Verb{{false, true}: Added, {true, true}: Modified, {true, false}: Deleted}[[2]bool{was, will}]
		if c.Verb() != verb {
			t.Errorf("%q is said to be %s, it is %s", c.Path, c.Verb(), verb)
		}
	}
	slices.Sort(want)
	if want = slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("listed %q\nwant   %q", got, want)
	}
}

// A restore to what is there has nothing to do, says so, and touches nothing: no file, no time, no directory.
//
// A peer's undo of a turn without changes destroyed the working tree.
func TestNothingToRestoreTouchesNothing(t *testing.T) {
	w := newWorld(t)
	first(w)
	target := w.known()
	before := w.picture()
	info, err := os.Stat(w.root)
	w.must(err)
	p := w.plan(target)
	if !p.Nothing() || len(p.Changes) != 0 || p.Need != 0 || !strings.Contains(p.String(), "nothing to restore") {
		t.Errorf("planned %s, %+v", p, p.Changes)
	}
	if r := w.run(p); r.Added+r.Modified+r.Deleted+len(r.Kept) != 0 {
		t.Errorf("did %+v", r)
	}
	same(t, "after nothing", w.picture(), before)
	if now, err := os.Stat(w.root); err != nil || !now.ModTime().Equal(info.ModTime()) {
		t.Errorf("the directory was written to: %v, %v", now.ModTime(), err)
	}
	if w.plan(target, force).Nothing() == false {
		t.Error("force finds something to do")
	}
}

// What somebody else edited since stays, and the wanted version lies beside it; what was deleted stays deleted, with the
// wanted version beside; a new file stays. The rest is restored, and the report names each.
//
// A peer's restore in one session wiped what other agents had done in the same directory since.
func TestOtherPeoplesWorkStays(t *testing.T) {
	w := newWorld(t)
	w.write("edited", "v1").write("deleted", "v1").write("plain", "v1").write("untouched", "v1").write("dropped", "v1")
	w.link("v1", "link").write("x/there", "v1")
	target := w.known()
	w.write("edited", "v2").write("deleted", "v2").write("plain", "v2").remove("link").link("v2", "link").write("late", "v2").remove("x")
	w.known()
	w.write("edited", "mine").remove("deleted").write("untouched", "mine").write("new", "mine").remove("link").link("mine", "link")
	w.write("late", "mine").write("edited.perdure-conflict", "taken").remove("dropped").write("x", "a file of mine")
	p, r := w.restore(target)
	w.has("edited", "mine")
	w.has("edited.perdure-conflict", "taken")
	w.has("edited.perdure-conflict-2", "v1")
	w.lacks("deleted")
	w.has("deleted.perdure-conflict", "v1")
	w.has("plain", "v1")
	w.has("untouched", "mine")
	w.has("new", "mine")
	w.has("late", "mine") // the session made it, and another one edited it: it is not deleted
	w.has("x", "a file of mine")
	w.lacks("dropped")
	if to, err := os.Readlink(w.at("link")); to != "mine" {
		t.Errorf("link leads to %q, %v", to, err)
	}
	if to, err := os.Readlink(w.at("link.perdure-conflict")); to != "v1" {
		t.Errorf("its other version leads to %q, %v", to, err)
	}
	const want = "deleted: it was deleted since by somebody else; edited: it was changed since by somebody else; " +
		"late: it was changed since by somebody else; link: it was changed since by somebody else; " +
		"x: it is a directory on one side and not on the other, and something in it stays; " +
		"x/there: it was deleted since by somebody else"
	if got := keptPaths(r.Kept); got != want || keptPaths(p.Kept) != want || r.Modified != 1 {
		t.Errorf("kept %s\nwant %s\nplan %s", got, want, keptPaths(p.Kept))
	}
}

// With force conflicts go the target's way; files that no tree of the session has stay even then.
func TestForceTakesTheTargetsSide(t *testing.T) {
	w := newWorld(t)
	w.write("edited", "v1").write("deleted", "v1").write("d/f", "v1").write("was", "file")
	target := w.known()
	w.write("edited", "v2").write("deleted", "v2").write("d/f", "v2").write("late/l", "v2").remove("was").write("was/in", "v2")
	w.known()
	w.write("edited", "mine").remove("deleted").write("late/l", "mine").write("late/own", "mine").write("was/own", "mine")
	_, r := w.restore(target, force)
	w.has("edited", "v1")
	w.has("deleted", "v1")
	w.lacks("late/l")
	w.has("late/own", "mine")
	w.has("was/own", "mine")
	w.has("was/in", "v2")
	w.lacks("edited.perdure-conflict")
	if got, want := keptPaths(r.Kept), "was: "+string(InTheWay)+"; was/in: "+string(InTheWay); got != want {
		t.Errorf("kept %s", got)
	}
}

// What was not captured could not be brought back: it is not taken away, not overwritten, and it is named.
func TestWhatIsNotCapturedIsNotTakenAway(t *testing.T) {
	w := newWorld(t)
	w.write("src", "v1")
	target := w.known()
	w.write("d/big", "huge").write("d/small", "v2").write("src", "v2")
	w.must(unix.Mkfifo(w.at("d/pipe"), 0o600))
	base := w.capture()
	// The capture left the big one out.
	small, err := tree.Find(w, base, "d/small")
	w.must(err)
	pipe, err := tree.Find(w, base, "d/pipe")
	w.must(err)
	src, err := tree.Find(w, base, "src")
	w.must(err)
	enc := func(e ...tree.Entry) store.Digest {
		b, err := tree.Encode(e)
		w.must(err)
		return w.keep(b)
	}
	d := enc(small, pipe, tree.Entry{Name: "big", Kind: tree.File, Flags: tree.Skipped, Mode: 0o644, Size: 4, MTime: 1})
	now := enc(src, tree.Entry{Name: "d", Kind: tree.Dir, Mode: 0o755, Digest: d})
	w.base = now
	p := w.plan(target, func(in *Input) { in.Now = now })
	r := w.run(p)
	w.has("d/big", "huge")
	w.lacks("d/small")
	w.has("src", "v1")
	if s, err := os.Lstat(w.at("d/pipe")); err != nil || s.Mode()&fs.ModeNamedPipe == 0 {
		t.Errorf("the pipe: %v, %v", s, err)
	}
	if got := keptPaths(r.Kept); strings.Count(got, string(NotCaptured)) != 2 {
		t.Errorf("kept %s", got)
	}
	// The other way round, it is said that there is nothing to restore it from.
	w.base = w.capture()
	p, err = Make(context.Background(), Input{Root: w.root, Trees: w, Base: target, Now: target, Target: now})
	w.must(err)
	if got := keptPaths(p.Kept); !strings.Contains(got, "d/big: "+string(NotStored)) || !strings.Contains(got, "d/pipe: "+string(NotStored)) {
		t.Errorf("kept %s", got)
	}
}

// A directory that is to go and holds something that no tree has stays, with that, and is named.
func TestADirectoryWithSomethingElseInItStays(t *testing.T) {
	w := newWorld(t)
	w.write("a", "1")
	target := w.known()
	w.write("d/f", "2")
	w.known()
	p := w.plan(target)
	w.write("d/.git/HEAD", "a repository of its own").write("d/late", "made meanwhile")
	r := w.run(p)
	w.lacks("d/f")
	w.has("d/.git/HEAD", "a repository of its own")
	w.has("d/late", "made meanwhile")
	if got := keptPaths(r.Kept); got != "d: "+string(NotEmpty) {
		t.Errorf("kept %s", got)
	}
}

// Only what is selected changes; directories that it needs come with it.
func TestSelectedPathsAlone(t *testing.T) {
	w := newWorld(t)
	w.write("a/b/c", "v1").write("a/b/d", "v1").write("ab", "v1").write("e", "v1")
	target := w.known()
	w.remove("a").write("ab", "v2").write("e", "v2").write("f", "v2")
	w.known()
	only := func(p ...string) func(*Input) { return func(in *Input) { in.Paths = p } }
	w.restore(target, only("a/b/c", "e"))
	w.has("a/b/c", "v1")
	w.has("e", "v1")
	w.lacks("a/b/d")
	w.has("ab", "v2")
	w.has("f", "v2")
	for _, p := range []string{"../x", "/etc", "a//b", ".git/hooks", "a/.GIT", "./a"} {
		in := Input{Root: w.root, Trees: w, Base: w.base, Now: w.base, Target: target, Paths: []string{p}}
		if _, err := Make(context.Background(), in); !errors.Is(err, ErrPath) {
			t.Errorf("%q was taken: %v", p, err)
		}
	}
}

// A tree that says something of a .git, however it is spelt, changes nothing there, and the rest of it is restored.
func TestAGitDirectoryIsNeverTouched(t *testing.T) {
	w := newWorld(t)
	w.write("f", "v1")
	target := w.known()
	f, err := tree.Find(w, target, "f")
	w.must(err)
	hooks := w.keep(mustEncode(t, tree.Entry{Name: "hook", Kind: tree.File, Mode: 0o755, Digest: f.Digest, Size: f.Size}))
	var evil []tree.Entry
	for _, name := range []string{".git", ".GIT", ".git ", "GIT~1", ".g\u200cit", stagingPrefix + "x"} {
		evil = append(evil, tree.Entry{Name: name, Kind: tree.Dir, Mode: 0o755, Digest: hooks})
	}
	bad := w.keep(mustEncode(t, append(evil, f)...))
	w.write("f", "v2").write(".git/HEAD", "ref")
	w.known()
	before := picture(t, w.at(".git"))
	_, r := w.restore(bad)
	w.has("f", "v1")
	same(t, ".git", picture(t, w.at(".git")), before)
	names, err := os.ReadDir(w.root)
	w.must(err)
	if len(names) != 2 || strings.Count(keptPaths(r.Kept), string(OffLimits)) != 12 {
		t.Errorf("there are %v, kept %s", names, keptPaths(r.Kept))
	}
}

// A directory that is a repository, at one moment with a .git of its own and at another as a worktree with a file of that
// name, is restored as a whole: nothing is named that is left undone.
func TestARepositoryIsNothingThatIsLeftUndone(t *testing.T) {
	w := newWorld(t)
	w.write("f", "v1").write("sub/f", "v1")
	entries, err := tree.List(w, w.known())
	w.must(err)
	with := func(top, below *tree.Entry) store.Digest {
		list := slices.Clone(entries)
		for i := range list {
			if list[i].Name == "sub" && below != nil {
				in, err := tree.List(w, list[i].Digest)
				w.must(err)
				list[i].Digest = w.keep(mustEncode(t, append(in, *below)...))
			}
		}
		if top != nil {
			list = append(list, *top)
		}
		return w.keep(mustEncode(t, list...))
	}
	dir, file := &tree.Entry{Name: ".git", Kind: tree.Dir, Flags: tree.Skipped}, &tree.Entry{Name: ".git", Kind: tree.File, Flags: tree.Skipped}
	for name, c := range map[string]struct {
		now, then store.Digest
		kept      string
	}{
		"a worktree of what was one":    {with(file, nil), with(dir, nil), ""},
		"one that is gone":              {with(nil, nil), with(dir, nil), ""},
		"one that is new":               {with(dir, nil), with(nil, nil), ""},
		"below, a worktree":             {with(dir, file), with(dir, dir), ""},
		"below, gone":                   {with(dir, nil), with(dir, dir), "sub/.git"},
		"below, one that nobody wanted": {with(dir, dir), with(dir, nil), "sub/.git"},
	} {
		p, err := Make(t.Context(), Input{Root: w.root, Trees: w, Base: c.now, Now: c.now, Target: c.then})
		w.must(err)
		var kept []string
		for _, k := range p.Kept {
			kept = append(kept, k.Path)
		}
		if strings.Join(kept, " ") != c.kept {
			t.Errorf("%s: kept %q, want %q", name, kept, c.kept)
		}
	}
}

func mustEncode(t testing.TB, e ...tree.Entry) []byte {
	b, err := tree.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Set-id bits are not given, and the umask takes nothing.
func TestModesAreGivenWithoutSetID(t *testing.T) {
	w := newWorld(t)
	w.write("suid", "x").write("open", "x").mkdir("sticky")
	w.must(os.Chmod(w.at("suid"), 0o755|os.ModeSetuid))
	w.must(os.Chmod(w.at("open"), 0o666))
	w.must(os.Chmod(w.at("sticky"), 0o777|os.ModeSticky))
	target := w.known()
	if e, err := tree.Find(w, target, "suid"); err != nil || e.Mode != 0o4755 {
		t.Fatalf("the capture has %o, %v", e.Mode, err)
	}
	w.remove("suid").remove("open").remove("sticky")
	w.known()
	old := unix.Umask(0o077)
	w.restore(target)
	unix.Umask(old)
	for p, want := range map[string]os.FileMode{"suid": 0o755, "open": 0o666, "sticky": 0o777 | os.ModeSticky | os.ModeDir} {
		if info, err := os.Lstat(w.at(p)); err != nil || info.Mode() != want {
			t.Errorf("%s is %v, %v, want %v", p, info.Mode(), err, want)
		}
	}
	w.known()
	if p := w.plan(target); !p.Nothing() {
		t.Errorf("a set-id bit alone is something to do: %s", p)
	}
}

// A name at the limit of the file system still gets its other version beside it.
func TestALongNameGetsItsCopy(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("é", 127)
	w.write(long, "v1")
	target := w.known()
	w.write(long, "v2")
	w.known()
	w.write(long, "mine")
	p, _ := w.restore(target)
	w.has(long, "mine")
	if len(p.Kept) != 1 || p.Kept[0].Copy == "" {
		t.Fatalf("kept %+v", p.Kept)
	}
	w.has(p.Kept[0].Copy, "v1")
}

// Where the file system takes two names for one, neither of the pair is touched, both are named, and the rest is restored.
func TestNamesThatCollideAreBothKept(t *testing.T) {
	w := newWorld(t)
	w.write("d/Readme", "upper").write("d/readme", "lower").write("d/other", "v1").write("caf\u00e9", "one").write("cafe\u0301", "two")
	target := w.known()
	w.remove("d/Readme").write("d/other", "v2").remove("caf\u00e9").remove("cafe\u0301")
	w.known()
	folding := func(f Folding) func(*Input) {
		return func(in *Input) { in.Fold = func(string) Folding { return f } }
	}
	if p := w.plan(target, folding(Folding{})); len(p.Kept) != 0 || len(p.Changes) != 4 {
		t.Errorf("nothing folds: %s, %s", p, keptPaths(p.Kept))
	}
	p, _ := w.restore(target, folding(Folding{Case: true, Norm: true}))
	w.has("d/readme", "lower")
	w.has("d/other", "v1")
	w.lacks("d/Readme")
	w.lacks("caf\u00e9")
	w.lacks("cafe\u0301")
	pairs := map[string]string{}
	for _, k := range p.Kept {
		if k.Why == Collides {
			pairs[k.Path] = k.With
		}
	}
	want := map[string]string{"d/Readme": "d/readme", "d/readme": "d/Readme", "caf\u00e9": "cafe\u0301", "cafe\u0301": "caf\u00e9"}
	if !maps.Equal(pairs, want) {
		t.Errorf("named %q, want %q", pairs, want)
	}
	if f := Probe(w.root); f.Case || f.Norm {
		t.Logf("this file system folds names: %+v", f)
	} else if w.plan(target).Nothing() {
		t.Error("it does not fold, and nothing is restored")
	}
}

// Where only somebody else has changed files since, nothing is restored, and that is said: how many stay. By force they
// come back. A file that somebody else has made is none of them.
func TestOnlyOthersChangedFiles(t *testing.T) {
	w := newWorld(t)
	w.write("a", "1").write("b", "1").write("d/c", "1").link("a", "l")
	target := w.known()
	w.write("a", "the user's").remove("b").write("new", "1").write("d/c", "the user's, too")
	p := w.plan(target)
	if !p.Nothing() || p.Others != 3 || !strings.Contains(p.String(), "3 files that somebody else changed since stay") {
		t.Errorf("%d others: %s", p.Others, p)
	}
	if p := w.plan(target, func(in *Input) { in.Paths = []string{"d"} }); p.Others != 1 || !strings.Contains(p.String(), "1 file that") {
		t.Errorf("of d, %d others: %s", p.Others, p)
	}
	w.restore(target, force)
	w.has("a", "1")
	w.has("b", "1")
	w.has("d/c", "1")
	w.has("new", "1")
	if p := w.plan(target); p.Others != 0 {
		t.Errorf("afterwards %d others", p.Others)
	}
}
