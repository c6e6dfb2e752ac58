package homes_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/bundle"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// away moves a session to another home, in which it goes on, and gives that home and the bundle to come back by.
func away(t *testing.T, from *homes.Home, id string) (to *homes.Home, back []byte) {
	t.Helper()
	to = openScripted(t, t.TempDir(), travels, nil)
	t.Cleanup(func() { _ = to.Close() })
	moves(t, from, to, id, t.TempDir())
	if _, err := to.Run(t.Context(), id, homes.RunOptions{Prompt: "on"}); err != nil {
		t.Fatal(err)
	}
	m, err := to.BeginMove(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := m.Bundle(t.Context(), &b, homes.BundleOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(m.Done(t.Context()), m.Close()); err != nil {
		t.Fatal(err)
	}
	return to, b.Bytes()
}

// moves moves a session.
func moves(t *testing.T, from, to *homes.Home, id, dir string) {
	t.Helper()
	m, err := from.BeginMove(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := m.Bundle(t.Context(), &b, homes.BundleOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := received(t, to, b.Bytes()).Import(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(m.Done(t.Context()), m.Close()); err != nil {
		t.Fatal(err)
	}
}

// settled ends what runs of a session: such a one does not come back.
func settled(t *testing.T, h *homes.Home, id string) {
	t.Helper()
	for _, task := range load(t, h, id).Tasks {
		if err := h.Commands().Kill(t.Context(), id, task.Act, "user"); err != nil {
			t.Fatal(err)
		}
	}
}

// Goal: a session that was moved away and went on there comes back to the home that it has forks in: with the same
// events and hashes, its forks as they were, and it goes on and moves again.
func TestASessionComesBackToItsForks(t *testing.T) {
	home := traveller(t, "s")
	settled(t, home, "s")
	if _, _, err := home.Fork(t.Context(), "s", 0, "fork", ""); err != nil {
		t.Fatal(err)
	}
	was, fork := load(t, home, "s"), events(t, home, "fork")
	there, b := away(t, home, "s")
	if st := load(t, home, "s"); st.Lifecycle != session.LifecycleClosed {
		t.Errorf("it is %s here", st.Lifecycle)
	}
	a := received(t, home, b)
	if a.Known || a.Back == nil || a.Back.Dir != was.Config.Root || a.Back.Lifecycle != session.LifecycleClosed {
		t.Fatalf("arrived: %+v", a)
	}
	if err := a.Import(t.Context(), a.Back.Dir); err != nil {
		t.Fatal(err)
	}
	theirs, ours := events(t, there, "s"), events(t, home, "s")
	if n := len(theirs); len(ours) != n+1 || !reflect.DeepEqual(ours[:n], theirs) || ours[n].Kind != session.KindImported {
		t.Errorf("%d events, %d there", len(ours), n)
	}
	st := load(t, home, "s")
	if st.Lifecycle != session.LifecycleOpen || st.Cwd != was.Config.Root || st.Turns != was.Turns+1 || len(st.Faults) > 0 {
		t.Errorf("it is %s in %s with %d turns: %q", st.Lifecycle, st.Cwd, st.Turns, st.Faults)
	}
	if !reflect.DeepEqual(events(t, home, "fork"), fork) {
		t.Error("the fork is another")
	}
	family, err := home.Family(t.Context(), "fork")
	if err != nil || family.ID != "s" || len(family.Forks) != 1 || family.Forks[0].ID != "fork" {
		t.Errorf("family: %+v, %v", family, err)
	}
	for _, id := range []string{"s", "fork"} {
		if found, err := home.Verify(t.Context(), id); err != nil || len(found) > 0 {
			t.Errorf("verify %s: %v, %v", id, found, err)
		}
		if r, err := home.Run(t.Context(), id, homes.RunOptions{Prompt: "on"}); err != nil || !strings.Contains(r.Result, "I go on.") {
			t.Errorf("%s: %+v, %v", id, r, err)
		}
	}
	if again := received(t, home, b); !again.Known {
		t.Error("what came back is not known")
	}
	moves(t, home, there, "s", t.TempDir())
	if st := load(t, there, "s"); st.Lifecycle != session.LifecycleOpen || st.Turns != was.Turns+2 {
		t.Errorf("moved again: %s, %d turns", st.Lifecycle, st.Turns)
	}
	for _, h := range []*homes.Home{home, there} {
		if left, err := os.ReadDir(filepath.Join(h.Dir(), "incoming")); err == nil && len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
}

// A session that was paused when it moved is paused there, and again here.
func TestAPausedSessionMovesAsSuch(t *testing.T) {
	home := traveller(t, "s")
	settled(t, home, "s")
	if err := home.Deliver(t.Context(), "s", "", &session.LifecycleSet{To: session.LifecyclePaused}); err != nil {
		t.Fatal(err)
	}
	there := openScripted(t, t.TempDir(), travels, nil)
	defer func() { _ = there.Close() }()
	moves(t, home, there, "s", t.TempDir())
	if st := load(t, there, "s"); st.Lifecycle != session.LifecyclePaused {
		t.Errorf("it is %s", st.Lifecycle)
	}
}

// Goal: what went on in both places is never put together: the refusal names both ends, and up to where they are the same.
func TestTwoHistoriesAreNamed(t *testing.T) {
	home := traveller(t, "s")
	settled(t, home, "s")
	_, b := away(t, home, "s")
	here, err := home.Append(t.Context(), "s", homes.AppendOptions{}, store.Actor{Type: store.ActorUser}, &session.StateSet{Key: "went", Value: []byte("on")})
	if err != nil {
		t.Fatal(err)
	}
	before := events(t, home, "s")
	_, err = home.Receive(t.Context(), bytes.NewReader(b), bundle.Limits{})
	if !errors.Is(err, homes.ErrOtherHistory) {
		t.Fatalf("received: %v", err)
	}
	same := before[len(before)-2]
	for _, word := range []string{here.Hash.String()[:12], "the same up to event " + strconv.FormatInt(same.Seq, 10), "ends with event " + strconv.FormatInt(here.Seq, 10)} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q is not in %v", word, err)
		}
	}
	if !reflect.DeepEqual(events(t, home, "s"), before) {
		t.Error("the log was changed")
	}
}

// A session that goes on here between the look at the bundle and the taking in stays as it is; so does one whose
// commands run here.
func TestASessionThatGoesOnDoesNotComeBack(t *testing.T) {
	home := traveller(t, "s") // of which a command runs
	_, b := away(t, home, "s")
	a := received(t, home, b)
	before := events(t, home, "s")
	if err := a.Import(t.Context(), t.TempDir()); !errors.Is(err, homes.ErrRunsHere) {
		t.Errorf("while a command runs: %v", err)
	}
	settled(t, home, "s")
	if _, err := home.Append(t.Context(), "s", homes.AppendOptions{}, store.Actor{Type: store.ActorUser}, &session.StateSet{Key: "went", Value: []byte("on")}); err != nil {
		t.Fatal(err)
	}
	if err := a.Import(t.Context(), t.TempDir()); !errors.Is(err, store.ErrConflict) {
		t.Errorf("after it went on: %v", err)
	}
	if now := events(t, home, "s"); len(now) != len(before)+1 || load(t, home, "s").Lifecycle != session.LifecycleClosed {
		t.Errorf("%d events, before %d", len(now), len(before))
	}
	if left, err := os.ReadDir(filepath.Join(home.Dir(), "incoming")); err == nil && len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// returnSteps are where a coming back can be killed. Up to the third it is before, then it is after.
var returnSteps = []string{"marked", "aside", "further", "placed"}

// Goal: whoever dies while a session comes back leaves it wholly as it was or wholly come back, once the home is opened
// again, with the files that belong to it; and the next import of the same bundle is whole.
func TestKilledInComingBack(t *testing.T) {
	if dir := os.Getenv("PERDURE_TEST_RETURN"); dir != "" {
		h := openScripted(t, dir, travels, func(step string) {
			if step == os.Getenv("PERDURE_TEST_STEP") {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
		})
		t.Fatal(received(t, h, must1(os.ReadFile(os.Getenv("PERDURE_TEST_BUNDLE")))).Import(t.Context(), os.Getenv("PERDURE_TEST_DIR")))
	}
	home := traveller(t, "s")
	settled(t, home, "s")
	if _, _, err := home.Fork(t.Context(), "s", 0, "fork", ""); err != nil {
		t.Fatal(err)
	}
	there, b := awayWithOutput(t, home, "s")
	file := filepath.Join(t.TempDir(), "x.perdure")
	if err := errors.Join(os.WriteFile(file, b, 0o600), home.Close()); err != nil {
		t.Fatal(err)
	}
	for i, step := range returnSteps {
		t.Run(step, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "home")
			if out, err := exec.CommandContext(t.Context(), "cp", "-a", home.Dir(), dir).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestKilledInComingBack$")
			child.Env = append(os.Environ(), "PERDURE_TEST_RETURN="+dir, "PERDURE_TEST_STEP="+step, "PERDURE_TEST_BUNDLE="+file, "PERDURE_TEST_DIR="+t.TempDir())
			var killed *exec.ExitError
			if out, err := child.CombinedOutput(); !errors.As(err, &killed) || !strings.Contains(killed.Error(), "killed") {
				t.Fatalf("not killed at %s: %v\n%s", step, err, out)
			}
			h := openScripted(t, dir, travels, nil)
			defer func() { _ = h.Close() }()
			if left, err := os.ReadDir(filepath.Join(dir, "incoming")); err == nil && len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			isBack(t, there, h, i >= 2)
			if err := received(t, h, b).Import(t.Context(), t.TempDir()); err != nil {
				t.Fatal(err)
			}
			isBack(t, there, h, true)
		})
	}
}

// awayWithOutput is away to a home in which a command prints much and another ends, which both come back.
func awayWithOutput(t *testing.T, from *homes.Home, id string) (to *homes.Home, back []byte) {
	t.Helper()
	to = openScripted(t, t.TempDir(), `{"turns":[{"match":"on","steps":[{"text":"More.","tools":[
		{"name":"Bash","input":{"command":"echo there","run_in_background":true}},
		{"name":"Bash","input":{"command":"seq 200000"}},
		{"name":"TaskOutput","input":{"task_id":"bash_3","block":true}}]},{"text":"done"}]}]}`, nil)
	t.Cleanup(func() { _ = to.Close() })
	moves(t, from, to, id, t.TempDir())
	if _, err := to.Run(t.Context(), id, homes.RunOptions{Prompt: "on", Options: engine.Options{Mode: permission.ModeBypass}}); err != nil {
		t.Fatal(err)
	}
	// A run may end before the end of its command is in its log: then the next opening writes it.
	for tick := time.NewTicker(10 * time.Millisecond); load(t, to, id).Task("bash_3").Live(); <-tick.C {
		held, err := to.Hold(t.Context(), id, homes.HoldOptions{Still: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := held.Close(); err != nil {
			t.Fatal(err)
		}
	}
	back, _ = packed(t, to, id, homes.BundleOptions{})
	return to, back
}

// isBack checks that a session is here with all that it has there, or with nothing of what it got there.
func isBack(t *testing.T, there, here *homes.Home, whole bool) {
	t.Helper()
	theirs, ours := events(t, there, "s"), events(t, here, "s")
	if n := len(theirs); whole && (len(ours) != n+1 || !reflect.DeepEqual(ours[:n], theirs)) || !whole && len(ours) >= n {
		t.Errorf("whole %v: %d events, %d there", whole, len(ours), n)
	}
	list := func(h *homes.Home) []string {
		var names []string
		for _, dir := range []string{"outputs", "acts"} {
			all, err := os.ReadDir(filepath.Join(h.Dir(), dir, "s"))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range all {
				names = append(names, e.Name())
			}
		}
		return names
	}
	if whole {
		sameFiles(t, there, here, "s")
		last := load(t, here, "s").Tasks
		if news, err := here.Output("s", last[len(last)-1].Act, 0, 0); err != nil || string(news.Bytes) != "there\n" {
			t.Errorf("the task's output: %q, %v", news.Bytes, err)
		}
	} else if theirs, ours := list(there), list(here); len(ours) >= len(theirs) {
		t.Errorf("files of what is not here: %q, there %q", ours, theirs)
	}
	if fork := load(t, here, "fork"); len(fork.Faults) > 0 {
		t.Errorf("the fork: %q", fork.Faults)
	}
	if found, err := here.Verify(t.Context(), "s"); err != nil || len(found) > 0 {
		t.Errorf("verify: %v, %v", found, err)
	}
}
