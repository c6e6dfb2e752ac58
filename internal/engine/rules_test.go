package engine_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// The rules that model APIs make for a conversation, each with the test that names it. Rules about one provider's
// bytes are tested with that provider.

var allowAll = engine.Options{SetRules: true, Rules: []session.Rule{
	{Effect: "allow", Text: "Out", Source: "flag"}, {Effect: "allow", Text: "Again", Source: "flag"}, {Effect: "deny", Text: "Read(/secret/**)", Source: "flag"},
}}

// blocker is a tool run that tells when it began, and ends with its context.
func blocker() (began chan struct{}, run func(ctx context.Context) (tools.Result, error)) {
	began = make(chan struct{}, 8)
	return began, func(ctx context.Context) (tools.Result, error) {
		began <- struct{}{}
		<-ctx.Done()
		return tools.Result{}, ctx.Err()
	}
}

// Rule 1: every tool_use is answered in the very next user message, results first, whatever happened to the calls.
func TestRule1EveryCallIsAnsweredInTheNextMessage(t *testing.T) {
	for _, end := range []string{"cancelled", "killed"} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t,
					reply(modelapi.StopToolUse, use("a", "Read", `{"file_path":"/w/none"}`), use("b", "Nope", `{}`),
						use("c", "Read", `{"file_path":"/secret/key"}`), use("d", "Out", `{}`), use("e", "TodoWrite", `{"todos":[]}`)),
					reply(modelapi.StopEndTurn, text("done")))
				count := 0
				began, block := blocker()
				s.tools = append(s.tools, newOutside("Out", false, &count, block))
				p, se := s.start("go")
				if err := se.Close(t.Context(), "again"); err != nil {
					t.Fatal(err)
				}
				se = p.open(allowAll)
				stop, over := background(t, se)
				<-began
				if end == "cancelled" {
					p.send("c", &session.CancelRequested{})
					if err := <-over; err != nil {
						t.Fatal(err)
					}
				} else {
					die(p, stop, over)
					p = s.process()
					se = p.open(allowAll)
				}
				p.say("next")
				run(t, se)
				stop()
				results := s.last().Messages[2].Blocks
				for i, id := range []string{"a", "b", "c", "d", "e"} {
					if results[i].Result == nil || results[i].Result.ID != id {
						t.Fatalf("block %d is no result of %s: %s", i, id, render(s.last().Messages))
					}
				}
				if count != 1 {
					t.Errorf("the act outside happened %d times", count)
				}
				if err := se.Close(t.Context(), "done"); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// Rule 2: a call in flight at a crash is never silently run again. Its outcome is told as unknown, unless the tool says
// that a second run is harmless.
func TestRule2InterruptedCallsAreNotRepeatedSilently(t *testing.T) {
	for _, idempotent := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, reply(modelapi.StopToolUse, use("a", "Out", `{}`)), reply(modelapi.StopEndTurn, text("done")))
			count := 0
			began, block := blocker()
			s.tools = append(s.tools, newOutside("Out", idempotent, &count, func(ctx context.Context) (tools.Result, error) {
				if count > 1 {
					return tools.Result{Content: []model.Part{model.TextPart("fine")}}, nil
				}
				return block(ctx)
			}))
			p, se := s.start("go")
			if err := se.Close(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			stop, over := background(t, p.open(allowAll))
			<-began
			die(p, stop, over)
			se = s.process().open(allowAll)
			run(t, se)
			got := s.last().Messages[2].Blocks[0].Result
			switch said := model.Text(got.Content); {
			case idempotent && (count != 2 || got.IsError || said != "fine"):
				t.Errorf("idempotent: ran %d times, said %q", count, said)
			case !idempotent && (count != 1 || !got.IsError || !strings.Contains(said, "Outcome unknown")):
				t.Errorf("not idempotent: ran %d times, said %q", count, said)
			}
			if err := se.Close(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Rule 3: a reply that was not complete never enters the conversation. The same request goes again, and what the first
// one took is counted as lost.
func TestRule3UnsealedReplyNeverEntersTheConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		streaming := make(chan struct{})
		s.answer = func(ctx context.Context, _ int, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
			if !strings.HasSuffix(r.Act, ".a1") {
				return reply(modelapi.StopEndTurn, text("whole")), nil
			}
			sink(modelapi.Delta{Kind: modelapi.DeltaStart, Usage: model.Usage{Input: 30, CacheRead: 7}})
			sink(modelapi.Delta{Kind: modelapi.DeltaText, Text: "half a rep"})
			close(streaming)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		dir := t.TempDir()
		s.config = func(c *engine.Config) { c.SideDir = dir }
		p, se := s.start("go")
		stop, over := background(t, se)
		<-streaming
		die(p, stop, over)
		se = s.process().open(engine.Options{})
		st := run(t, se)
		if len(s.requests) != 2 || render(s.requests[0].Messages) != render(s.requests[1].Messages) || s.requests[0].MaxTokens != s.requests[1].MaxTokens {
			t.Errorf("the request changed:\n%s\n%s", render(s.requests[0].Messages), render(s.requests[1].Messages))
		}
		if u := st.Total(); u.LostInput != 37 || u.Input != 10 {
			t.Errorf("usage %+v: want 37 lost, as the stream's start said, and 10 sealed", u)
		}
		tr, err := se.Transcript(t.Context())
		if err != nil || strings.Contains(render(tr.Upcoming()), "half") || tr.LastText() != "whole" {
			t.Errorf("conversation: %v %s", err, render(tr.Upcoming()))
		}
		if left, err := os.ReadDir(dir + "/s"); err != nil || len(left) > 0 {
			t.Errorf("side files stay: %v %v", left, err)
		}
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	})
}

// Rule 4: the prefix is append-only. System prompt and tools are frozen, whatever the program that resumes has; a fork
// sends its parent's messages byte by byte.
func TestRule4PrefixIsAppendOnly(t *testing.T) {
	s := newStage(t, reply(modelapi.StopEndTurn, thinking("hm"), text("one")), reply(modelapi.StopEndTurn, text("two")))
	p, se := s.start("first")
	run(t, se)
	if err := se.Close(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	first := s.last()
	s.tools = append(tools.Builtin()[1:], newOutside("New", false, new(int), nil))
	child, _, err := p.Fork(t.Context(), "s", 0, "", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"s", child} {
		p := s.process()
		item, err := p.NewItem("next", store.Actor{Type: store.ActorUser}, &session.MessageReceived{Content: []model.Part{model.TextPart("second")}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.store.Send(t.Context(), id, item); err != nil {
			t.Fatal(err)
		}
		se, err := p.Open(t.Context(), id, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		run(t, se)
		got := s.last()
		if got.System != first.System || string(got.Tools) != string(first.Tools) {
			t.Errorf("session %s: what is frozen changed", id)
		}
		want := render(append(first.Messages, model.Message{Role: model.RoleAssistant, Blocks: []model.Block{thinking("hm"), text("one")}}))
		if !strings.HasPrefix(render(got.Messages), want) || len(got.Messages) != 3 {
			t.Errorf("session %s: the prefix changed:\n%s\n%s", id, want, render(got.Messages))
		}
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	}
}

// Rule 5: thinking blocks go back verbatim, in order, before the calls they led to, after a restart too.
func TestRule5ThinkingGoesBackVerbatim(t *testing.T) {
	blocks := []model.Block{thinking("a  \\u00e9"), text("so"), thinking("b"), use("u", "TodoWrite", `{"todos": [ ]}`)}
	s := newStage(t, reply(modelapi.StopToolUse, blocks...), reply(modelapi.StopEndTurn, text("done")))
	s.spec = func(sp *engine.Spec) { sp.Agent.Thinking = 2000 }
	fail := true
	answer := s.answer
	s.answer = func(ctx context.Context, n int, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
		if n == 1 && fail {
			return nil, errors.New("the program ends here")
		}
		return answer(ctx, n, r, sink)
	}
	s.config = func(c *engine.Config) { c.MaxFailures = 1 }
	p, se := s.start("go")
	run(t, se)
	p.store.Kill()
	fail = false
	p = s.process()
	p.say("again")
	se = p.open(engine.Options{NewPrompt: true})
	run(t, se)
	got := s.last()
	for i, b := range got.Messages[1].Blocks {
		if string(b.Raw) != string(blocks[i].Raw) || b.Type != blocks[i].Type {
			t.Errorf("block %d is %s %s", i, b.Type, b.Raw)
		}
	}
	if got.Params.Thinking != 2000 || len(got.Messages[1].Blocks) != len(blocks) {
		t.Errorf("thinking %d, %d blocks", got.Params.Thinking, len(got.Messages[1].Blocks))
	}
}
