package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// wordless is a crowd whose summaries say nothing, so that what survives is what Perdure keeps.
func wordless(t *testing.T, steps int) *crowd {
	c := newCrowd(t, 12_000, steps, 3000)
	c.summary = func(modelapi.Request) (*modelapi.Response, error) {
		return reply(modelapi.StopEndTurn, text("I worked.")), nil
	}
	return c
}

// acting has the crowd's model decide by what a request says: act gives the calls of a step, nil for the crowd's own.
func (c *crowd) acting(act func(step int, sent string) []model.Block) {
	c.answer = func(ctx context.Context, n int, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
		out, err := c.reply(ctx, n, r, sink)
		if err != nil || session.ForSummary(r.Act) {
			return out, err
		}
		var turn, step int
		_, _ = fmt.Sscanf(r.Act, "t%d.s%d.", &turn, &step)
		if calls := act(step, render(r.Messages)); calls != nil {
			out.Blocks, out.Stop = append([]model.Block{text(fmt.Sprintf("step %d", step))}, calls...), modelapi.StopToolUse
		}
		return out, err
	}
}

const nextMarked = `{"todos":[{"content":"schema","status":"completed"},{"content":"MARKER-NEXT","status":"in_progress"},{"content":"later","status":"pending"}]}`

// Over many compactions in a row agents lose where the work stands, and start a build again that still runs, or are told
// of its end once more. After each of eight or more the next step, the plan, the notes and the running build are there,
// whatever the summary says; the build is started once, and its end is told once.
func TestEightCompactionsLoseNothing(t *testing.T) {
	c := wordless(t, 80)
	cmds := printer{newShims()}
	out := t.TempDir()
	c.config = func(e *engine.Config) { e.Commands, e.OutDir = cmds, out }
	ended, toldOnce := false, 0
	var p process
	c.acting(func(step int, sent string) []model.Block {
		switch n := strings.Count(sent, "[Background task bash_1"); {
		case step == 1:
			return []model.Block{use("plan", "TodoWrite", nextMarked), use("note", "Note", `{"kind":"failed","text":"v2 mode","reason":"MARKER-FAILED"}`)}
		case !strings.Contains(sent, "bash_1"): // at first, and whenever the build is forgotten
			return []model.Block{use(fmt.Sprintf("b%d", step), "Bash", `{"command":"sleep","run_in_background":true}`)}
		case n > 1:
			t.Errorf("step %d is told of the end %d times", step, n)
		default:
			toldOnce += n
		}
		if step > 1 && (!strings.Contains(sent, "MARKER-NEXT") || !strings.Contains(sent, "MARKER-FAILED")) {
			t.Errorf("step %d does not know what is next, or what failed:\n%.3000s", step, sent)
		}
		if !ended && c.asked == 5 {
			ended = true
			cmds.end("t1.s2.b2.a1", 3)
			for deadline := time.Now().Add(20 * time.Second); happened(t, p, session.KindTaskExited) == 0 && time.Now().Before(deadline); {
				runtime.Gosched()
			}
		}
		if ended && c.asked >= 7 && !strings.Contains(sent, "exited with code 3") && !strings.Contains(sent, "exit code 3") {
			t.Errorf("step %d does not know how the build ended", step)
		}
		return nil
	})
	var se *engine.Session
	p, se = c.start("build it")
	se = restart(t, p, se)
	st := run(t, se)
	if n := len(compactions(t, p)); n < 8 || c.asked < 8 || st.LastTurn == nil || st.LastTurn.Stop != session.TurnEndTurn {
		t.Fatalf("%d compactions, %d summaries, %+v", n, c.asked, st.LastTurn)
	}
	if n := len(cmds.cmds); n != 1 || len(st.Tasks) != 1 || toldOnce == 0 {
		t.Errorf("%d commands, %d tasks, told in %d requests", n, len(st.Tasks), toldOnce)
	}
	if n := strings.Count(p.whole(), "[Background task bash_1"); n != 1 {
		t.Errorf("its end is told %d times", n)
	}
	if len(st.Plan) != 3 || st.Plan[1].Content != "MARKER-NEXT" || len(st.Facts) != 1 {
		t.Errorf("plan %+v, notes %+v", st.Plan, st.Facts)
	}
}

// outsiders are two tools that do something outside, and count it.
func outsiders(c *crowd, name string) map[string]*atomic.Int64 {
	out := map[string]*atomic.Int64{}
	for _, n := range []string{"One", "Two"} {
		count := &atomic.Int64{}
		out[n] = count
		calls := 0
		c.tools = append(c.tools, newOutside(name+n, false, &calls, func(context.Context) (tools.Result, error) {
			count.Add(1)
			return tools.Result{Content: []model.Part{model.TextPart("done")}}, nil
		}))
	}
	return out
}

// After a compaction agents do again what they did before it: a deployment happens twice. What was done is in every
// request, as done, though the summary does not speak of it. The control is a model that is not shown that part.
func TestWhatIsDoneIsNotDoneAgain(t *testing.T) {
	for _, blind := range []bool{false, true} {
		c := wordless(t, 40)
		did := outsiders(c, "Deploy")["One"]
		c.acting(func(step int, sent string) []model.Block {
			if blind {
				sent = strings.ReplaceAll(sent, "ok: DeployOne", "")
			}
			if step < 40 && !strings.Contains(sent, "DeployOne") {
				return []model.Block{use(fmt.Sprintf("d%d", step), "DeployOne", `{}`)}
			}
			return nil
		})
		p, se := c.start("deploy, then read everything")
		run(t, restart(t, p, se))
		if n := did.Load(); len(compactions(t, p)) < 3 || (n == 1) == blind {
			t.Errorf("blind %v: it was done %d times, over %d compactions", blind, n, len(compactions(t, p)))
		}
	}
}

// A compaction in the middle of a task of two steps drops the task from what the model is sent: step one is done again,
// and step two never. The user's words stay as they are, and each step is done once, in order.
func TestATaskOfTwoStepsGoesOnAtTheSecond(t *testing.T) {
	c := wordless(t, 30)
	did := outsiders(c, "Mark")
	c.acting(func(step int, sent string) []model.Block {
		if strings.Count(sent, "first MarkOne, then MarkTwo") != 1 {
			t.Errorf("step %d: the task is there %d times", step, strings.Count(sent, "first MarkOne, then MarkTwo"))
		}
		sent = strings.ReplaceAll(sent, "first MarkOne, then MarkTwo", "")
		switch {
		case !strings.Contains(sent, "MarkOne"):
			return []model.Block{use(fmt.Sprintf("one%d", step), "MarkOne", `{}`)}
		case step == 25:
			if did["Two"].Load() > 0 {
				t.Error("the second step came first")
			}
			return []model.Block{use("two", "MarkTwo", `{}`)}
		}
		return nil
	})
	p, se := c.start("first MarkOne, then MarkTwo")
	st := run(t, restart(t, p, se))
	if one, two := did["One"].Load(), did["Two"].Load(); one != 1 || two != 1 || len(compactions(t, p)) < 2 || st.LastTurn.Stop != session.TurnEndTurn {
		t.Errorf("step one %d times, step two %d times, %d compactions", one, two, len(compactions(t, p)))
	}
}

// An end that was told before a compaction is told again after it, as if it were news, and the model acts on it twice.
// It is told once; after the compaction the live state says how the task ended.
func TestAnEndIsNotToldAgainAfterACompaction(t *testing.T) {
	c := wordless(t, 4)
	cmds := printer{newShims()}
	out := t.TempDir()
	c.config = func(e *engine.Config) { e.Commands, e.OutDir = cmds, out }
	c.acting(func(_ int, sent string) []model.Block {
		if !strings.Contains(sent, "bash_1") {
			return []model.Block{use("b", "Bash", `{"command":"sleep","run_in_background":true}`)}
		}
		return nil
	})
	p, se := c.start("start it")
	se = restart(t, p, se)
	run(t, se)
	cmds.end("t1.s1.b2.a1", 0)
	for deadline := time.Now().Add(20 * time.Second); happened(t, p, session.KindTaskExited) == 0 && time.Now().Before(deadline); {
		runtime.Gosched() // whoever waits for the task is another goroutine
		run(t, se)
	}
	for i := range 3 {
		p.say(fmt.Sprintf("turn %d", i))
		p.send(fmt.Sprint("room", i), &session.CompactRequested{})
		run(t, se)
	}
	if n := strings.Count(p.whole(), "[Background task bash_1"); n != 1 || len(compactions(t, p)) < 2 {
		t.Errorf("told %d times over %d compactions", n, len(compactions(t, p)))
	}
	if sent := render(c.last().Messages); !strings.Contains(sent, "bash_1: sleep: exited with code 0") {
		t.Errorf("the live state lacks it:\n%s", sent)
	}
}

// A session whose compactions do not help enters the next one whenever it is resumed, and pays for each. Opening it does
// nothing; each resume by a person makes at most one more round of the levels and stops with the numbers again.
func TestResumingDoesNotCompactForEver(t *testing.T) {
	c := newCrowd(t, 12_000, 40, 400)
	c.count = func(r modelapi.Request) int64 {
		if n := strings.Count(render(r.Messages), "step "); n < 3 && c.asked == 0 {
			return 100
		}
		return 10_000
	}
	p, se := c.start("go")
	run(t, se)
	for i := range 5 {
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		before, asked := len(compactions(t, p)), len(c.requests)
		se = p.open(engine.Options{})
		run(t, se)
		if n, m := len(compactions(t, p)), len(c.requests); n != before || m != asked {
			t.Fatalf("opening %d: %d more compactions, %d more requests", i, n-before, m-asked)
		}
		if err := se.Resume(t.Context(), store.Actor{Type: store.ActorUser}); err != nil {
			t.Fatal(err)
		}
		st := run(t, se)
		if halt, _ := st.Halt(); halt != session.TurnContextLimit {
			t.Errorf("resume %d: halted %q", i, halt)
		}
		if n, m := len(compactions(t, p))-before, len(c.requests)-asked; n > 3 || m > 4 {
			t.Errorf("resume %d: %d more compactions, %d more requests", i, n, m)
		}
	}
}

// A message that is sent while the conversation is compacted, or while the words of a handoff are found, is accepted and
// then lost with what was replaced. It is answered in its turn, word for word, once; also if the process dies first.
func TestAMessageSentMeanwhileIsAnswered(t *testing.T) {
	for _, dies := range []bool{false, true} {
		c := newCrowd(t, 12_000, 20, 3000)
		var p process
		var se *engine.Session
		said := false
		c.summary = func(modelapi.Request) (*modelapi.Response, error) {
			if !said {
				said = true
				p.say("LATE MESSAGE")
				if dies {
					p.store.Kill()
				}
			}
			return reply(modelapi.StopEndTurn, text("so far")), nil
		}
		p, se = c.start("go")
		if err := se.Run(t.Context()); (err != nil) != dies {
			t.Fatal(err)
		}
		if dies {
			p = c.process()
			se = p.open(engine.Options{})
		}
		st := run(t, se)
		if sent := render(c.last().Messages); st.Turns != 2 || st.LastTurn.Stop != session.TurnEndTurn || strings.Count(sent, "LATE MESSAGE") != 1 {
			t.Errorf("dies %v: %d turns, it is there %d times", dies, st.Turns, strings.Count(sent, "LATE MESSAGE"))
		}
	}
}

// nowhere are documents that nobody keeps.
type nowhere struct{}

func (nowhere) Render(_ context.Context, _ *session.State, _ *session.Transcript, words string) []byte {
	return []byte("# " + words)
}
func (nowhere) Put(context.Context, *session.State, []byte) {}
func (nowhere) Save(context.Context, *session.State)        {}

func TestAMessageSentWhileHandingOffIsAnswered(t *testing.T) {
	for _, dies := range []bool{false, true} {
		c := newCrowd(t, 100_000, 3, 300)
		c.config = func(e *engine.Config) { e.Documents = nowhere{} }
		p, se := c.start("go")
		run(t, se)
		c.summary = func(modelapi.Request) (*modelapi.Response, error) {
			p.say("LATE MESSAGE")
			if dies {
				p.store.Kill()
			}
			return reply(modelapi.StopEndTurn, text("words")), nil
		}
		if err := se.Handoff(t.Context(), session.HandoffEnd, time.Minute); (err != nil) != dies {
			t.Fatal(err)
		}
		if !dies {
			if st := se.State(); st.Handoff == nil || st.Handoff.Words == 0 {
				t.Errorf("the handoff: %+v", st.Handoff)
			}
			if err := se.Close(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		}
		c.summary = nil
		p = c.process()
		st := run(t, p.open(engine.Options{}))
		if sent := render(c.last().Messages); st.Turns != 2 || strings.Count(sent, "LATE MESSAGE") != 1 || strings.Contains(sent, "# words") {
			t.Errorf("dies %v: %d turns, %s", dies, st.Turns, sent)
		}
	}
}

// A session of ten thousand steps stays within its window at every request, ends, and its state does not grow with it.
func TestTenThousandSteps(t *testing.T) {
	const steps = 10_000
	c := newCrowd(t, 12_000, steps, 2000)
	inner := c.answer
	c.answer = func(ctx context.Context, n int, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
		c.mu.Lock()
		c.requests = c.requests[:0] // they are too many to keep
		c.mu.Unlock()
		return inner(ctx, n, r, sink)
	}
	p, se := c.start("read on")
	began := time.Now()
	c.limit = 12_000 // a longer one is refused
	st := run(t, se)
	b, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	n := len(compactions(t, p))
	t.Logf("%d compactions, the largest request %d tokens, a state of %d bytes, %v", n, c.largest, len(b), time.Since(began))
	if st.LastTurn == nil || st.LastTurn.Stop != session.TurnEndTurn || st.LastTurn.Steps != steps {
		t.Errorf("the turn: %+v, %+v", st.LastTurn, st.Failure())
	}
	if c.largest > 12_000 || n < steps/50 || len(b) > 256<<10 {
		t.Errorf("%d tokens, %d compactions, %d bytes", c.largest, n, len(b))
	}
	for _, done := range compactions(t, p) {
		if done.Reason == session.CompactOverflow {
			t.Fatal("a request was too long")
		}
	}
}
