package screen_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/cli/screen"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/asks"
	"github.com/perdure/perdure/internal/ui/composer"
	"github.com/perdure/perdure/internal/ui/transcript"
	"github.com/perdure/perdure/store"
)

// words are turns of a script: what each says, in a moment.
func words(turns ...string) string {
	var out []string
	for i := 0; i < len(turns); i += 2 {
		out = append(out, fmt.Sprintf(`{"match":%q,"steps":[%s]}`, turns[i], turns[i+1]))
	}
	return `{"turns":[` + strings.Join(out, ",") + `]}`
}

// The first message makes the session, and nothing is made before it.
func TestTheFirstMessageMakesTheSession(t *testing.T) {
	w := clitest.New(t)
	h := w.Open(words("hello", `{"text":"Good day."}`, "again", `{"text":"Once more."}`))
	defer w.Close(h)
	d := sits(t, w, h, nil)
	defer d.leaves()
	if err := d.Mode(t.Context(), "plan"); err != nil {
		t.Error(err)
	}
	d.sees("[mode plan]")
	if d.Leaving(t.Context()) != "" || d.Session() != "" {
		t.Error("there is a session before the first message")
	}
	if page, err := h.List(t.Context(), store.Query{Limit: 5}); err != nil || len(page.Sessions) != 0 {
		t.Errorf("%d sessions before the first message: %v", len(page.Sessions), err)
	}
	d.says("k1", "hello")
	d.sees("> hello\nGood day.\n", "[model scripted/test]")
	d.says("k2", "again")
	d.sees("> hello\nGood day.\n> again\nOnce more.\n")
	d.lacks("working")
	if d.made != 1 || d.Session() != "s" {
		t.Errorf("made %d times, %q", d.made, d.Session())
	}
}

// A session that cannot be made, or cannot be held, takes nothing: Send fails, so that the message is still there to be
// sent again; and then there is one session.
func TestAFailedCreationTakesNothing(t *testing.T) {
	w := clitest.New(t)
	h := w.Open(words("hello", `{"text":"Good day."}`))
	defer w.Close(h)
	var creates, options int
	d := sits(t, w, h, func(c *screen.Config) {
		create, option := c.Create, c.Options
		c.Create = func(ctx context.Context, prompt string) (string, error) {
			if creates++; creates == 1 {
				return "", errNot
			}
			return create(ctx, prompt)
		}
		c.Options = func(ctx context.Context, id string, made bool) (homes.Options, error) {
			if options++; options == 1 {
				return homes.Options{}, errNot
			}
			return option(ctx, id, made)
		}
	})
	defer d.leaves()
	for i := range 2 {
		if err := d.Send(t.Context(), "k", written("hello")); !errors.Is(err, errNot) {
			t.Fatalf("%d: %v", i, err)
		}
	}
	d.says("k", "hello")
	d.sees("> hello\nGood day.\n")
	if creates != 2 {
		t.Errorf("made %d times", creates)
	}
}

// While a session is made, which takes a while, the screen asks for it in vain and is not kept waiting: not even by what it
// is told meanwhile.
func TestNothingWaitsWhileASessionIsMade(t *testing.T) {
	w := clitest.New(t)
	h := w.Open(words("hello", `{"text":"Good day."}`))
	defer w.Close(h)
	making, on := make(chan struct{}), make(chan struct{})
	d := sits(t, w, h, func(c *screen.Config) {
		create := c.Create
		c.Create = func(ctx context.Context, prompt string) (string, error) {
			close(making)
			<-on
			return create(ctx, prompt)
		}
	})
	defer d.leaves()
	sent := make(chan error, 1)
	go func() { sent <- d.Send(t.Context(), "k", written("hello")) }()
	<-making
	asked := make(chan string, 1)
	go func() { asked <- d.Session() + d.Leaving(t.Context()) }()
	select {
	case got := <-asked:
		if got != "" {
			t.Errorf("%q", got)
		}
	case <-time.After(10 * time.Second):
		t.Error("the screen waits for a session that is being made")
	}
	close(on)
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	d.sees("Good day.")
}

// A session that is opened again calls no model and starts nothing, until somebody says so.
func TestASessionThatIsOpenedIsStill(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	h := w.Open(words("hello", `{"text":"Good day."}`))
	defer w.Close(h)
	if _, err := h.Send(t.Context(), "s", "k0", "hello"); err != nil {
		t.Fatal(err)
	}
	d := sits(t, w, h, held("s"))
	defer d.leaves()
	d.sees("waits: hello", "[halted: messages wait: enter goes on with them]")
	for _, mode := range []string{"plan", "default", "plan", "default"} { // it goes round, and round
		if err := d.Mode(t.Context(), mode); err != nil {
			t.Fatal(err)
		}
		d.sees("[mode " + mode + "]")
	}
	if st, err := h.State(t.Context(), "s"); err != nil || st.Turns > 0 || st.Total().Output > 0 {
		t.Fatalf("%+v %v; it shows\n%s", st, err, d.shows())
	}
	if goal, err := d.Continue(t.Context()); err != nil || goal != nil {
		t.Fatal(goal, err)
	}
	d.sees("> hello\nGood day.\n")
	d.lacks("halted", "waits", "working")
}

// Who answers what a session asks that was opened again has it go on: nothing else has to be said.
func TestAnAnswerGoesOn(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	script := words("go", `{"text":"I try.","tools":[{"name":"Bash","input":{"command":"touch made && echo it was run"}}]},{"text":"Done."}`)
	w.Prompt("s", script, "go", "")
	h := w.Open(script)
	defer w.Close(h)
	d := sits(t, w, h, func(c *screen.Config) {
		c.ID, c.Options = "s", func(context.Context, string, bool) (homes.Options, error) { return homes.Options{}, nil }
	})
	defer d.leaves()
	d.sees("waits for your approval", "[asks]")
	list, err := d.Answers().List(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("%v %v", list, err)
	}
	if err := d.Answers().Answer(t.Context(), list[0], asks.Answer{Verdict: asks.Once}); err != nil {
		t.Fatal(err)
	}
	d.sees("it was run", "Done.")
	d.lacks("halted", "[asks]")
}

// Cancel names the commands that end with it.
func TestCancelNamesWhatItEnds(t *testing.T) {
	w := clitest.New(t)
	h := w.Open(words("go", `{"tools":[{"name":"Bash","input":{"command":"echo begun; sleep 60"}}]}`))
	defer w.Close(h)
	d := sits(t, w, h, nil)
	defer d.leaves()
	if _, err := d.Cancel(t.Context()); err == nil {
		t.Error("what is no session is cancelled")
	}
	d.says("k", "go")
	d.sees("[working]", "Bash echo begun")
	clitest.Until(t, "it prints", func() bool {
		text, omitted, err := d.Output(t.Context(), "t1.s1.b1")
		return err == nil && strings.Contains(text, "begun") && omitted == 0
	})
	stopped, err := d.Cancel(t.Context())
	if err != nil || len(stopped) != 1 || stopped[0] != "echo begun; sleep 60" {
		t.Errorf("%q %v", stopped, err)
	}
	d.sees("· cancelled")
	d.lacks("working")
	if stopped, err = d.Cancel(t.Context()); err != nil || len(stopped) != 0 {
		t.Errorf("nothing runs: %q %v", stopped, err)
	}
}

// A message that waits can be taken back, with what is attached to it; another one stays.
func TestAMessageIsTakenBack(t *testing.T) {
	w := clitest.New(t)
	h := w.Open(words("go", `{"tools":[{"name":"Bash","input":{"command":"sleep 60"}}]},{"text":"over"}`, "third", `{"text":"The third."}`))
	defer w.Close(h)
	d := sits(t, w, h, nil)
	defer d.leaves()
	d.says("k1", "go")
	d.sees("[working]", "Bash sleep 60")
	long := composer.Draft{Parts: []composer.Part{composer.Text("second "), composer.Pasted{Text: strings.Repeat("x\n", 300), Lines: 300}}}
	if err := d.Send(t.Context(), "k2", long); err != nil {
		t.Fatal(err)
	}
	d.says("k3", "third")
	d.sees("waits: second [pasted 300 lines]\nwaits: third")
	if err := d.Withdraw(t.Context(), "k2"); err != nil {
		t.Fatal(err)
	}
	d.lacks("waits: second")
	if err := d.Withdraw(t.Context(), "k2"); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("it is taken back twice: %v", err)
	}
	if _, err := d.Cancel(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.sees("> third\nThe third.\n")
	d.lacks("second")
}

// The mode and the model change while the session is held, and the screen says so at once.
func TestModeAndModelChange(t *testing.T) {
	w := clitest.New(t)
	h := w.Open(words("hello", `{"text":"Good day."}`))
	defer w.Close(h)
	d := sits(t, w, h, nil)
	defer d.leaves()
	d.says("k", "hello")
	d.sees("Good day.")
	if err := d.Mode(t.Context(), "plan"); err != nil {
		t.Fatal(err)
	}
	d.sees("[mode plan]")
	if err := d.Mode(t.Context(), "anything"); err == nil {
		t.Error("a mode that is none is taken")
	}
	r, err := d.Command(t.Context(), "model", "")
	if err != nil || r.Choices[0].Args != "scripted/test" {
		t.Errorf("%+v %v", r, err)
	}
	if _, err = d.Command(t.Context(), "model", w.Scripted(words("hello", `{"text":"Me."}`))); err != nil {
		t.Fatal(err)
	}
	d.sees("[model scripted//") // by its file
}

// A session that another process takes over is gone from the screen, which says how to get it back and stays to be read.
func TestASessionThatIsTakenOverIsGone(t *testing.T) {
	w := clitest.New(t)
	h := w.Open(words("hello", `{"text":"Good day."}`))
	defer w.Close(h)
	d := sits(t, w, h, nil)
	defer d.leaves()
	d.says("k", "hello")
	d.sees("Good day.")
	other := w.Open("{}")
	defer w.Close(other)
	if err := other.Takeover(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if err := d.Send(t.Context(), "k2", written("more")); err == nil {
		_ = d.Mode(t.Context(), "plan") // what it writes shows that it is no longer the holder
	}
	d.sees("[gone: another process has taken this session over: enter goes back to it]", "Good day.")
	if _, err := d.Cancel(t.Context()); err == nil {
		t.Error("what is gone is cancelled")
	}
}

// When the screen is left nothing of it goes on.
func TestNothingIsLeftOfAScreen(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	h := w.Open(words("hello", `{"text":"Good day.","delay_ms":50}`))
	defer w.Close(h)
	sits(t, w, h, held("s")).leaves() // what the home itself begins with the first write
	before := runtime.NumGoroutine()
	for i := range 6 {
		set := held("s")
		if i%2 == 1 {
			set = attached("s")
		}
		d := sits(t, w, h, set)
		var verbs sync.WaitGroup
		verbs.Go(func() { _ = d.Send(t.Context(), fmt.Sprint("k", i), written("hello")) })
		verbs.Go(func() { _, _, _ = d.Older(t.Context()) })
		verbs.Go(func() { _ = d.Mode(t.Context(), "plan") })
		d.leaves()
		verbs.Wait()
		if err := d.Send(t.Context(), "late", written("too late")); err == nil {
			t.Error("a message is sent from a screen that was left")
		}
		if info, err := h.Store().Get(t.Context(), "s"); err != nil || info.Holder != nil {
			t.Errorf("%+v is still held: %v", info.Holder, err)
		}
	}
	clitest.Until(t, "its goroutines end", func() bool { return runtime.NumGoroutine() <= before })
}

// A message that is under way when the screen is left arrives, even the first one, whose session is still being made; then
// the session is given back.
func TestAMessageUnderWayArrives(t *testing.T) {
	w := clitest.New(t)
	h := w.Open(words("hello", `{"text":"Good day.","delay_ms":50}`))
	defer w.Close(h)
	making, on := make(chan struct{}), make(chan struct{})
	d := sits(t, w, h, func(c *screen.Config) {
		create := c.Create
		c.Create = func(ctx context.Context, prompt string) (string, error) {
			close(making)
			<-on
			return create(ctx, prompt)
		}
	})
	sent, left := make(chan error, 1), make(chan struct{})
	go func() { sent <- d.Send(t.Context(), "k", written("hello")) }()
	<-making
	go func() { d.leaves(); close(left) }()
	select {
	case <-left:
		t.Error("the screen is left while a message is sent")
	case <-time.After(100 * time.Millisecond):
	}
	close(on)
	<-left
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if info, err := h.Store().Get(t.Context(), "s"); err != nil || info.Holder != nil {
		t.Errorf("it is still held: %+v %v", info.Holder, err)
	}
	back := sits(t, w, h, held("s")) // whoever holds it next has the message
	back.sees("hello")
}

// The end of what a command in the background has printed can be seen in any later turn, without known secrets.
func TestTheOutputOfACommandInTheBackground(t *testing.T) {
	const secret = "hunter2hunter2hunter2"
	w := clitest.New(t)
	w.App.Environ = append(w.App.Environ, "MY_API_KEY="+secret)
	h := w.Open(words("serve", `{"tools":[{"name":"Bash","input":{"command":"echo key $MY_API_KEY; seq 1 40000; echo key $MY_API_KEY; sleep 60","run_in_background":true}}]},{"text":"It serves."}`, "next", `{"text":"Next."}`))
	defer w.Close(h)
	d := sits(t, w, h, nil)
	defer d.leaves()
	d.says("k1", "serve")
	d.sees("It serves.", "runs as bash_1")
	d.says("k2", "next")
	d.sees("Next.")
	var text string
	var omitted int64
	clitest.Until(t, "its end is seen", func() (ok bool) {
		var err error
		text, omitted, err = d.Output(t.Context(), "t1.s1.b1")
		return err == nil && strings.Contains(text, "40000\nkey ")
	})
	if strings.Contains(text, "hunter2") || len(text) > 32<<10 || omitted < 150_000 {
		t.Errorf("%d bytes after %d: %.100q…", len(text), omitted, text)
	}
	if got := d.Leaving(t.Context()); got != "bash_1 will go on" {
		t.Error(got)
	}
	w.OK("task", "kill", "s", "bash_1")
	d.sees("bash_1 ")
}

// Looking at a paused session leaves it paused; a message, or enter where something is open, opens it again and goes on.
func TestAPausedSessionStaysPausedUntilItsPersonSaysSo(t *testing.T) {
	for name, open := range map[string]bool{"a message": false, "enter": true} {
		t.Run(name, func(t *testing.T) {
			w := clitest.New(t)
			w.Create("s")
			h := w.Open(words("hello", `{"text":"Good day."}`))
			defer w.Close(h)
			halted := "[halted: the session is paused: a message opens it again]"
			if open {
				halted = "[halted: the session is paused: enter opens it again and goes on]"
				if _, err := h.Send(t.Context(), "s", "k0", "hello"); err != nil {
					t.Fatal(err)
				}
			}
			if err := h.Deliver(t.Context(), "s", "", &session.LifecycleSet{To: session.LifecyclePaused}); err != nil {
				t.Fatal(err)
			}
			d := sits(t, w, h, held("s"))
			d.sees(halted)
			d.leaves()
			if st, err := h.State(t.Context(), "s"); err != nil || st.Lifecycle != session.LifecyclePaused || len(st.Labels) != 0 {
				t.Fatalf("looked at, it is %v, labels %v: %v", st.Lifecycle, st.Labels, err)
			}
			d = sits(t, w, h, held("s"))
			defer d.leaves()
			if d.sees(halted); open {
				if _, err := d.Continue(t.Context()); err != nil {
					t.Fatal(err)
				}
			} else {
				d.says("k", "hello")
			}
			d.sees("> hello\nGood day.\n")
			d.lacks("[halted")
			if st, err := h.State(t.Context(), "s"); err != nil || st.Lifecycle != session.LifecycleOpen || st.Labels[app.LabelSeat] != app.SeatScreen {
				t.Errorf("it is %v, labels %v: %v", st.Lifecycle, st.Labels, err)
			}
		})
	}
}

// Of a long output the model is shown the ends; a person can see all of it, with secrets replaced, also in a fork.
func TestAllOfAnOutputCanBeSeen(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	h := w.Open(words("go", `{"tools":[{"name":"Bash","input":{"command":"seq 1 40000"}}]},{"text":"Done."}`))
	defer w.Close(h)
	d := sits(t, w, h, held("s"))
	d.says("k", "go")
	d.sees("Done.")
	whole := func(d *desk) {
		t.Helper()
		for _, it := range d.has() {
			if it.Kind != transcript.Tool {
				continue
			}
			if strings.Contains(it.Call.Output, "\n20000\n") {
				t.Error("the model was shown all")
			}
			text, omitted, err := d.Whole(t.Context(), it.Call)
			if err != nil || omitted != 0 || !strings.HasPrefix(text, "1\n2\n") || !strings.Contains(text, "\n20000\n") || !strings.HasSuffix(text, "\n40000\n") {
				t.Errorf("%d bytes, %d left out: %v", len(text), omitted, err)
			}
			return
		}
		t.Error("there is no call")
	}
	whole(d)
	d.leaves()
	if _, _, err := h.Fork(t.Context(), "s", 0, "fork", "a fork"); err != nil {
		t.Fatal(err)
	}
	d = sits(t, w, h, held("fork"))
	defer d.leaves()
	whole(d)
}

// A search gives sessions to go to; the models that can be named are offered, the one that holds first.
func TestWhatCanBeChosen(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	h := w.Open(words("hello", `{"text":"Good day at the harbour."}`))
	defer w.Close(h)
	d := sits(t, w, h, held("s"))
	defer d.leaves()
	d.says("k", "hello")
	d.sees("harbour")
	r, err := d.Command(t.Context(), "search", "harbour")
	if err != nil || len(r.Choices) == 0 || r.Choices[0].Go == nil || r.Choices[0].Go.Session != "s" || !strings.Contains(r.Choices[0].About, "harbour") {
		t.Errorf("%+v %v", r, err)
	}
	if r, err = d.Command(t.Context(), "search", "nowhere"); err != nil || len(r.Choices) != 0 || !strings.Contains(r.Note, "nothing has these words") {
		t.Errorf("%+v %v", r, err)
	}
	r, err = d.Command(t.Context(), "model", "")
	if err != nil || len(r.Choices) < 4 || !strings.Contains(r.Title, "scripted/test") {
		t.Fatalf("%+v %v", r, err)
	}
	for _, c := range r.Choices {
		if c.Command != "model" || !strings.Contains(c.Args, "/") || c.About == "" {
			t.Errorf("%+v", c)
		}
	}
}

// /compact of a conversation of some words asks no model: a summary would be longer.
func TestCompactOfATinyConversation(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	h := w.Open(words("hello", `{"text":"Good day."}`, "long", `{"text":"`+strings.Repeat("many words ", 1000)+`"}`))
	defer w.Close(h)
	d := sits(t, w, h, held("s"))
	defer d.leaves()
	d.says("k", "hello")
	d.sees("Good day.")
	if r, err := d.Command(t.Context(), "compact", ""); err != nil || !strings.Contains(r.Note, "nothing worth compacting") {
		t.Errorf("%+v %v", r, err)
	}
	if st, err := h.State(t.Context(), "s"); err != nil || st.Compaction != nil {
		t.Errorf("%+v %v", st.Compaction, err)
	}
	d.says("k2", "long")
	d.sees("many words")
	d.lacks("[working]")
	if _, err := d.Command(t.Context(), "compact", ""); err != nil {
		t.Fatal(err)
	}
	d.sees("compacted: ")
}

// What a command of the command line says besides its results is said on the screen without the name that it has in a
// shell.
func TestACommandsWordsAreSaidPlainly(t *testing.T) {
	w := clitest.New(t)
	h := w.Open(words("hello", `{"text":"Good day."}`))
	defer w.Close(h)
	d := sits(t, w, h, func(c *screen.Config) {
		c.Run = func(context.Context, ...string) (string, bool) { return "perdure: nothing is noted yet\n", true }
	})
	defer d.leaves()
	d.says("k", "hello")
	d.sees("Good day.")
	if r, err := d.Command(t.Context(), "memory", ""); err != nil || r.Note != "nothing is noted yet" {
		t.Errorf("%+v %v", r, err)
	}
}
