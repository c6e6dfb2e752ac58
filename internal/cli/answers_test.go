package cli

import (
	"fmt"
	"strings"
	"testing"
)

const waitsTwice = `{"turns":[
 {"match":"both","steps":[
  {"text":"I try.","tools":[{"name":"Bash","input":{"command":"touch made"}}]},
  {"text":"I ask.","tools":[{"name":"AskUser","input":{"question":"Which?","options":["red","green"]}}]},
  {"text":"It is done."}]},
 {"match":"more","steps":[{"text":"More."}]}]}`

// Goal: whatever a run with --wait slept for, each text of the model is on stdout once, the last one included.
func TestAnswerAfterSleep(t *testing.T) {
	w := newWorld(t)
	r, wait := w.start("-p", "--wait", "--session-id", "s", "--model", w.scripted(waitsTwice), "both")
	until(t, "it asks for the approval", func() bool { return strings.Contains(r.read().stderr, "approvals allow s:") })
	w.ok("approvals", "allow", "s")
	until(t, "it asks the question", func() bool { return strings.Contains(r.read().stderr, "perdure answer s:") })
	w.ok("answer", "s", "2")
	wait()
	o := r.read()
	if o.code != 0 || o.stdout != "I try.\n\nI ask.\n\nIt is done.\n" {
		t.Errorf("exit %d, stdout %q\nstderr: %s", o.code, o.stdout, o.stderr)
	}
	if strings.Contains(o.stderr, "then: perdure -p --resume") {
		t.Errorf("it advises a resume that would be refused: %s", o.stderr)
	}
}

// Goal: a turn that made no step has no answer, neither as text nor as JSON; the one before is not given for it.
func TestNoStepNoAnswer(t *testing.T) {
	w := newWorld(t)
	w.create("s")
	if r := w.prompt("s", saysYes, "first", ""); r.Result != "Yes." {
		t.Fatalf("%+v", r)
	}
	o := w.fails(exitLimit, "", "-p", "-r", "s", "--max-budget-usd", "0.000000001", "second")
	if o.stdout != "" {
		t.Errorf("stdout %q", o.stdout)
	}
	o = w.fails(exitLimit, "", "-p", "-r", "s", "--max-budget-usd", "0.000000001", "--output-format", "json", "third")
	r := lines(t, o.stdout)[0]
	if r["result"] != "" || r["is_error"] != true || r["stop_reason"] != "max_budget" {
		t.Errorf("%v", r)
	}
}

// Goal: of several turns that one run runs, each answer is printed, once and in order; JSON lists them.
func TestAnswerOfEachTurn(t *testing.T) {
	w := newWorld(t)
	var turns []string
	for i := range 4 {
		turns = append(turns, fmt.Sprintf(`{"match":"ask %d","steps":[{"text":"Answer %d."}]}`, i, i))
	}
	m := w.scripted(`{"turns":[` + strings.Join(turns, ",") + `]}`)
	w.ok("-p", "--session-id", "s", "--model", m, "ask 0")
	send := func() {
		for i := range 3 {
			w.ok("send", "s", fmt.Sprintf("ask %d", i+1))
		}
	}
	send()
	if out := w.ok("-p", "-r", "s"); out != "Answer 1.\n\nAnswer 2.\n\nAnswer 3.\n" {
		t.Errorf("stdout %q", out)
	}
	send()
	r := lines(t, w.ok("-p", "-r", "s", "--output-format", "json"))[0]
	if r["result"] != "Answer 3." || r["num_turns"] != 3.0 {
		t.Errorf("%v", r)
	}
	if got := fmt.Sprint(r["turns"]); got != "[map[result:Answer 1. stop_reason:end_turn turn:5] map[result:Answer 2. stop_reason:end_turn turn:6] map[result:Answer 3. stop_reason:end_turn turn:7]]" {
		t.Errorf("turns: %s", got)
	}
	if r = lines(t, w.ok("-p", "-r", "s", "--output-format", "json", "ask 1"))[0]; r["turns"] != nil || r["num_turns"] != 1.0 {
		t.Errorf("one turn: %v", r)
	}
}

// Goal: a numbered option is answered by its number, and a number that is meant is given by --text.
func TestAnswerByNumber(t *testing.T) {
	w := newWorld(t)
	m := w.scripted(`{"turns":[{"match":"","steps":[
	 {"tools":[{"name":"AskUser","input":{"question":"Which port?","options":["red","8080"]}}]},
	 {"tools":[{"name":"AskUser","input":{"question":"How many?","options":["few","many"]}}]},
	 {"tools":[{"name":"AskUser","input":{"question":"What else?"}}]},
	 {"text":"Done."}]}]}`)
	o := w.fails(exitWaiting, "1. red", "-p", "--session-id", "s", "--model", m, "--output-format", "json", "go")
	q := lines(t, o.stdout)[0]["waiting"].([]any)[0].(map[string]any)["question"].(map[string]any)
	if q["question"] != "Which port?" || len(q["options"].([]any)) != 2 {
		t.Errorf("waiting: %v", q)
	}
	if out := w.ok("approvals", "list"); !strings.Contains(out, "asks: Which port?") || !strings.Contains(out, "2. 8080") {
		t.Errorf("the question is not where approvals are: %s", out)
	}
	if l := lines(t, w.ok("approvals", "list", "s", "--json"))[0]; l["kind"] != "question" || l["question"] != "Which port?" {
		t.Errorf("in JSON: %v", l)
	}
	answers := func(text string) {
		t.Helper()
		if out := w.ok("show", "s", "--messages"); !strings.Contains(out, text) {
			t.Errorf("the model was not told %q: %s", text, out)
		}
	}
	w.fails(exitUsage, "--text 3", "answer", "s", "3")
	w.fails(exitUsage, "once", "answer", "s", "3", "--text", "3")
	w.fails(exitUsage, "and the answer", "answer", "s")
	if o := w.run("answer", "s", "8080"); o.code != 0 || !strings.Contains(o.stderr, "answered: 8080") {
		t.Errorf("an option's own text: %+v", o)
	}
	w.fails(exitWaiting, "How many?", "-p", "-r", "s")
	answers("8080")
	w.ok("answer", "s", "--text", "7")
	w.fails(exitWaiting, "What else?", "-p", "-r", "s")
	answers("7")
	w.ok("answer", "s", "12")
	w.ok("-p", "-r", "s")
	answers("12")
}
