package homes_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// refusals are the reasons in a log for which files were not captured.
func refusals(t *testing.T, h *homes.Home, id string) (out []string) {
	t.Helper()
	for ev, err := range h.Range(t.Context(), id, homes.Range{Kinds: []store.Kind{session.KindFilesCaptured}}) {
		if err != nil {
			t.Fatal(err)
		}
		body, err := session.Decode(ev)
		if err != nil {
			t.Fatal(err)
		}
		if b := body.(*session.FilesCaptured); b.Refused != "" && b.Request == 0 {
			out = append(out, b.Refused)
		}
	}
	return out
}

// alone is what a session holds that no other one needs.
func alone(t *testing.T, h *homes.Home, id string) int64 {
	t.Helper()
	n, err := h.HeldAlone(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A session whose room is used up by what is not thinned goes on, and is not captured: its log says why once, with the
// setting that it is about. Others are captured as before.
func TestASessionWhoseRoomIsUsedUpGoesOnWithoutCaptures(t *testing.T) {
	clock := newMoved()
	h, s, dir := keepingWith(t, homes.Config{Files: &homes.Files{SessionQuota: 6 << 20}, Now: clock.Now})
	large(t, dir, "big", 4<<20)
	if _, err := s.Checkpoint(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	large(t, dir, "big", 4<<20)
	if _, _, err := h.FilesNow(t.Context(), s.ID()); err == nil || !strings.Contains(err.Error(), "files.session_quota_mb") {
		t.Errorf("a look over the quota: %v", err)
	}
	if _, err := s.Checkpoint(t.Context(), "second"); !errors.Is(err, homes.ErrNotCaptured) || !strings.Contains(err.Error(), "files.session_quota_mb") {
		t.Errorf("over the quota: %v", err)
	}
	for i := range 4 {
		clock.pass(time.Hour)
		large(t, dir, "big", 4<<20)
		prompt(t, s, "write "+filepath.Join(dir, fmt.Sprint("a", i)))
	}
	if why := refusals(t, h, s.ID()); len(why) > 1 {
		t.Errorf("it is said %d times: %q", len(why), why)
	}
	if st, err := s.State(t.Context()); err != nil || !strings.Contains(st.Workspace.Refused, "perdure du") || st.Turns != 4 {
		t.Errorf("%d turns, %q, %v", st.Turns, st.Workspace.Refused, err)
	}
	if n := alone(t, h, s.ID()); n < 4<<20 || n > 6<<20 {
		t.Errorf("it holds %d", n)
	}
	other := t.TempDir()
	large(t, other, "big", 4<<20)
	id, err := h.Create(t.Context(), specIn(t, h, other))
	if err == nil {
		_, err = h.Checkpoint(t.Context(), id, "theirs")
	}
	if err != nil {
		t.Errorf("another session: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "big")); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Space(t.Context()); err != nil { // perdure du measures, and what fits is kept again
		t.Fatal(err)
	}
	if _, err := s.Checkpoint(t.Context(), "small-again"); err != nil {
		t.Errorf("without the large file: %v", err)
	}
}

// Before captures stop, those go that nobody named, the oldest first: checkpoints stay, and the newest turn can be undone.
func TestOldCapturesOfASessionGoBeforeItsCapturesStop(t *testing.T) {
	clock := newMoved()
	const quota = 16 << 20
	h, s, dir := keepingWith(t, homes.Config{Files: &homes.Files{SessionQuota: quota}, Now: clock.Now})
	large(t, dir, "big", 3<<20)
	if _, err := s.Checkpoint(t.Context(), "start"); err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		clock.pass(11 * time.Minute)
		large(t, dir, "big", 3<<20)
		prompt(t, s, "write "+filepath.Join(dir, fmt.Sprint("a", i)))
	}
	if why := refusals(t, h, s.ID()); len(why) > 0 {
		t.Errorf("captures stopped: %q", why)
	}
	if n := alone(t, h, s.ID()); n > quota {
		t.Errorf("it holds %d", n)
	}
	if _, err := h.Sweep(t.Context()); err != nil { // what is less than half of a pack waits for more
		t.Fatal(err)
	}
	if sp, err := h.Space(t.Context()); err != nil || sp.Files > 2*quota {
		t.Errorf("the packs have %d bytes, %v: nothing was swept", sp.Files, err)
	}
	if _, err := h.FilesAt(t.Context(), s.ID(), "start"); err != nil {
		t.Errorf("the checkpoint: %v", err)
	}
	if _, err := h.FilesAt(t.Context(), s.ID(), "turn 1"); !errors.Is(err, homes.ErrNoFiles) || !strings.Contains(err.Error(), "session_quota_mb") {
		t.Errorf("turn 1: %v", err)
	}
	if r := undoNewest(t, s); r.Deleted != 1 || there(dir, "a11") || !there(dir, "a10") {
		t.Errorf("undo of the newest turn: %+v", r)
	}
	for range 12 {
		p, err := h.UndoPoint(t.Context(), s.ID())
		if err != nil {
			if !errors.Is(err, homes.ErrNoFiles) || !strings.Contains(err.Error(), "session_quota_mb") {
				t.Errorf("undo of an older turn: %v", err)
			}
			return
		}
		if _, err := s.RestoreFiles(t.Context(), session.RestoreRequested{Undo: p.Undo, To: "before"}); err != nil {
			t.Fatal(err)
		}
	}
	t.Error("every turn can be undone")
}

// What two sessions share counts for neither, until one of them is deleted: then it is the other one's.
func TestWhatIsSharedCountsForNobodyUntilItIsHeldAlone(t *testing.T) {
	h, s, dir := keepingWith(t, homes.Config{Files: &homes.Files{SessionQuota: 6 << 20}})
	large(t, dir, "big", 4<<20)
	if _, err := s.Checkpoint(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	fork, err := h.Create(t.Context(), specIn(t, h, dir))
	if err == nil {
		_, err = h.Checkpoint(t.Context(), fork, "same")
	}
	if err != nil {
		t.Fatal(err)
	}
	if a, b := alone(t, h, s.ID()), alone(t, h, fork); a > 1<<20 || b > 1<<20 {
		t.Errorf("of what both need, %d and %d count", a, b)
	}
	large(t, dir, "more", 4<<20)
	if _, err := h.Checkpoint(t.Context(), fork, "its-own"); err != nil {
		t.Errorf("4 MiB of its own, of 6: %v", err)
	}
	id := s.ID()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	large(t, dir, "more", 1<<20)
	if _, err := h.Checkpoint(t.Context(), fork, "too-much"); !errors.Is(err, homes.ErrNotCaptured) {
		t.Errorf("8 MiB that it has alone now, of 6, and one more: %v", err)
	}
}

// Artifacts are within the quota, too.
func TestArtifactsAreWithinTheSessionsRoom(t *testing.T) {
	h, s, dir := keepingWith(t, homes.Config{Files: &homes.Files{SessionQuota: 3 << 20}})
	large(t, dir, "big", 4<<20)
	b, err := os.ReadFile(filepath.Join(dir, "big"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.KeepArtifact(t.Context(), s.ID(), session.Artifact{Name: "big"}, strings.NewReader(string(b)))
	if err == nil || !strings.Contains(err.Error(), "files.session_quota_mb") {
		t.Errorf("4 MiB of 3: %v", err)
	}
	if _, err := h.KeepArtifact(t.Context(), s.ID(), session.Artifact{Name: "small"}, strings.NewReader("x")); err != nil {
		t.Error(err)
	}
}

// What is counted of a session is never less than what it holds, wherever the processes that capture are killed.
func TestAKilledCaptureIsCounted(t *testing.T) {
	const home, in = "PERDURE_TEST_ROOM_HOME", "PERDURE_TEST_ROOM_DIR"
	files := &homes.Files{SessionQuota: 1 << 30}
	if dir := os.Getenv(home); dir != "" {
		h, err := homes.Open(t.Context(), dir, homes.Config{Files: files})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 1000 {
			large(t, os.Getenv(in), "big", 200<<10)
			if _, err := h.Checkpoint(t.Context(), "s", fmt.Sprintf("c%d-%d", os.Getpid(), i)); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	h, s, dir := keepingWith(t, homes.Config{Files: files})
	spec := specIn(t, h, dir)
	spec.ID = "s"
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Create(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var was int64
	for round := range 6 {
		c := exec.CommandContext(t.Context(), self, "-test.run=^TestAKilledCaptureIsCounted$")
		c.Env = append(os.Environ(), home+"="+h.Dir(), in+"="+dir)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for n, end := was, time.Now().Add(30*time.Second); n <= was && time.Now().Before(end); n, _ = h.RoomOf("s") {
			<-time.After(time.Millisecond)
		}
		<-time.After(time.Duration(rand.IntN(40_000)) * time.Microsecond) // it is killed anywhere
		_ = c.Process.Kill()
		_ = c.Wait()
		counted, known := h.RoomOf("s")
		if real := alone(t, h, "s"); !known || counted < real || round == 5 && real == 0 {
			t.Errorf("round %d: counted are %d, it holds %d", round, counted, real)
		}
		was = counted
	}
}

// A record whose figures are together more than a number holds is a broken one: it gives no room.
func TestADamagedRoomGivesNoRoom(t *testing.T) {
	h, s, dir := keepingWith(t, homes.Config{Files: &homes.Files{SessionQuota: 2 << 20}})
	large(t, dir, "big", 1<<20)
	if _, err := s.Checkpoint(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"own":%d,"added":%d,"measured":%d}`, int64(math.MaxInt64), int64(math.MaxInt64), time.Now().UnixMilli())
	if err := os.WriteFile(filepath.Join(h.Dir(), "room", s.ID()), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	large(t, dir, "big", 3<<19)
	if _, err := s.Checkpoint(t.Context(), "second"); !errors.Is(err, homes.ErrNotCaptured) {
		t.Errorf("over the quota: %v", err)
	}
}
