package engine_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// What was allowed but had not started is decided again by whoever resumes, and a deny rule wins.
func TestDecidedButNotStartedIsDecidedAgain(t *testing.T) {
	s := newStage(t,
		reply(modelapi.StopToolUse, use("a", "AskUser", `{"question":"?"}`), use("b", "Write", `{"file_path":"/w/x","content":"c"}`)),
		reply(modelapi.StopEndTurn, text("done")))
	p, se := s.start("go")
	st := run(t, se)
	if d := st.Call("t1.s1.b2.a1").Decision; d == nil || !d.Allow {
		t.Fatalf("the write is not allowed at first: %+v", d)
	}
	p.store.Kill()
	p = s.process()
	se = p.open(engine.Options{SetRules: true, Rules: []session.Rule{{Effect: "deny", Text: "Edit(/w/x)", Source: "user"}}})
	p.send("answer", &session.QuestionAnswered{Act: "t1.s1.b1.a1", Text: "yes"})
	st = run(t, se)
	if got := st.Settled[1].Outcome; got != session.OutcomeDenied || s.files.m["/w/x"] != nil {
		t.Errorf("outcome %s, file %q", got, s.files.m["/w/x"])
	}
}

// An approval is for the file as it was shown: when the file changes before the act, the human is asked again.
func TestApprovalIsForTheFileAsShown(t *testing.T) {
	s := newStage(t,
		reply(modelapi.StopToolUse, use("r", "Read", `{"file_path":"/w/x"}`)),
		reply(modelapi.StopToolUse, use("a", "Edit", `{"file_path":"/w/x","old_string":"one","new_string":"two"}`)),
		reply(modelapi.StopEndTurn, text("done")))
	s.spec = func(sp *engine.Spec) { sp.Mode = "default" }
	s.files.m["/w/x"] = []byte("one")
	p, se := s.start("go")
	st := run(t, se)
	first := st.Call("t1.s2.b1.a1").Approval
	s.files.m["/w/x"] = []byte("one, and more")
	p.send("yes", &session.ApprovalAnswered{Act: "t1.s2.b1.a1", Allow: true, Bound: first.Bound, Pre: first.Pre})
	st = run(t, se)
	if string(s.files.m["/w/x"]) != "one, and more" {
		t.Fatalf("an approval of another content was used: %q", s.files.m["/w/x"])
	}
	if c := st.Call("t1.s2.b1.a1"); c != nil && c.State == session.ActAwaitingApproval && c.Approval.Pre == first.Pre {
		t.Error("the human is shown the former content again")
	}
}

// A fork that goes on is as the session that goes on: the same prompt gives the same conversation in both.
func TestForkGoesOnAsItsParent(t *testing.T) {
	s := newStage(t,
		reply(modelapi.StopToolUse, use("a", "Write", `{"file_path":"/w/x","content":"c"}`)), reply(modelapi.StopEndTurn, text("one")),
		reply(modelapi.StopToolUse, use("b", "TodoWrite", `{"todos":[]}`)), reply(modelapi.StopEndTurn, text("two")))
	p, se := s.start("go")
	run(t, se)
	child, _, err := p.Fork(t.Context(), "s", 0, "", "")
	if err != nil {
		t.Fatal(err)
	}
	p.say("more")
	run(t, se)
	want := render(s.last().Messages)
	item, err := p.NewItem("more", store.Actor{Type: store.ActorUser}, &session.MessageReceived{Content: []model.Part{model.TextPart("more")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.store.Send(t.Context(), child, item); err != nil {
		t.Fatal(err)
	}
	other, err := p.Open(t.Context(), child, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	st := run(t, other)
	if got := render(s.last().Messages); got != want {
		t.Errorf("the fork sent\n%s\nits parent\n%s", got, want)
	}
	if u := st.Total(); u.Input != 20 || !strings.HasPrefix(string(st.Lifecycle), "open") {
		t.Errorf("a fork counts from its fork: %+v", u)
	}
}
