package talk_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/screen/talk"
	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// A message waits until its turn begins, or until it is withdrawn; then it is in the conversation, or nowhere.
func TestMessagesWaitForTheirTurn(t *testing.T) {
	tp := newTape().asks(1, "one")
	tp.add(message("k2", "two"), message("k3", "three"), message("k4", "", model.Part{Type: model.BlockImage, Media: "image/png", Data: make([]byte, 2048)}))
	tp.want(t, "person: one", "waits: two", "waits: three", "waits: [image 1: 2 KB]")
	if q := tp.sheet.queue; q[0].Key != "k2" || q[2].Key != "k4" {
		t.Errorf("%+v", q)
	}
	tp.add(&session.MessageWithdrawn{Key: "k3", Seq: tp.seq - 1}, &session.TurnEnded{N: 1, Stop: session.TurnEndTurn}, &session.TurnStarted{N: 2, Message: tp.seq - 2})
	tp.want(t, "person: one", "person: two", "waits: [image 1: 2 KB]")
	if c := tp.fold.Take(); c.Queues || len(c.Items) > 0 {
		t.Errorf("nothing has changed: %+v", c)
	}
}

// What came with a message is told in words: an image by its kind and size, a long text by its lines, whatever is in it.
func TestWhatCameWithAMessage(t *testing.T) {
	pasted := func(n int, text string) model.Part {
		return talk.PastedPart(n, strings.Count(strings.TrimSuffix(text, "\n"), "\n")+1, text)
	}
	for name, c := range map[string]struct {
		parts []model.Part
		want  string
	}{
		"3,412 lines":           {[]model.Part{pasted(1, strings.Repeat("x\n", 3412))}, "person: see [pasted 3,412 lines]"},
		"no newline at the end": {[]model.Part{pasted(1, "a\nb\nc")}, "person: see [pasted 3 lines]"},
		"one line":              {[]model.Part{pasted(1, "a")}, "person: see [pasted 1 line]"},
		"no head":               {[]model.Part{model.TextPart("[pasted text of mine\nwith more")}, "person: see [pasted text 1]\n[pasted text of mine\nwith more"},
		"two, and an image":     {[]model.Part{pasted(1, "a\nb"), pasted(2, "c\nd"), {Type: model.BlockImage, Media: "image/png", Data: []byte("12345")}}, "person: see [pasted 2 lines] [pasted 2 lines] [image 1: 5 B]"},
		"more text":             {[]model.Part{model.TextPart("and this")}, "person: see [pasted text 1]\nand this"},
		"nothing":               {nil, "person: see [pasted text 1]"},
	} {
		tp := newTape().add(message("k", "see [pasted text 1]", c.parts...))
		tp.add(&session.TurnStarted{N: 1, Message: tp.seq})
		if got := strings.TrimSuffix(tp.shown().String(), "\n"); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// What happens besides is a line each, and what is nobody's concern is none.
func TestWhatHappensBesides(t *testing.T) {
	tp := newTape().add(
		&session.Forked{Parent: store.Position{Session: "p", Seq: 7}}, &session.ContextGiven{Texts: []session.GivenText{
			{Name: session.GivenInstructions, Path: "/work/AGENTS.md"},
			{Name: session.GivenMemory, Path: "/home/ann/.perdure/knowledge/p/memory.md"},
			{Name: session.GivenPlan},
			{Name: session.GivenInstructions, Path: "/etc/AGENTS.md"},
		}},
		&session.MessageReceived{Note: true, Content: []model.Part{model.TextPart("[3 files changed]")}},
		&session.LifecycleSet{To: session.LifecyclePaused}, &session.HandoffWritten{}, &session.AwaitMet{Text: []byte("bash_1 printed\nready")},
		&session.InboxRefused{Reason: "nothing waits"}, &session.PermissionGranted{Rule: "Bash(git:*)"}, &session.PermissionRevoked{Rule: "Bash(git:*)"},
		&session.PlanSet{}, &session.FactAdded{}, &session.StateSet{Key: "k"}, &session.App{Namespace: "x"}, &session.Labelled{}, &session.Resumed{}, &session.Released{},
		&session.TurnEnded{N: 1, Stop: session.TurnEndTurn}, &session.TurnEnded{N: 2, Stop: session.TurnCancelled}, &session.TurnEnded{N: 3, Stop: "model_error", Message: "too\nlong"},
	)
	tp.want(t, "note: forked from p at event 7; what comes before this is the parent's", "note: given: AGENTS.md, memory, earlier plan, /etc/AGENTS.md", "note: 3 files changed",
		"note: the session is paused", "note: handoff written", "note: told: bash_1 printed ready", "trouble: refused: nothing waits",
		"note: allowed from now on: Bash(git:*)", "note: no longer allowed: Bash(git:*)", "note: cancelled", "trouble: the turn ended: model error: too long")
}

// A file that changed beside the session is named in a line; the lines of it that the model is told are no part of the
// conversation.
func TestAFileThatChangedBesidesIsALine(t *testing.T) {
	tp := newTape().add(&session.MessageReceived{
		Note: true, Content: []model.Part{model.TextPart("[changed on disk since you last read or wrote it: /work/a.go (changed). Read it again.]\nThe lines:\n-a\n+b")},
		Changed: []session.FileChange{{Path: "/work/a.go", Digest: store.Sum([]byte("b"))}, {Path: "/etc/x"}},
	})
	tp.want(t, "note: changed on disk, which the model is told: a.go, /etc/x (removed)")
	many := &session.MessageReceived{Note: true}
	for i := range 7 {
		many.Changed = append(many.Changed, session.FileChange{Path: fmt.Sprint("/work/", i), Digest: store.Sum(nil)})
	}
	newTape().add(many).want(t, "note: changed on disk, which the model is told: 0, 1, 2, 3, 4 and 2 more")
}

// Of two answers the second is no trouble of the one who gave the first.
func TestAnAnswerThatCameSecondIsSaidInWords(t *testing.T) {
	newTape().add(
		&session.InboxRefused{Item: session.KindApprovalAnswered, Reason: "no approval is asked for act t7.s1.b2.a1"},
		&session.InboxRefused{Item: session.KindQuestionAnswered, Reason: "no question is asked by act t7.s1.b2.a1"},
		&session.InboxRefused{Item: session.KindApprovalAnswered, Reason: "the call changed since it was shown: look at it again"},
	).want(t, "note: another answer came later, or too late; it counts for nothing", "note: another answer came later, or too late; it counts for nothing",
		"trouble: refused: the call changed since it was shown: look at it again")
}

// A turn for what a session waited for has no message of a person.
func TestATurnWithoutAMessage(t *testing.T) {
	tp := newTape().add(&session.AwaitMet{Text: []byte("ready")})
	tp.add(&session.TurnStarted{N: 1, Message: tp.seq, Met: true}, requested(1, 1, 1), replied(1, 1, text("I look")))
	tp.want(t, "note: told: ready", "text: I look")
}

// The end of a task is said once, although the model is told of it too, by a note or by the end of what it waited for;
// what a note says beyond that is shown.
func TestTheEndOfATaskIsSaidOnce(t *testing.T) {
	note := func(text string) *session.MessageReceived {
		return &session.MessageReceived{Note: true, Content: []model.Part{model.TextPart(text)}}
	}
	tp := newTape().add(exited("bash_1", 0), note("[Background task bash_1 ended with exit code 0: make]"))
	tp.want(t, "note: bash_1 exited 0")
	tp = newTape().add(exited("bash_1", 1), &session.AwaitMet{Task: "bash_1", End: &command.State{}, Text: []byte("bash_1 ended with exit code 1")})
	tp.want(t, "note: bash_1 exited 1", "note: the model is told, which waited for it")
	tp = newTape().add(note("[Background task bash_1 ended with exit code 0: make]"), note("[Background task bash_2 runs again after the reboot]"))
	tp.want(t, "note: Background task bash_1 ended with exit code 0: make", "note: Background task bash_2 runs again after the reboot")
}
