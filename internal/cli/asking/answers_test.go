package asking_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: whatever a run with --wait slept for, each text of the model is on stdout once, the last one included.
func TestAnswerAfterSleep(t *testing.T) {
	w := clitest.New(t)
	r, wait := w.Start("-p", "--wait", "--session-id", "s", "--model", w.Scripted(clitest.WaitsTwice), "both")
	clitest.Until(t, "it asks for the approval", func() bool { return strings.Contains(r.Read().Stderr, "approvals allow s:") })
	w.OK("approvals", "allow", "s")
	clitest.Until(t, "it asks the question", func() bool { return strings.Contains(r.Read().Stderr, "perdure answer s:") })
	w.OK("answer", "s", "2")
	wait()
	o := r.Read()
	if o.Code != 0 || o.Stdout != "I try.\n\nI ask.\n\nIt is done.\n" {
		t.Errorf("exit %d, stdout %q\nstderr: %s", o.Code, o.Stdout, o.Stderr)
	}
	if strings.Contains(o.Stderr, "then: perdure -p --resume") {
		t.Errorf("it advises a resume that would be refused: %s", o.Stderr)
	}
}

// Goal: a turn that made no step has no answer, neither as text nor as JSON; the one before is not given for it.
func TestNoStepNoAnswer(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	if r := w.Prompt("s", clitest.SaysYes, "first", ""); r.Result != "Yes." {
		t.Fatalf("%+v", r)
	}
	o := w.Fails(app.ExitLimit, "", "-p", "-r", "s", "--max-budget-usd", "0.000000001", "second")
	if o.Stdout != "" {
		t.Errorf("stdout %q", o.Stdout)
	}
	o = w.Fails(app.ExitLimit, "", "-p", "-r", "s", "--max-budget-usd", "0.000000001", "--output-format", "json", "third")
	r := clitest.Lines(t, o.Stdout)[0]
	if r["result"] != "" || r["is_error"] != true || r["stop_reason"] != "max_budget" {
		t.Errorf("%v", r)
	}
}

// Goal: of several turns that one run runs, each answer is printed, once and in order; JSON lists them.
func TestAnswerOfEachTurn(t *testing.T) {
	w := clitest.New(t)
	var turns []string
	for i := range 4 {
		turns = append(turns, fmt.Sprintf(`{"match":"ask %d","steps":[{"text":"Answer %d."}]}`, i, i))
	}
	m := w.Scripted(`{"turns":[` + strings.Join(turns, ",") + `]}`)
	w.OK("-p", "--session-id", "s", "--model", m, "ask 0")
	send := func() {
		for i := range 3 {
			w.OK("send", "s", fmt.Sprintf("ask %d", i+1))
		}
	}
	send()
	if out := w.OK("-p", "-r", "s"); out != "Answer 1.\n\nAnswer 2.\n\nAnswer 3.\n" {
		t.Errorf("stdout %q", out)
	}
	send()
	r := clitest.Lines(t, w.OK("-p", "-r", "s", "--output-format", "json"))[0]
	if r["result"] != "Answer 3." || r["num_turns"] != 3.0 {
		t.Errorf("%v", r)
	}
	if got := fmt.Sprint(r["turns"]); got != "[map[result:Answer 1. stop_reason:end_turn turn:5] map[result:Answer 2. stop_reason:end_turn turn:6] map[result:Answer 3. stop_reason:end_turn turn:7]]" {
		t.Errorf("turns: %s", got)
	}
	if r = clitest.Lines(t, w.OK("-p", "-r", "s", "--output-format", "json", "ask 1"))[0]; r["turns"] != nil || r["num_turns"] != 1.0 {
		t.Errorf("one turn: %v", r)
	}
}

// Goal: a numbered option is answered by its number, and a number that is meant is given by --text.
func TestAnswerByNumber(t *testing.T) {
	w := clitest.New(t)
	m := w.Scripted(`{"turns":[{"match":"","steps":[
	 {"tools":[{"name":"AskUser","input":{"question":"Which port?","options":["red","8080"]}}]},
	 {"tools":[{"name":"AskUser","input":{"question":"How many?","options":["few","many"]}}]},
	 {"tools":[{"name":"AskUser","input":{"question":"What else?"}}]},
	 {"text":"Done."}]}]}`)
	o := w.Fails(app.ExitWaiting, "1. red", "-p", "--session-id", "s", "--model", m, "--output-format", "json", "go")
	q := clitest.Lines(t, o.Stdout)[0]["waiting"].([]any)[0].(map[string]any)["question"].(map[string]any)
	if q["question"] != "Which port?" || len(q["options"].([]any)) != 2 {
		t.Errorf("waiting: %v", q)
	}
	if out := w.OK("approvals", "list"); !strings.Contains(out, "asks: Which port?") || !strings.Contains(out, "2. 8080") {
		t.Errorf("the question is not where approvals are: %s", out)
	}
	if l := clitest.Lines(t, w.OK("approvals", "list", "s", "--json"))[0]; l["kind"] != "question" || l["question"] != "Which port?" {
		t.Errorf("in JSON: %v", l)
	}
	answers := func(text string) {
		t.Helper()
		if out := w.OK("show", "s", "--messages"); !strings.Contains(out, text) {
			t.Errorf("the model was not told %q: %s", text, out)
		}
	}
	w.Fails(app.ExitUsage, "--text 3", "answer", "s", "3")
	w.Fails(app.ExitUsage, "once", "answer", "s", "3", "--text", "3")
	w.Fails(app.ExitUsage, "and the answer", "answer", "s")
	if o := w.Run("answer", "s", "8080"); o.Code != 0 || !strings.Contains(o.Stderr, "answered: 8080") {
		t.Errorf("an option's own text: %+v", o)
	}
	w.Fails(app.ExitWaiting, "How many?", "-p", "-r", "s")
	answers("8080")
	w.OK("answer", "s", "--text", "7")
	w.Fails(app.ExitWaiting, "What else?", "-p", "-r", "s")
	answers("7")
	w.OK("answer", "s", "12")
	w.OK("-p", "-r", "s")
	answers("12")
}
