package homes_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// moved is a clock that a test moves.
type moved struct {
	mu  sync.Mutex
	now time.Time
}

func newMoved() *moved { return &moved{now: time.Now()} }

func (m *moved) Now() time.Time { m.mu.Lock(); defer m.mu.Unlock(); return m.now }

func (m *moved) pass(d time.Duration) { m.mu.Lock(); defer m.mu.Unlock(); m.now = m.now.Add(d) }

// large writes a file that takes so many bytes of packs too.
func large(t *testing.T, dir, name string, bytes int) {
	t.Helper()
	b := make([]byte, bytes)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// forgotten keeps random bytes for a session that is deleted again: nobody needs them any more.
func forgotten(t *testing.T, h *homes.Home, bytes int) {
	t.Helper()
	dir := t.TempDir()
	large(t, dir, "big", bytes)
	forgottenIn(t, h, dir)
}

// forgottenIn keeps a directory for a session that is deleted again.
func forgottenIn(t *testing.T, h *homes.Home, dir string) {
	t.Helper()
	id, err := h.Create(t.Context(), specIn(t, h, dir))
	if err == nil {
		_, err = h.Checkpoint(t.Context(), id, "c")
	}
	if err == nil {
		err = h.Delete(t.Context(), id)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// captures are the seqs of a session's captures by why they were made, the newest of each.
func captures(t *testing.T, h *homes.Home, id string) map[session.CaptureWhy]int64 {
	t.Helper()
	out := map[session.CaptureWhy]int64{}
	for ev, err := range h.Range(t.Context(), id, homes.Range{Kinds: []store.Kind{session.KindFilesCaptured}}) {
		if err != nil {
			t.Fatal(err)
		}
		body, err := session.Decode(ev)
		if err != nil {
			t.Fatal(err)
		}
		out[body.(*session.FilesCaptured).Why] = ev.Seq
	}
	return out
}

// Captures are kept while they are young. Checkpoints, the newest, what undo goes back to and whose change each was are
// known however old they are: a restore takes back the session's own files and no others.
func TestWhatUndoNeedsIsNotThinned(t *testing.T) {
	clock := newMoved()
	h, s, dir := keepingWith(t, homes.Config{Files: &homes.Files{}, Now: clock.Now})
	large(t, dir, "big", 3<<20)
	if _, err := s.Checkpoint(t.Context(), "start"); err != nil {
		t.Fatal(err)
	}
	var acts []int64
	for i := range 4 {
		large(t, dir, "big", 3<<20) // by a person, between the turns
		prompt(t, s, "write "+filepath.Join(dir, fmt.Sprint("a", i)))
		acts = append(acts, captures(t, h, s.ID())[session.CaptureAct])
	}
	if _, err := h.FilesAt(t.Context(), s.ID(), fmt.Sprint(acts[0])); err != nil {
		t.Fatal(err)
	}
	sweep := func() {
		t.Helper()
		if _, err := h.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	sweep()
	for _, seq := range acts {
		if _, err := h.FilesAt(t.Context(), s.ID(), fmt.Sprint(seq)); err != nil {
			t.Errorf("young: %v", err)
		}
	}
	forgotten(t, h, 40<<20) // so that less than half of the pack lives, and it is written anew
	clock.pass(48 * time.Hour)
	sweep()
	for n := range 4 {
		p, err := h.FilesAt(t.Context(), s.ID(), fmt.Sprintf("turn %d", n+1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.FilesAt(t.Context(), s.ID(), fmt.Sprint(p.Seq)); err != nil {
			t.Errorf("what undo goes back to: %v", err)
		}
	}
	c, err := h.FilesAt(t.Context(), s.ID(), "start")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.RestoreFiles(t.Context(), session.RestoreRequested{Target: c.Tree, To: "checkpoint start"}); err != nil || r.Deleted != 4 || there(dir, "a0") {
		t.Errorf("the checkpoint is restored: %+v, %v", r, err)
	}
}

// What was thinned is said to be: it is no other tree, and no error of the disk.
func TestThinnedIsSaid(t *testing.T) {
	clock := newMoved()
	h, s, dir := keepingWith(t, homes.Config{Files: &homes.Files{}, Now: clock.Now})
	large(t, dir, "big", 3<<20)
	prompt(t, s, "write "+filepath.Join(dir, "a"))
	seq := captures(t, h, s.ID())[session.CaptureAct]
	if u := undoNewest(t, s); u.Deleted != 1 { // nothing goes back to it any more
		t.Fatalf("%+v", u)
	}
	large(t, dir, "big", 10)
	prompt(t, s, "write "+filepath.Join(dir, "b"))
	clock.pass(48 * time.Hour)
	swept, err := h.Sweep(t.Context())
	if err != nil || swept.Freed < 3<<20 {
		t.Fatalf("%+v, %v", swept, err)
	}
	_, err = h.FilesAt(t.Context(), s.ID(), fmt.Sprint(seq))
	if !errors.Is(err, homes.ErrNoFiles) || !strings.Contains(err.Error(), "thinned") {
		t.Errorf("event %d: %v", seq, err)
	}
}

// What a deleted session had goes with the next sweep, what another one needs stays, and captures go on meanwhile.
func TestSweepAfterADeletion(t *testing.T) {
	h, s, dir := keepingWith(t, homes.Config{Files: &homes.Files{}})
	prompt(t, s, "write "+filepath.Join(dir, "w"))
	if _, err := s.Checkpoint(t.Context(), "mine"); err != nil {
		t.Fatal(err)
	}
	st, err := s.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r := undoNewest(t, s); r.Deleted != 1 {
		t.Fatalf("%+v", r)
	}
	other := t.TempDir()
	large(t, other, "big", 4<<20)
	fork, err := h.Create(t.Context(), specIn(t, h, other))
	if err != nil {
		t.Fatal(err)
	}
	c, err := h.Checkpoint(t.Context(), fork, "theirs")
	if err != nil {
		t.Fatal(err)
	}
	if swept, err := h.Sweep(t.Context()); err != nil || swept.Freed != 0 {
		t.Fatalf("%+v, %v", swept, err)
	}
	if err := h.Delete(t.Context(), fork); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Sweep(ctx); err == nil {
		t.Error("a canceled sweep succeeded")
	}
	if swept, err := h.Sweep(t.Context()); err != nil || swept.Freed < 4<<20 {
		t.Fatalf("%+v, %v", swept, err)
	}
	if err := h.FileChanges(store.Digest{}, c.Tree, nil); err == nil {
		t.Error("the deleted session's tree is there")
	}
	r, err := s.RestoreFiles(t.Context(), session.RestoreRequested{Target: st.Workspace.Tree, To: "mine"})
	if err != nil || r.Added != 1 || !there(dir, "w") {
		t.Errorf("what stays: %+v, %v", r, err)
	}
}

// When the quota is used up, what nobody needs is swept, once, and the capture goes on; when all is needed, it says so.
func TestQuotaMakesRoom(t *testing.T) {
	clock := newMoved()
	h, s, dir := keepingWith(t, homes.Config{Files: &homes.Files{Quota: 10 << 20}, Now: clock.Now})
	if _, err := s.Checkpoint(t.Context(), "small"); err != nil {
		t.Fatal(err)
	}
	forgotten(t, h, 8<<20)
	large(t, dir, "big", 8<<20)
	if _, err := s.Checkpoint(t.Context(), "after-a-sweep"); err != nil {
		t.Fatal(err)
	}
	clock.pass(time.Hour)
	large(t, dir, "big2", 8<<20)
	_, err := s.Checkpoint(t.Context(), "too-much")
	if !errors.Is(err, homes.ErrNotCaptured) || !strings.Contains(err.Error(), "files.quota_mb") {
		t.Errorf("over the quota: %v", err)
	}
}

// An artifact outlives its file, sweeps and a newer one's being refused; what each session needs is told.
func TestArtifactsStay(t *testing.T) {
	h, s, dir := keepingWith(t, homes.Config{Files: &homes.Files{}})
	kept, err := h.KeepArtifact(t.Context(), s.ID(), session.Artifact{Name: "report.txt", Note: "first"}, strings.NewReader("all is well"))
	if err != nil || kept.Size != 11 {
		t.Fatalf("%+v, %v", kept, err)
	}
	if _, err := h.KeepArtifact(t.Context(), s.ID(), session.Artifact{Name: "a\x1b[2J"}, strings.NewReader("x")); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("a name that clears the screen: %v", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if _, err := h.WriteArtifact(t.Context(), s.ID(), "report.txt", &got); err != nil || got.String() != "all is well" {
		t.Errorf("%q, %v", got.String(), err)
	}
	if _, err := h.WriteArtifact(t.Context(), s.ID(), "none", &got); !errors.Is(err, homes.ErrNoArtifact) {
		t.Errorf("none: %v", err)
	}
	sp, err := h.Space(t.Context())
	if err != nil || len(sp.Sessions) != 1 || sp.Sessions[0].Own == 0 || sp.Live != sp.Sessions[0].Own || sp.Live+sp.Free != sp.Files || sp.Logs == 0 {
		t.Errorf("%+v, %v", sp, err)
	}
}

// At the end of a process that kept something, blobs are swept if much was added, and once a day.
func TestSweepAtTheEnd(t *testing.T) {
	clock := newMoved()
	h, _, _ := keepingWith(t, homes.Config{Files: &homes.Files{}, Now: clock.Now})
	files := func() int64 {
		t.Helper()
		sp, err := h.Space(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return sp.Files
	}
	add := func() { forgotten(t, h, 2<<20) }
	add()
	full := files()
	if h.SweepAtEnd(4 << 20); files() != full {
		t.Error("swept for little")
	}
	if h.SweepAtEnd(1 << 20); files() >= 2<<20 {
		t.Error("not swept at the end")
	}
	add()
	full = files()
	if h.SweepAtEnd(1 << 20); files() != full {
		t.Error("swept twice in a day")
	}
	clock.pass(25 * time.Hour)
	if h.SweepAtEnd(1 << 20); files() >= 2<<20 {
		t.Error("not swept after a day")
	}
}

// What a fork begins with stays, though its parent has gone on and thinned it, and the fork too.
func TestAForksBeginningStays(t *testing.T) {
	clock := newMoved()
	h, s, dir := keepingWith(t, homes.Config{Files: &homes.Files{}, Now: clock.Now})
	large(t, dir, "big", 1<<20)
	prompt(t, s, "write "+filepath.Join(dir, "a"))
	at := captures(t, h, s.ID())[session.CaptureAct]
	fork, _, err := h.Fork(t.Context(), s.ID(), 0, "", "")
	if err != nil {
		t.Fatal(err)
	}
	if u := undoNewest(t, s); u.Deleted != 1 {
		t.Fatalf("%+v", u)
	}
	large(t, dir, "big", 12<<20)
	forgottenIn(t, h, dir) // most of the pack, so that it is written anew
	if err := os.Remove(filepath.Join(dir, "big")); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Checkpoint(t.Context(), fork, "later"); err != nil {
		t.Fatal(err)
	}
	clock.pass(48 * time.Hour)
	if swept, err := h.Sweep(t.Context()); err != nil || swept.Freed < 10<<20 {
		t.Fatalf("%+v, %v", swept, err)
	}
	if _, err := h.FilesAt(t.Context(), s.ID(), fmt.Sprint(at)); err != nil {
		t.Errorf("where the fork begins: %v", err)
	}
}
