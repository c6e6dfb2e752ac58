package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// TestWhatChangedMeanwhileIsToldTheModel: files that somebody else changed or removed between two turns are named in the
// next request, once; what the model changed itself is not, and a retry sends the same bytes.
func TestWhatChangedMeanwhileIsToldTheModel(t *testing.T) {
	s := newStage(t,
		reply(modelapi.StopToolUse, use("a", "Read", `{"file_path":"/w/a"}`), use("b", "Read", `{"file_path":"/w/b"}`),
			use("c", "Write", `{"file_path":"/w/c","content":"mine"}`), use("d", "Read", `{"file_path":"/w/d"}`)),
		reply(modelapi.StopEndTurn, text("one")), reply(modelapi.StopEndTurn, text("two")), reply(modelapi.StopEndTurn, text("three")),
		reply(modelapi.StopToolUse, use("e", "Read", `{"file_path":"/w/a"}`)), reply(modelapi.StopEndTurn, text("four")))
	for _, name := range []string{"a", "b", "d"} {
		s.files.m["/w/"+name] = []byte(name)
	}
	_, se := s.start("go")
	run(t, se)
	must(t, se.Close(t.Context(), ""))

	s.files.m["/w/a"] = []byte("somebody else's")
	delete(s.files.m, "/w/b")
	answer, failed := s.answer, false
	s.answer = func(ctx context.Context, n int, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
		if n == 2 && !failed {
			failed = true
			return nil, &modelapi.Error{Class: modelapi.ClassServer, Status: 500, Message: "again, please"}
		}
		return answer(ctx, n, r, sink)
	}
	p := s.process()
	p.say("what now")
	se = p.open(engine.Options{})
	run(t, se)
	if got := len(s.requests); got != 4 || render(s.requests[2].Messages) != render(s.requests[3].Messages) {
		t.Errorf("%d requests, or the retry is another one", got)
	}
	const told = "[changed on disk since you last read or wrote it: /w/a (changed), /w/b (removed). Read it again before you rely on it.]"
	messages := s.last().Messages
	last := messages[len(messages)-1]
	if last.Role != model.RoleUser || last.Blocks[0].Text != told || last.Blocks[1].Text != "what now" {
		t.Errorf("the model was told:\n%s", render(messages[len(messages)-1:]))
	}

	p.say("and now")
	st := run(t, se)
	if got := strings.Count(render(s.last().Messages), "changed on disk"); got != 1 {
		t.Errorf("told %d times", got)
	}
	if len(st.Told) != 2 {
		t.Errorf("told of %v", st.Told)
	}
	p.say("read it")
	if st = run(t, se); len(st.Told) != 1 {
		t.Errorf("after one was read: %v", st.Told)
	}
}

// TestManyChangedFilesAreCounted: the message is bounded.
func TestManyChangedFilesAreCounted(t *testing.T) {
	calls := make([]model.Block, 30)
	s := newStage(t)
	for i := range calls {
		path := fmt.Sprintf("/w/f%02d", i)
		s.files.m[path] = []byte("x")
		calls[i] = use(fmt.Sprint(i), "Read", `{"file_path":"`+path+`"}`)
	}
	s.answer = newStage(t, reply(modelapi.StopToolUse, calls...), reply(modelapi.StopEndTurn, text("one")), reply(modelapi.StopEndTurn, text("two"))).answer
	p, se := s.start("go")
	run(t, se)
	for path := range s.files.m {
		s.files.m[path] = []byte("changed")
	}
	p.say("what now")
	run(t, se)
	if got := render(s.last().Messages); strings.Count(got, "(changed)") != 20 || !strings.Contains(got, "and 10 more") {
		t.Errorf("the model was told:\n%s", got[len(got)-1500:])
	}
}
