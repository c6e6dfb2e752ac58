package talk_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/screen/talk"
	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/markdown"
	"github.com/perdure/perdure/internal/ui/theme"
	"github.com/perdure/perdure/internal/ui/transcript"
	"github.com/perdure/perdure/model"
)

// A call is one line, from the moment when the model asks for it, with how it stands at each time.
func TestCallsInEveryState(t *testing.T) {
	id := call(1, 1, 1)
	for name, c := range map[string]struct {
		events []session.Body
		want   string
	}{
		"asked for": {nil, "planned Bash make: "},
		"started":   {[]session.Body{&session.ToolStarted{Act: id}}, "running Bash make: "},
		"approval":  {[]session.Body{&session.ApprovalRequested{Act: id}}, "waiting Bash make: waits for your approval"},
		"allowed":   {[]session.Body{&session.ApprovalRequested{Act: id}, &session.ApprovalAnswered{Act: id, Allow: true}}, "planned Bash make: allowed"},
		"denied in words": {[]session.Body{
			&session.ApprovalRequested{Act: id}, &session.ApprovalAnswered{Act: id, Message: "use go build"},
			&session.ToolFinished{Act: id, Outcome: session.OutcomeDenied, Content: []model.Part{model.TextPart("The user denied permission for this call, saying: use go build")}},
		}, "failed Bash make: not allowed: use go build"},
		"denied":     {[]session.Body{&session.ApprovalRequested{Act: id}, &session.ApprovalAnswered{Act: id}}, "planned Bash make: not allowed"},
		"question":   {[]session.Body{&session.QuestionAsked{Act: id}}, "waiting Bash make: waits for your answer"},
		"answered":   {[]session.Body{&session.QuestionAsked{Act: id}, &session.QuestionAnswered{Act: id, Text: "red\x1b[0m"}}, "planned Bash make: answered: red"},
		"done":       {[]session.Body{&session.ToolStarted{Act: id}, finished(id, "ok\n", 0)}, "done Bash make: ok (1s)"},
		"lines":      {[]session.Body{&session.ToolStarted{Act: id}, finished(id, "one\ntwo\nthree\n", 0)}, "done Bash make: 3 lines, at last: three (1s)"},
		"exit code":  {[]session.Body{&session.ToolStarted{Act: id}, finished(id, "no rule", 2)}, "failed Bash make: exit code 2: no rule (1s)"},
		"error":      {[]session.Body{&session.ToolFinished{Act: id, Outcome: session.OutcomeError, Content: []model.Part{model.TextPart("no such file")}}}, "failed Bash make: error: no such file"},
		"cancelled":  {[]session.Body{&session.ToolStarted{Act: id}, &session.ToolFinished{Act: id, Outcome: session.OutcomeCancelled, Content: []model.Part{model.TextPart("Cancelled by user.")}}}, "failed Bash make: cancelled: Cancelled by user. (1s)"},
		"collected":  {[]session.Body{&session.ToolStarted{Act: id}, &session.ToolFinished{Act: id, Outcome: session.OutcomeOK, Collected: true, Content: []model.Part{model.TextPart("ok")}}}, "done Bash make: collected after an interruption: ok"},
		"void":       {[]session.Body{&session.ToolVoid{Act: id, Reason: "the turn was cancelled"}}, "planned Bash make: nothing came of it: the turn was cancelled"},
		"unknown":    {[]session.Body{&session.ToolStarted{Act: id}, &session.ToolUnknown{Act: id, Reason: "interrupted"}}, "unknown Bash make: outcome unknown: interrupted"},
		"lost, asks": {[]session.Body{&session.ToolStarted{Act: id}, &session.ToolUnknown{Act: id, Asks: &session.Question{}}}, "waiting Bash make: outcome unknown: waits for your answer"},
		"lost, answered": {
			[]session.Body{&session.ToolStarted{Act: id}, &session.ToolUnknown{Act: id, Asks: &session.Question{}}, &session.QuestionAnswered{Act: id, Text: session.LostKeep}},
			"unknown Bash make: outcome unknown: keep what it changed",
		},
		"again":      {[]session.Body{&session.ToolStarted{Act: id}, &session.ToolStarted{Act: session.AttemptID(session.BaseOf(id), 2)}}, "running Bash make: "},
		"other call": {[]session.Body{&session.ToolStarted{Act: call(1, 1, 2)}}, "planned Bash make: "},
	} {
		tp := newTape().asks(1, "go").add(replied(1, 1, runs("make"))).add(c.events...)
		lines := strings.Split(tp.shown().String(), "\n")
		if lines[1] != c.want {
			t.Errorf("%s: %s, want %s", name, lines[1], c.want)
		}
	}
}

// A command in the background goes on at its call, whatever is said meanwhile, and ends there; its end is also told where
// the conversation is then.
func TestACommandInTheBackgroundEndsInItsPlace(t *testing.T) {
	one, two := call(1, 1, 1), call(1, 1, 2)
	tp := newTape().asks(1, "go").add(replied(1, 1, runs("serve"), runs("sleep 9")))
	tp.add(&session.ToolStarted{Act: one, Start: session.Start{Background: true, Task: "bash_1"}}, finished(one, "started", 0))
	tp.add(&session.ToolStarted{Act: two}, &session.ToolDetached{Act: two, Task: "bash_2"}, finished(two, "it goes on", 0))
	tp.want(t, "person: go", "background Bash serve: runs as bash_1", "background Bash sleep 9: goes on in the background as bash_2")
	tp.add(&session.TurnEnded{N: 1, Stop: session.TurnEndTurn}).asks(2, "more").add(replied(2, 1, text("yes")))
	tp.add(exited("bash_1", 3), exited("bash_2", 0))
	killed := exited("bash_3", 0)
	killed.State = command.State{Status: "killed", Signal: "SIGKILL"}
	tp.add(killed)
	tp.want(t, "person: go", "failed Bash serve: bash_1 exited 3 (10s)", "done Bash sleep 9: bash_2 exited 0 (9s)",
		"person: more", "text: yes", "note: bash_1 exited 3", "note: bash_2 exited 0", "note: bash_3 killed by SIGKILL")
}

// What a call printed is kept to a bound, its end, cut between characters; its line stays a line.
func TestLongOutput(t *testing.T) {
	tp := newTape().asks(1, "go").add(replied(1, 1, runs("cat big")))
	tp.add(finished(call(1, 1, 1), strings.Repeat("日本語", 200_000)+"the end", 0))
	c := tp.shown().items[1].Call
	if len(c.Output) > 256<<10 || !strings.HasSuffix(c.Output, "the end") || !strings.HasPrefix(strings.TrimLeft(c.Output, "本語"), "日") {
		t.Errorf("%d bytes: %.20q", len(c.Output), c.Output)
	}
	if c.Omitted < 1_800_000-256<<10 || len(c.Outcome) > 4000 {
		t.Errorf("%d left out; the outcome has %d bytes", c.Omitted, len(c.Outcome))
	}
}

// An edit shows what it changes, by names below the directory of the session.
func TestEditsShowWhatTheyChange(t *testing.T) {
	tp := newTape().asks(1, "go").add(replied(1, 1,
		uses("Edit", `{"file_path":"/work/a/b.go","old_string":"x","new_string":"y"}`), uses("Write", `{"file_path":"/else/c","content":"new"}`),
		uses("Write", `{"file_path":"rel.txt","content":"z"}`), uses("Write", `no JSON`), uses("Read", `{"file_path":"/work/a/b.go"}`), runs("cat /work/a/b.go /work/c")))
	var got []string
	for _, it := range tp.shown().items[1:] {
		line := it.Call.About
		for _, d := range it.Call.Diff {
			line += fmt.Sprintf(" %s %q→%q", d.Name, d.Old, d.New)
		}
		got = append(got, line)
	}
	want := []string{`a/b.go a/b.go "x"→"y"`, `/else/c /else/c ""→"new"`, `rel.txt rel.txt ""→"z"`, ``, `a/b.go`, `cat a/b.go c`}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", got)
	}
}

// A fold holds the calls of which more may come, and no others.
func TestSettledCallsAreForgotten(t *testing.T) {
	tp := newTape()
	for n := 1; n <= 300; n++ {
		tp.asks(n, "go").add(replied(n, 1, runs("true"), runs("serve")))
		tp.add(&session.ToolStarted{Act: call(n, 1, 2), Start: session.Start{Background: true, Task: fmt.Sprint("bash_", n)}}, finished(call(n, 1, 1), "ok", 0))
		if tp.add(&session.TurnEnded{N: n, Stop: session.TurnEndTurn}); n > 3 {
			tp.add(exited(fmt.Sprint("bash_", n), 0))
		}
		tp.shown()
	}
	if n := tp.fold.Held(); n > 10 {
		t.Errorf("%d calls are held", n)
	}
}

// Known secrets are shown nowhere: not in what the model says and thinks, and not in what it would do with a file.
func TestSecretsAreHidden(t *testing.T) {
	const secret = "hunter2hunter2"
	tp := newTape()
	tp.fold = talk.New(talk.Config{Dir: "/work", Hide: func(s string) string { return strings.ReplaceAll(s, secret, "[secret]") }})
	tp.asks(1, "go").add(replied(1, 1, thinks("it is "+secret), text("say "+secret), runs("echo "+strings.Repeat("x", 380)+" "+secret),
		uses("Edit", `{"file_path":"/work/`+secret+`","old_string":"`+secret+`","new_string":"is `+secret+`"}`)))
	tp.asks(2, "more").add(&session.ModelLost{Act: act(2, 1, 1), Reason: "cancelled", Text: []byte("half of " + secret)})
	got := fmt.Sprintf("%+v", tp.shown().items)
	if strings.Contains(got, "hunter2") {
		t.Error(got)
	}
	if n := strings.Count(got, "[secret]"); n < 6 {
		t.Errorf("%d are replaced: %s", n, got)
	}
}

// Whatever a model, a tool, a command or a person writes, no byte of it that a terminal obeys is drawn.
func TestNothingThatATerminalObeysIsDrawn(t *testing.T) {
	const evil = "a\x1b]0;title\ab\x1b[2Jc\r\x9b31m\u202ed\x00\x07"
	tp := newTape()
	tp.add(message("k", evil, model.Part{Type: model.BlockImage, Media: evil, Data: []byte("x")}))
	tp.asks(1, evil)
	tp.fold.Delta(act(1, 1, 1), "text", evil)
	tp.add(replied(1, 1, thinks(evil), text(evil), session.SealedBlock{Type: model.BlockToolUse, Name: evil, Input: fmt.Appendf(nil, `{"command":%q}`, "\u001b[2J")}, uses("Edit", `{"file_path":"\u001b[2J","old_string":"\u001b[31m","new_string":"\u009b"}`)))
	tp.add(finished(call(1, 1, 3), evil+"\n"+evil, 1), &session.ToolVoid{Act: call(1, 1, 4), Reason: evil})
	tp.add(&session.MessageReceived{Note: true, Content: []model.Part{model.TextPart(evil)}}, &session.ModelFailed{Act: act(1, 2, 1), Message: evil})
	tp.add(&session.AwaitMet{Text: []byte(evil)}, &session.InboxRefused{Reason: evil}, &session.PermissionGranted{Rule: evil}, &session.PermissionRevoked{Rule: evil})
	tp.add(&session.ContextGiven{Texts: []session.GivenText{{Name: evil, Path: evil}}}, &session.TurnEnded{N: 1, Stop: evil, Message: evil}, exited(evil, 1))
	tp.add(&session.LifecycleSet{To: session.Lifecycle(evil)})
	var style theme.Styles // draws no colour by itself
	draw := markdown.New(style)
	m := transcript.New(transcript.Config{
		Style: style, Now: begin.Local, Prose: prose{draw},
		Diff: func(d transcript.Diff, _ int) []string { return []string{plain.Line(d.Name+d.Old+d.New, 200)} },
	})
	for _, it := range tp.shown().items {
		m.Put(it)
	}
	m.SetSize(100, 2000)
	m.Browse(true)
	m.ToggleAll()
	view := m.View()
	for _, r := range view {
		if r < ' ' && r != '\n' && r != '\x1b' || r >= 0x7f && r < 0xa0 || r == 0x202e {
			t.Errorf("%q is drawn in %q", r, strings.TrimSpace(view))
			break
		}
	}
	for _, bad := range []string{"\x1b]", "\x1b[2J", "\x1b[31m"} {
		if strings.Contains(view, bad) {
			t.Errorf("%q is drawn: %q", bad, strings.TrimSpace(view))
		}
	}
	if n := strings.Count(view, "\n"); n < 20 {
		t.Errorf("only %d lines: %s", n, view)
	}
}

type prose struct{ r *markdown.Renderer }

func (p prose) Lines(text string, width int) []string { return p.r.Lines(text, width) }

func (p prose) Stream(width int) transcript.Stream { return markdown.NewStream(p.r, width) }
