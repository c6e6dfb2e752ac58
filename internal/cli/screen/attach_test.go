package screen_test

import (
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/cli/screen"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/asks"
	"github.com/perdure/perdure/internal/ui/transcript"
	"github.com/perdure/perdure/store"
)

// Who looks at a session that another process holds sees the words of the model while they come, and can send, take back,
// answer, set the mode and cancel: all of it happens there.
func TestAttachedToASession(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	script := words("hello", `{"text":"Good day."}`, "slow", `{"text":"`+strings.Repeat("word by word ", 100)+`the end.","delay_ms":60}`,
		"ask", `{"tools":[{"name":"AskUser","input":{"question":"Which?","options":["red","green"]}}]},{"text":"I see."}`,
		"run", `{"tools":[{"name":"Bash","input":{"command":"sleep 60"}}]}`)
	there, here := w.Open(script), w.Open("{}")
	defer w.Close(there)
	defer w.Close(here)
	holder := sits(t, w, there, held("s"))
	defer holder.leaves()
	d := sits(t, w, here, attached("s"))
	defer d.leaves()
	d.sees("[held by pid ")
	holder.says("k0", "hello")
	d.sees("> hello\nGood day.\n")
	d.says("k1", "slow please")
	d.sees("> slow please\nword by", "[working]")
	if got := d.shows(); strings.Contains(got, "the end.") {
		t.Error("the words came all at once")
	}
	d.says("k2", "ask me")
	d.sees("waits: ask me")
	d.says("k3", "something else")
	d.sees("waits: something else")
	if err := d.Withdraw(t.Context(), "k3"); err != nil {
		t.Fatal(err)
	}
	d.lacks("something else")
	if _, err := d.Cancel(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.sees("· cancelled\n> ask me\n", "[asks]")
	if got := d.shows(); strings.Count(got, "\nword by") != 1 {
		t.Errorf("what was said is there once: %s", got)
	}
	list, err := d.Answers().List(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("%v %v", list, err)
	}
	if err := d.Answers().Answer(t.Context(), list[0], asks.Answer{Text: "green"}); err != nil {
		t.Fatal(err)
	}
	d.sees("I see.")
	if err := d.Mode(t.Context(), "acceptEdits"); err != nil {
		t.Fatal(err)
	}
	d.sees("[mode acceptEdits]")
	if goal, err := d.Continue(t.Context()); err != nil || goal == nil || goal.Session != "s" {
		t.Errorf("%+v %v", goal, err)
	}
	holder.sees("· cancelled\n> ask me\n", "I see.")
	d.leaves()
	if info, err := here.Store().Get(t.Context(), "s"); err != nil || info.Holder == nil {
		t.Errorf("the holder has lost it: %+v %v", info, err)
	}
}

// killable runs a command line as a process of its own.
func killable(t *testing.T, w *clitest.World, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(append([]string{}, w.App.Environ...), "CLI_TEST_ARGS="+strings.Join(args, "\n"), "GORACE=exitcode=0")
	cmd.Dir = w.Dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

// When the process dies that holds a session, whoever looks at it is told, and can go on with it there: what was said
// until then is there, and the turn goes on.
func TestTheHolderDies(t *testing.T) {
	w := clitest.New(t)
	w.App.Now = time.Now
	slow := words("go", `{"text":"`+strings.Repeat("many words ", 400)+`","delay_ms":50}`)
	cmd := killable(t, w, "-p", "--session-id", "s", "--model", w.Scripted(slow), "go")
	h := w.Open(words("go", `{"text":"Here I go on."}`, "more", `{"text":"And on."}`))
	defer w.Close(h)
	clitest.Until(t, "it runs", func() bool {
		st, err := h.State(t.Context(), "s")
		return err == nil && st.Turn != nil && st.NewestCall() != nil
	})
	d := sits(t, w, h, attached("s"))
	defer d.leaves()
	d.sees("> go\n", "many words", "[working]")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	d.sees("[halted: nobody runs this session: enter goes on with it here]")
	d.lacks("[working]", "[held by")
	goal, err := d.Continue(t.Context())
	if err != nil || goal == nil || goal.Session != "s" {
		t.Fatalf("%+v %v", goal, err)
	}
	d.leaves()
	d = sits(t, w, h, held(goal.Session))
	d.sees("> go\n", "[halted: the turn was left open: enter goes on with it, esc ends it]")
	if goal, err := d.Continue(t.Context()); err != nil || goal != nil {
		t.Fatalf("%+v %v", goal, err)
	}
	d.sees("Here I go on.")
	d.lacks("many words", "[halted", "[held by", "[working]")
	d.says("k2", "more")
	d.sees("> more\nAnd on.\n")
}

// turns writes turns into a session's log as an agent would have.
func turns(t testing.TB, h *homes.Home, id string, from, n int) {
	t.Helper()
	r, err := h.Record(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	st, err := h.State(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	engine, head := store.Actor{Type: store.ActorEngine}, st.Head
	const batch = 100
	for i := from; i < from+n; i += batch {
		var all []session.Body
		for k := i; k < min(i+batch, from+n); k++ {
			seq, act := head.Seq+int64(len(all)), fmt.Sprintf("t%d.s1.b0.a1", k)
			all = append(all, message(fmt.Sprint("message ", k)), &session.TurnStarted{N: k, Message: seq + 1},
				&session.ModelRequested{Act: act, Turn: k, Step: 1, Attempt: 1, Epoch: st.Epoch, Model: "scripted/test", Through: seq + 2, MaxTokens: 10},
				replied(act, fmt.Sprint("reply ", k)), &session.TurnEnded{N: k, Stop: session.TurnEndTurn})
		}
		if head, err = r.Append(t.Context(), engine, all...); err != nil {
			t.Fatal(err)
		}
	}
}

// The older pages of a fork reach into its parent's log, and that one's parent's, up to the very first message; each item
// comes once and in its order, whatever the size of a page.
func TestOlderPagesReachTheParents(t *testing.T) {
	w := clitest.New(t)
	h := w.Open("{}")
	defer w.Close(h)
	w.Create("one")
	turns(t, h, "one", 1, 7)
	for parent, child := range map[string]string{"one": "two"} {
		if _, _, err := h.Fork(t.Context(), parent, 0, child, ""); err != nil {
			t.Fatal(err)
		}
	}
	turns(t, h, "two", 8, 5)
	turns(t, h, "one", 8, 3) // after the fork: not the fork's
	if _, _, err := h.Fork(t.Context(), "two", 0, "three", ""); err != nil {
		t.Fatal(err)
	}
	turns(t, h, "three", 13, 4)
	var want []string
	for i := 1; i <= 16; i++ {
		want = append(want, fmt.Sprintf("> message %d\nreply %d", i, i))
	}
	for _, size := range []int{1, 7, 30, 1000} {
		d := sits(t, w, h, attached("three"))
		d.Pages(size, size)
		for more, n := true, 0; more; n++ {
			items, again, err := d.Older(t.Context())
			if err != nil || n > 100 {
				t.Fatal(n, err)
			}
			d.mu.Lock()
			d.items = append(items, d.items...)
			d.mu.Unlock()
			more = again
		}
		var got []string
		seen := map[string]bool{}
		for line := range strings.Lines(d.shows()) {
			if strings.HasPrefix(line, "> ") || strings.HasPrefix(line, "reply") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		for _, it := range d.items {
			if seen[it.ID] {
				t.Errorf("%s comes twice", it.ID)
			}
			seen[it.ID] = true
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("pages of %d:\n%s", size, strings.Join(got, "\n"))
		}
		if items, more, err := d.Older(t.Context()); len(items) > 0 || more || err != nil {
			t.Errorf("before the first: %v %v %v", items, more, err)
		}
		d.leaves()
	}
}

// What a screen lets go of is read again from where it says, parents' logs included.
func TestOlderBeginsAgain(t *testing.T) {
	w := clitest.New(t)
	h := w.Open("{}")
	defer w.Close(h)
	w.Create("one")
	turns(t, h, "one", 1, 3)
	if _, _, err := h.Fork(t.Context(), "one", 0, "two", ""); err != nil {
		t.Fatal(err)
	}
	turns(t, h, "two", 4, 6)
	d := sits(t, w, h, attached("two"))
	all := func() (items []transcript.Item) {
		for more := true; more; {
			var page []transcript.Item
			var err error
			if page, more, err = d.Older(t.Context()); err != nil {
				t.Fatal(err)
			}
			items = append(page, items...)
		}
		return items
	}
	want := append(all(), d.began.Items...)
	i := slices.IndexFunc(want, func(it transcript.Item) bool { return it.Text == "message 8" })
	if i < 0 || want[i].At == 0 {
		t.Fatal(want)
	}
	d.Pages(5, 5)
	for range 2 {
		d.Again(want[i].At - 1)
		if got := all(); !reflect.DeepEqual(got, want[:i]) {
			t.Errorf("%d items, want %d:\n%+v", len(got), i, got)
		}
	}
}

// A fork that has just been made shows what was said last in its parent.
func TestAForkBeginsWithItsParentsWords(t *testing.T) {
	w := clitest.New(t)
	h := w.Open("{}")
	defer w.Close(h)
	w.Create("one")
	turns(t, h, "one", 1, 3)
	if _, _, err := h.Fork(t.Context(), "one", 0, "two", ""); err != nil {
		t.Fatal(err)
	}
	d := sits(t, w, h, attached("two"))
	d.sees("> message 1\nreply 1\n", "> message 3\nreply 3\n· forked")
}

// A command that goes on under its shim while its session is opened again was not interrupted, and is not said to be.
func TestACommandThatRunsOnIsNoInterruption(t *testing.T) {
	w := clitest.New(t)
	w.App.Now = time.Now
	cmd := killable(t, w, "-p", "--session-id", "s", "--allowed-tools", "Bash", "--model", w.Scripted(words("go", `{"tools":[{"name":"Bash","input":{"command":"echo begun; sleep 300"}}]}`)), "go")
	h := w.Open("{}")
	defer w.Close(h)
	clitest.Until(t, "it runs", func() bool {
		st, err := h.State(t.Context(), "s")
		if err != nil || len(screen.RunsOn(st)) != 1 {
			return false
		}
		now, err := h.Commands().State("s", st.Turn.Calls[0].ID)
		return err == nil && now.Output > 0
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	d := sits(t, w, h, held("s"))
	defer d.leaves()
	defer func() { _, _ = d.Cancel(t.Context()) }()
	d.sees("meanwhile: still running: Bash")
	if got := d.shows(); strings.Contains(got, "interrupted") {
		t.Error(got)
	}
}

// A process that holds an idle session and hangs, neither stopped nor dead, takes nothing that is sent to it: who looks
// on is told that it does not answer, and goes on with the session here; what was sent is not lost, and the other one
// writes no more.
func TestAHolderThatHangs(t *testing.T) {
	w := clitest.New(t)
	w.App.Now = time.Now
	w.Create("s")
	there, h := w.Open("{}"), w.Open(words("are you there", `{"text":"Here I am."}`))
	defer w.Close(there)
	defer w.Close(h)
	hangs, err := there.Record(t.Context(), "s") // it holds the session and looks at nothing
	if err != nil {
		t.Fatal(err)
	}
	d := sits(t, w, h, attached("s"))
	d.sees("[held by")
	d.says("k", "are you there")
	d.sees("has not answered for ", ": enter to fork or take over]")
	goal, err := d.Continue(t.Context())
	if err != nil || goal == nil || goal.Session != "s" || !strings.Contains(goal.Silent, "has not answered") {
		t.Fatalf("%+v %v", goal, err)
	}
	d.leaves()
	if err := h.Takeover(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	d = sits(t, w, h, held("s"))
	if _, err := d.Continue(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.sees("> are you there\nHere I am.\n")
	if _, err := hangs.Append(t.Context(), store.Actor{Type: store.ActorUser}, message("from the past")); err == nil {
		t.Error("the other one still writes")
	}
	d.leaves()
}
