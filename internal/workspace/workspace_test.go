package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/capture"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/restore"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/internal/workspace"
	"github.com/perdure/perdure/store"
)

// bench is a set of workspaces, and a directory that is one.
type bench struct {
	t     *testing.T
	set   *workspace.Set
	cfg   workspace.Config
	blobs *blob.Store
	dir   string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	blobs, err := blob.Open(filepath.Join(t.TempDir(), "blobs"), blob.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	b := &bench{t: t, blobs: blobs, dir: t.TempDir(), cfg: workspace.Config{Dir: t.TempDir(), Blobs: blobs}}
	b.set = b.another()
	return b
}

// another is what another process of the home has.
func (b *bench) another() *workspace.Set {
	s := workspace.New(b.cfg)
	b.t.Cleanup(func() { _ = s.Close() })
	return s
}

func (b *bench) write(name, text string) {
	b.t.Helper()
	at := filepath.Join(b.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
		b.t.Fatal(err)
	}
}

// has fails if a file does not hold a text; "" is none.
func (b *bench) has(what, name, want string) {
	b.t.Helper()
	got, err := os.ReadFile(filepath.Join(b.dir, name))
	if string(got) != want || (err != nil) != (want == "") {
		b.t.Errorf("%s: %s holds %q, want %q (%v)", what, name, got, want, err)
	}
}

func (b *bench) capture(r engine.CaptureRequest) *session.FilesCaptured {
	b.t.Helper()
	r.Session, r.Dir = "s", b.dir
	got, err := b.set.Capture(b.t.Context(), r)
	if err != nil {
		b.t.Fatal(err)
	}
	if got.Release != nil {
		b.t.Cleanup(got.Release)
	}
	return got.Body
}

func (b *bench) tree() store.Digest { b.t.Helper(); return b.capture(engine.CaptureRequest{}).Tree }

// A restore is counted before and after: what came, changed and went, and what stayed since somebody else had changed it;
// its paths are named. What it was is on the disk until it is released: until then it can be taken back, after that not.
func TestARestoreIsDoneCountedAndTakenBack(t *testing.T) {
	b := newBench(t)
	b.write("changed", "one")
	b.write("gone", "one")
	b.write("theirs", "one")
	b.write("same", "one")
	one := b.tree()
	b.write("changed", "two, longer")
	b.write("theirs", "two, longer")
	b.write("new", "two")
	if err := os.Remove(filepath.Join(b.dir, "gone")); err != nil {
		t.Fatal(err)
	}
	two := b.tree()
	b.write("theirs", "of somebody else, longer still")
	r := engine.RestoreRequest{Session: "s", ID: "r1", Dir: b.dir, Base: two, Target: one}
	p, err := b.set.Prepare(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	want := session.RestoreCounts{Added: 1, Modified: 1, Deleted: 1, Conflicts: 1}
	if p.Counts != want || p.Before.Tree.IsZero() {
		t.Errorf("planned: %+v, want %+v", p.Counts, want)
	}
	b.has("planned", "changed", "two, longer")
	for range 2 { // who died in between finishes it again
		got, err := b.set.Finish(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if got.Counts != want || !slices.Equal(got.Kept, []string{"theirs"}) || !slices.Equal(got.Paths, []string{"changed", "gone", "new"}) {
			t.Errorf("done: %+v, kept %q, paths %q", got.Counts, got.Kept, got.Paths)
		}
		if got.Tree != b.tree() {
			t.Error("the tree is not that of the files")
		}
	}
	b.has("done", "changed", "one")
	b.has("done", "gone", "one")
	b.has("done", "new", "")
	b.has("done", "theirs", "of somebody else, longer still")
	if err := b.set.Abandon(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	b.has("taken back", "changed", "two, longer")
	b.has("taken back", "gone", "")
	b.has("taken back", "new", "two")
	if err := b.set.Abandon(t.Context(), r); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("taken back twice: %v", err)
	}
}

// What is left of a restore goes when its outcome is released; what was only prepared goes with the session's next one, and
// leaves another session's alone.
func TestWhatARestoreLeavesGoes(t *testing.T) {
	b := newBench(t)
	b.write("f", "one")
	one := b.tree()
	b.write("f", "two, longer")
	two := b.tree()
	journals := func() int {
		t.Helper()
		all, err := filepath.Glob(filepath.Join(b.cfg.Dir, "*", "restores", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	request := func(id, of string) engine.RestoreRequest {
		return engine.RestoreRequest{Session: of, ID: id, Dir: b.dir, Base: two, Target: one}
	}
	prepare := func(r engine.RestoreRequest) {
		t.Helper()
		p, err := b.set.Prepare(t.Context(), r, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.Release()
	}
	prepare(request("other", "other"))
	others := journals()
	prepare(request("r1", "s"))
	both := journals()
	if others == 0 || both <= others {
		t.Fatalf("%d, then %d", others, both)
	}
	prepare(request("r2", "s"))
	if n := journals(); n != both {
		t.Errorf("after the session's next one there are %d, want %d", n, both)
	}
	if _, err := b.set.Finish(t.Context(), request("r1", "s")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the first one is still there: %v", err)
	}
	got, err := b.set.Finish(t.Context(), request("r2", "s"))
	if err != nil {
		t.Fatal(err)
	}
	got.Release()
	if n := journals(); n != others {
		t.Errorf("after its outcome was released there are %d, want %d", n, others)
	}
	b.has("done", "f", "one")
	if err := b.set.Abandon(t.Context(), request("other", "other")); err != nil {
		t.Errorf("another session's: %v", err)
	}
}

// Nothing is planned whose content is not there: the file is named, and no other error hides that.
func TestAPlanWithoutItsContentIsRefused(t *testing.T) {
	b := newBench(t)
	b.write("f", "one")
	now := b.tree()
	batch, err := b.blobs.Batch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = batch.Close() }()
	put := func(entries ...tree.Entry) store.Digest {
		t.Helper()
		raw, err := tree.Encode(entries)
		if err != nil {
			t.Fatal(err)
		}
		d, err := batch.Put(raw)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	lost := tree.Entry{Name: "lost\xff", Kind: tree.File, Mode: 0o600, Size: 4, Digest: store.Sum([]byte("lost"))}
	link := tree.Entry{Name: "link", Kind: tree.Link, Target: "f"}
	with, without := put(link, lost), put(link)
	if err := batch.Commit(); err != nil {
		t.Fatal(err)
	}
	r := engine.RestoreRequest{Session: "s", ID: "r1", Dir: b.dir, Base: now, Target: with}
	if _, err := b.set.Plan(t.Context(), r, nil); !errors.Is(err, restore.ErrContent) || !strings.Contains(err.Error(), `"lost\xff"`) {
		t.Errorf("a lost content: %v", err)
	}
	if _, err := b.set.Prepare(t.Context(), r, nil); !errors.Is(err, restore.ErrContent) {
		t.Errorf("a lost content, prepared: %v", err)
	}
	r.Target = without
	p, err := b.set.Plan(t.Context(), r, nil)
	if err != nil || len(p.Changes) != 2 {
		t.Fatalf("a link and a deletion: %+v, %v", p, err)
	}
	p.Release()
	failing := errors.New("nobody knows")
	if _, err := b.set.Plan(t.Context(), r, func() (func(string) restore.Others, error) { return nil, failing }); !errors.Is(err, failing) {
		t.Errorf("where it is not known who has changed what: %v", err)
	}
}

// A directory that is no project is refused in words, by a capture and by a restore; one that is gone is an error.
func TestWhatIsNoProjectIsRefused(t *testing.T) {
	b := newBench(t)
	b.cfg.UserHome = b.dir
	b.set = b.another()
	b.write("f", "one")
	if got := b.capture(engine.CaptureRequest{}); got.Refused == "" || !got.Tree.IsZero() {
		t.Errorf("the user's home: %+v", got)
	}
	r := engine.RestoreRequest{Session: "s", ID: "r1", Dir: b.dir}
	if _, err := b.set.Prepare(t.Context(), r, nil); err == nil || !strings.Contains(err.Error(), "home directory") {
		t.Errorf("a restore of the user's home: %v", err)
	}
	r.Dir = filepath.Join(b.dir, "gone")
	_, planned := b.set.Plan(t.Context(), r, nil)
	_, finished := b.set.Finish(t.Context(), r)
	_, captured := b.set.Capture(t.Context(), engine.CaptureRequest{Session: "s", Dir: r.Dir})
	for _, err := range []error{planned, finished, captured, b.set.Abandon(t.Context(), r)} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a directory that is gone: %v", err)
		}
	}
}

// What was let go of keeps no sweep waiting; what was not, does: whoever forgets it finds out by this test.
func TestWhatIsReleasedCanBeSwept(t *testing.T) {
	b := newBench(t)
	b.write("f", "1\n2\n3\n")
	r := engine.RestoreRequest{Session: "s", ID: "r1", Dir: b.dir}
	capture := func() store.Digest {
		t.Helper()
		got, err := b.set.Capture(t.Context(), engine.CaptureRequest{Session: "s", Dir: b.dir})
		if err != nil {
			t.Fatal(err)
		}
		got.Release()
		return got.Body.Tree
	}
	r.Target = capture()
	b.write("f", "one\n2\n3\n")
	r.Base = capture()
	b.write("f", "one\n2\nthree\n") // which a restore joins
	plan, err := b.set.Plan(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan.Release()
	r.Base, r.Target = store.Sum([]byte("gone")), store.Sum([]byte("gone"))
	if _, err := b.set.Plan(t.Context(), r, nil); err == nil {
		t.Error("trees that are gone are planned with")
	}
	r.Target = plan.Target
	r.Base = plan.Base
	p, err := b.set.Prepare(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Release()
	got, err := b.set.Finish(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	b.has("done", "f", "1\n2\nthree\n")
	got.Release()
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	none := func(context.Context) (func(func(store.Digest) bool), error) {
		return func(func(store.Digest) bool) {}, nil
	}
	_, err = b.blobs.Sweep(soon, none, func(store.Digest) ([]store.Digest, error) { return nil, nil }, nil)
	if there, hasErr := b.blobs.Has(r.Target); err != nil || hasErr != nil || there {
		t.Errorf("a sweep: %v; the tree is there: %t, %v", err, there, hasErr)
	}
}

// A capture names the repositories that it finds, as git left them, but for one between a turn's acts, or that found
// nothing new.
func TestACaptureNamesRepositories(t *testing.T) {
	b := newBench(t)
	b.write("f", "one")
	b.write(".git/HEAD", "ref: refs/heads/main\n")
	b.write(".git/refs/heads/main", "0123456789012345678901234567890123456789\n")
	b.write(".git/objects/x", "")
	b.write("sub/.git", "gitdir: nowhere\n")
	b.write("sub/f", "one")
	got := b.capture(engine.CaptureRequest{Why: session.CaptureBefore})
	if len(got.Repos) != 2 || got.Repos[0].Dir != "" || got.Repos[0].Branch != "main" || got.Repos[0].Head != "0123456789012345678901234567890123456789" ||
		got.Repos[1] != (session.RepoFact{Dir: "sub"}) {
		t.Errorf("%+v", got.Repos)
	}
	if act := b.capture(engine.CaptureRequest{Why: session.CaptureAct}); len(act.Repos) != 0 {
		t.Errorf("after an act: %+v", act.Repos)
	}
	if same := b.capture(engine.CaptureRequest{Why: session.CaptureBefore, Last: got.Tree}); len(same.Repos) != 0 {
		t.Errorf("nothing new: %+v", same.Repos)
	}
}

// Of an outcome at most twenty paths are named, and sixty-four that stayed; the numbers are those of all. A name that is no
// text is quoted.
func TestAnOutcomeNamesSomePaths(t *testing.T) {
	b := newBench(t)
	names := func(kind string, n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("%s%03d\xff", kind, i))
		}
		return all
	}
	for _, name := range append(names("a", 21), names("b", 65)...) {
		b.write(name, "one")
	}
	one := b.tree()
	for _, name := range append(names("a", 21), names("b", 65)...) {
		b.write(name, "two, longer")
	}
	two := b.tree()
	for _, name := range names("b", 65) {
		b.write(name, "of somebody else, longer still")
	}
	r := engine.RestoreRequest{Session: "s", ID: "r1", Dir: b.dir, Base: two, Target: one}
	p, err := b.set.Prepare(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	got, err := b.set.Finish(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	got.Release()
	if got.Counts.Modified != 21 || got.Counts.Conflicts != 65 || len(got.Paths) != 20 || len(got.Kept) != 64 || got.Paths[0] != `"a000\xff"` || got.Kept[0] != `"b000\xff"` {
		t.Errorf("%+v, %d paths: %q, %d kept: %q", got.Counts, len(got.Paths), got.Paths[0], len(got.Kept), got.Kept[0])
	}
}

// What somebody else has changed stays, if that is known, though it is as the session left it.
func TestWhoHasChangedAFileCounts(t *testing.T) {
	b := newBench(t)
	b.write("mine", "one")
	b.write("theirs", "one")
	one := b.tree()
	b.write("mine", "two, longer")
	b.write("theirs", "two, longer")
	r := engine.RestoreRequest{Session: "s", ID: "r1", Dir: b.dir, Base: b.tree(), Target: one}
	p, err := b.set.Prepare(t.Context(), r, func() (func(string) restore.Others, error) {
		return func(path string) restore.Others {
			if path == "theirs" {
				return restore.Alien
			}
			return restore.Own
		}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	got, err := b.set.Finish(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	got.Release()
	b.has("done", "mine", "one")
	b.has("done", "theirs", "two, longer")
}

// A process has at most thirty-two workspaces open, those that it used last; one that is open is not opened again, and
// Close closes all.
func TestFewWorkspacesAreOpen(t *testing.T) {
	b := newBench(t)
	var dirs []string
	for range 34 {
		b.dir = t.TempDir()
		dirs = append(dirs, b.dir)
		b.write("f", "one")
		b.tree()
		if len(dirs) > 1 { // the first one is used again and again
			b.dir = dirs[0]
			b.tree()
		}
	}
	open := b.set.OpenDirs()
	if len(open) != 32 || slices.Contains(open, dirs[1]) || slices.Contains(open, dirs[2]) || !slices.Contains(open, dirs[0]) || !slices.Contains(open, dirs[3]) {
		t.Errorf("%d are open: %q", len(open), open)
	}
	if err := b.set.Close(); err != nil || len(b.set.OpenDirs()) != 0 {
		t.Errorf("closed: %q, %v", b.set.OpenDirs(), err)
	}
}

// A session whose room is used up captures nothing more, but a restore that has begun comes to its end. That nobody knows
// how much room there is ends both.
func TestARestoreEndsWithoutRoom(t *testing.T) {
	b := newBench(t)
	b.write("f", "one")
	r := engine.RestoreRequest{Session: "s", ID: "r1", Dir: b.dir, Target: b.tree()}
	b.write("f", "two, longer")
	r.Base = b.tree()
	p, err := b.set.Prepare(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Release()
	failing := errors.New("nobody knows")
	b.cfg.Room = func(context.Context, string) (*capture.Room, error) { return nil, failing }
	unknown := b.another()
	_, captured := unknown.Capture(t.Context(), engine.CaptureRequest{Session: "s", Dir: b.dir})
	_, finished := unknown.Finish(t.Context(), r)
	if !errors.Is(captured, failing) || !errors.Is(finished, failing) {
		t.Errorf("where it is not known how much room there is: %v, %v", captured, finished)
	}
	b.write("new", "that nobody has captured")
	b.cfg.Room = func(context.Context, string) (*capture.Room, error) {
		return &capture.Room{Most: 0, Count: func(int64) error { return nil }}, nil
	}
	full := b.another()
	if _, err := full.Capture(t.Context(), engine.CaptureRequest{Session: "s", Dir: b.dir}); !errors.Is(err, blob.ErrBound) {
		t.Errorf("a capture without room: %v", err)
	}
	got, err := full.Finish(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	got.Release()
	b.has("done", "f", "one")
}

// A journal that can't be read blocks the session's next restore, which says so, and is not taken for none; nor does what
// restores need seem to be nothing then.
func TestJournalsThatCannotBeReadAreTold(t *testing.T) {
	b := newBench(t)
	b.write("f", "one")
	r := engine.RestoreRequest{Session: "s", ID: "r1", Dir: b.dir, Target: b.tree()}
	p, err := b.set.Prepare(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Release()
	dirs, err := filepath.Glob(filepath.Join(b.cfg.Dir, "*", "restores"))
	if err != nil || len(dirs) != 1 {
		t.Fatal(dirs, err)
	}
	of, err := filepath.Glob(filepath.Join(dirs[0], "*"))
	if err == nil {
		err = errors.Join(os.RemoveAll(of[0]), os.WriteFile(of[0], nil, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	r.ID = "r2"
	if _, err := b.set.Prepare(t.Context(), r, nil); err == nil || strings.Contains(err.Error(), "exists") {
		t.Errorf("beside a file in the place of the journals: %v", err)
	}
	if err := errors.Join(os.RemoveAll(dirs[0]), os.WriteFile(dirs[0], nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{b.cfg.Dir, dirs[0]} {
		if _, err := workspace.Needs(dir); err == nil {
			t.Errorf("%s cannot be read, and needs nothing", dir)
		}
	}
}

// Captures go on beside each other; a restore waits for them, and they for it, for as long as their callers wait.
func TestARestoreIsAlone(t *testing.T) {
	b := newBench(t)
	b.write("f", "one")
	one := b.tree()
	b.write("f", "two, longer")
	r := engine.RestoreRequest{Session: "s", ID: "r1", Dir: b.dir, Base: b.tree(), Target: one}
	p, err := b.set.Prepare(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Release()
	begun, end := make(chan struct{}), make(chan struct{})
	other := b.another()
	done := make(chan error, 1)
	go func() {
		release, err := other.LeaseAlone(t.Context(), b.dir)
		close(begun)
		<-end
		if err == nil {
			release()
		}
		done <- err
	}()
	<-begun
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, captured := b.set.Capture(short, engine.CaptureRequest{Session: "s", Dir: b.dir})
	_, finished := b.set.Finish(short, r)
	for _, err := range []error{captured, finished, b.set.Abandon(short, r)} {
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "another process restores files") {
			t.Errorf("beside a restore: %v", err)
		}
	}
	close(end)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	got, err := b.set.Finish(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	got.Release()
	b.has("done", "f", "one")
}
