package workflow

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"github.com/perdure/perdure/internal/session"
)

const seedJSON = `{
  "task": "migrate-stripe-v3",
  "status": "in_progress",
  "plan": [
    {"step": "schema migration", "status": "done", "output": "payments/migrate_v3.py"},
    {"step": "webhook handlers", "status": "in_progress", "blocker": "subscription event format"},
    {"step": "retry logic", "status": "blocked", "reason": "idempotency key changes"},
    {"step": "integration tests", "status": "pending"},
    {"step": "load testing", "status": "pending"}
  ],
  "findings": [
    "v3 renames subscription.id -> subscription_id in all webhook payloads",
    "idempotency keys are now required, not optional"
  ],
  "failed_approaches": [
    "monkey-patch stripe lib - fails on partial refunds",
    "v2 compatibility mode - deprecated"
  ]
}`

const seedYAML = `# a comment
task: migrate-stripe-v3
status: in_progress
plan:
  - step: schema migration
    status: done
    output: payments/migrate_v3.py
  - {step: webhook handlers, status: in_progress, blocker: subscription event format}
  - step: "retry logic"
    status: blocked
    reason: idempotency key changes
  - step: integration tests
    status: pending
  - step: |
      load testing
    status: 'pending'
findings:
- v3 renames subscription.id -> subscription_id in all webhook payloads
- idempotency keys are now required, not optional
failed_approaches:
- monkey-patch stripe lib - fails on partial refunds
- v2 compatibility mode - deprecated
`

const seedMarkdown = "# migrate-stripe-v3\n\nWords.\n\n- [x] schema migration\n  - output: payments/migrate_v3.py\n" +
	"* [~] webhook handlers\n  blocker: subscription event format\n1. [!] retry logic\n   - because: idempotency key changes\n" +
	"```\n- [ ] no step\n```\n- [ ] integration tests\n\t- [ ] load testing\n\n## Findings\n" +
	"- v3 renames subscription.id -> subscription_id in all webhook payloads\n- idempotency keys are now required, not optional\n" +
	"## Failed Approaches (DO NOT retry)\n- monkey-patch stripe lib - fails on partial refunds\n- v2 compatibility mode - deprecated\n"

var seedSteps = []session.Step{
	{Content: "schema migration", Status: session.StepDone, Output: "payments/migrate_v3.py"},
	{Content: "webhook handlers", Status: session.StepExecuting, Blocker: "subscription event format"},
	{Content: "retry logic", Status: session.StepBlocked, Reason: "idempotency key changes"},
	{Content: "integration tests", Status: session.StepPlanned},
	{Content: "load testing", Status: session.StepPlanned},
}

// Goal: the usual state file is understood whole in each of its forms, and written back as it was.
func TestTheUsualStateFile(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		parse func([]byte) (*Document, error)
	}{"json": {seedJSON, ParseJSON}, "yaml": {seedYAML, ParseYAML}, "markdown": {seedMarkdown, ParseMarkdown}} {
		d, err := c.parse([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !reflect.DeepEqual(d.Steps(), seedSteps) || d.Task != "migrate-stripe-v3" || d.Status != wordActive || len(d.Problems) > 0 {
			t.Errorf("%s: %+v", name, d)
		}
		if len(d.Findings) != 2 || len(d.Failed) != 2 || d.Failed[1].Text != "v2 compatibility mode - deprecated" {
			t.Errorf("%s: findings %+v, failed %+v", name, d.Findings, d.Failed)
		}
		if name == "json" && !sameJSON(t, d.JSON(), []byte(c.text)) {
			t.Errorf("written back:\n%s", d.JSON())
		}
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}

// Goal: keys and values that this version does not know are there after the document was read, changed and written, in
// their order and with their digits.
func TestUnknownKeysAndValuesSurvive(t *testing.T) {
	const text = `{"$schema": "x", "task": 5, "owner": {"name": "ann", "big": 12345678901234567890123}, "status": "on hold",
		"plan": [{"step": "one", "status": "wip", "due": "2026-12-01", "output": ["a", "b"]}, 7, {"title": "no step"},
		{"content": "two", "status": "completed", "tags": [1.50]}, "three"],
		"findings": {"a": 1}, "decisions": [{"text": "d", "by": "ann"}, "bare"], "failed_approaches": [null], "tail": null}`
	d, err := ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	st := session.New("s1")
	st.Plan = d.Steps()
	st.Plan[1].Output = "mine"
	st.Plan = append(st.Plan, session.Step{Content: "four", Status: session.StepFailed})
	st.Facts = []session.Fact{{Kind: "decision", Text: "d", Provenance: "model"}, {Kind: "decision", Text: "bare"}}
	now := New(st)
	now.over(d, true)
	got := string(now.JSON())
	for _, want := range []string{
		`"$schema": "x"`, `"task": 5`, `12345678901234567890123`, `"status": "on hold"`, `"status": "wip"`, `"due": "2026-12-01"`,
		`"title": "no step"`, `1.50`, `"by": "ann"`, `"tail": null`, `"output": "mine"`, `"content": "two"`, `"status": "completed"`,
		`"step": "four"`, `"state": "failed"`, `"bare"`, `"a": 1`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is gone:\n%s", want, got)
		}
	}
	if strings.Index(got, "$schema") > strings.Index(got, "owner") || strings.Index(got, `"owner"`) > strings.Index(got, `"plan"`) {
		t.Error("the order is another one")
	}
	if len(d.Problems) < 5 {
		t.Errorf("not named: %v", d.Problems)
	}
	st.Plan[0].Status = session.StepDone
	now = New(st)
	now.over(d, true)
	if got := string(now.JSON()); strings.Contains(got, "wip") {
		t.Errorf("a word that no longer holds stays:\n%s", got)
	}
}

// Goal: what a session says is what is read back, every state of a step included.
func TestWrittenAndRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom(nil, unicode.L, unicode.P, unicode.Cf, unicode.Zs, unicode.Cc))
		word := rapid.Map(text, func(s string) string { return "x" + strings.ReplaceAll(s, "\x00", "") })
		st := session.New("s1")
		st.Created, st.Updated, st.Head.Seq = 1_700_000_000_000, 1_700_000_001_000, 7
		n := rapid.IntRange(0, 8).Draw(t, "steps")
		for range n {
			st.Plan = append(st.Plan, session.Step{
				Content: word.Draw(t, "content"), Status: rapid.SampledFrom(session.StepStatuses()).Draw(t, "status"),
				Blocker: text.Draw(t, "blocker"), Reason: text.Draw(t, "reason"), Output: word.Draw(t, "output"), ActiveForm: text.Draw(t, "form"),
			})
		}
		for range rapid.IntRange(0, 4).Draw(t, "facts") {
			st.Facts = append(st.Facts, session.Fact{
				Kind: rapid.SampledFrom([]string{"fact", "finding", "decision", "failed_approach", "constraint"}).Draw(t, "kind"),
				Text: word.Draw(t, "text"), Reason: text.Draw(t, "why"), Provenance: rapid.SampledFrom([]string{"user", "tool", "model", "import"}).Draw(t, "by"),
			})
		}
		d := New(st)
		b, _ := d.Fit()
		back, err := ParseJSON(b)
		if err != nil {
			t.Fatalf("%v:\n%s", err, b)
		}
		for i := range st.Plan { // what JSON cannot hold was no text before
			for _, s := range []*string{&st.Plan[i].Content, &st.Plan[i].Blocker, &st.Plan[i].Reason, &st.Plan[i].Output, &st.Plan[i].ActiveForm} {
				*s = strings.ToValidUTF8(*s, "\uFFFD")
			}
		}
		if len(b) < MaxDocument/2 && (len(st.Plan) != len(back.Plan) || n > 0 && !reflect.DeepEqual(back.Steps(), st.Plan) || len(back.Problems) > 0) {
			t.Fatalf("%v\nread %+v\nwas %+v", back.Problems, back.Steps(), st.Plan)
		}
		again, _ := back.Fit()
		if !bytes.Equal(again, b) {
			t.Fatalf("written again:\n%s\nwas\n%s", again, b)
		}
	})
}

// Goal: no text of a session controls the terminal of who looks at the file, or turns its lines.
func TestAStateFileIsShownAsText(t *testing.T) {
	st := session.New("s1")
	st.Title = "a\x1b[2J\u202eb\U000e0041"
	st.Plan = []session.Step{{Content: "\x1b]0;evil\a \u2066x", Status: session.StepPlanned}}
	b, _ := New(st).Fit()
	if bytes.ContainsAny(b, "\x1b\a\u202e\u2066\U000e0041") {
		t.Errorf("%q", b)
	}
	if d, err := ParseJSON(b); err != nil || d.Task != st.Title || d.Plan[0].Content != st.Plan[0].Content {
		t.Errorf("%v, %+v", err, d)
	}
}

// Goal: what is too much for a document is left out by rule and named in it, steps last.
func TestADocumentHasABound(t *testing.T) {
	st := session.New("s1")
	for range session.MaxPlanSteps {
		st.Plan = append(st.Plan, session.Step{Content: strings.Repeat("wörd ", 380), Status: session.StepPlanned, Output: strings.Repeat("o", 2000)})
	}
	for range 4000 {
		st.Facts = append(st.Facts, session.Fact{Kind: "finding", Text: strings.Repeat("f", 1000), Provenance: "model"})
	}
	for range 256 {
		st.Settled = append(st.Settled, session.Act{ID: "t1.s1.b1.a1", Effect: session.EffectProcess, Outcome: session.OutcomeOK, About: strings.Repeat("c", 160)})
	}
	b, ok := New(st).Fit()
	d, err := ParseJSON(b)
	if !ok || err != nil || len(d.Plan) != session.MaxPlanSteps || len(d.Findings) == 0 {
		t.Fatalf("%d bytes, ok %v, %v, %d steps, %d findings", len(b), ok, err, len(d.Plan), len(d.Findings))
	}
	for _, want := range []string{"side effects", "findings", "ends of texts"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s are not named", want)
		}
	}
}

// Goal: what is no document, or is meant to break its reader, is an error in words, and soon.
func TestHostileFiles(t *testing.T) {
	deep := strings.Repeat("[", 30000)
	bomb := "a: &a [x,x,x,x,x,x,x,x]\n"
	for _, c := range "bcdefghi" {
		bomb += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 8), ",") + "]\n"
	}
	for name, text := range map[string]string{
		"empty": "", "list": "[]", "number": "5", "two": "{}{}", "torn": `{"plan": [`, "binary": "{\"a\": \"\x00\"}", "latin": "{\"a\": \"\xff\"}",
		"huge": `{"a": "` + strings.Repeat("x", MaxDocument) + `"}`, "deep": deep, "deep object": strings.Repeat(`{"a":`, 11000),
		"bomb": bomb, "merge": "a: &x {b: 1}\nc:\n  <<: *x\n", "documents": "a: 1\n---\nb: 2\n", "alias": "plan: &p [a]\nfindings: *p\n",
		"dashes": strings.Repeat("- ", 30000), "keys": strings.Repeat("? ", 30000), "tabs": "\ta: 1", "key": "{[1]: 2}",
	} {
		start := time.Now()
		if name != "bomb" && name != "merge" && name != "documents" && name != "alias" && name != "dashes" && name != "keys" && name != "tabs" && name != "key" {
			if d, err := ParseJSON([]byte(text)); err == nil {
				t.Errorf("json, %s: %+v", name, d)
			}
		}
		if d, err := ParseYAML([]byte(text)); err == nil {
			t.Errorf("yaml, %s: %+v", name, d)
		} else if len(err.Error()) > 400 {
			t.Errorf("yaml, %s: %d bytes of words", name, len(err.Error()))
		}
		_, _ = ParseMarkdown([]byte(text))
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s took %s", name, took)
		}
	}
}

// Goal: a plan that a person has in an editor says all that the session says.
func TestChecklistIsReadBack(t *testing.T) {
	var steps []session.Step
	for i, s := range session.StepStatuses() {
		steps = append(steps, session.Step{Content: "step [x] " + string(s), Status: s, Output: "o", Blocker: "b", Reason: strings.Repeat("r", i), ActiveForm: "f"})
	}
	text := Checklist("title\n- [ ] no step", steps)
	d, err := ParseMarkdown([]byte(text))
	if err != nil || !reflect.DeepEqual(d.Steps(), steps) {
		t.Errorf("%v\n%s\n%+v", err, text, d.Steps())
	}
	for text, want := range map[string][]session.Step{
		"1. a\n2) ~~b~~\n":               {{Content: "a", Status: session.StepPlanned}, {Content: "b", Status: session.StepDone}},
		"1. a\n- [X] b\n":                {{Content: "b", Status: session.StepDone}},
		"- [in progress] a\n+ [/] b\n":   {{Content: "a", Status: session.StepExecuting}, {Content: "b", Status: session.StepExecuting}},
		"- [ ]\n- [x](http://a) link\n":  nil,
		"2026. was a year\n\n- [%] odd":  {{Content: "odd", Status: session.StepPlanned}},
		"~~~\n- [ ] a\n~~~\n- [ ] b\r\n": {{Content: "b", Status: session.StepPlanned}},
	} {
		d, err := ParseMarkdown([]byte(text))
		if err != nil || len(d.Plan) != len(want) || len(want) > 0 && !reflect.DeepEqual(d.Steps(), want) {
			t.Errorf("%q: %v, %+v", text, err, d.Steps())
		}
	}
}

// fuzzed checks what holds of every document that could be read.
func fuzzed(t *testing.T, d *Document, err error) {
	if err != nil {
		return
	}
	b := d.JSON()
	if !json.Valid(b) {
		t.Fatalf("written as\n%s", b)
	}
	if len(b) > MaxDocument {
		return
	}
	again, err := ParseJSON(b)
	if err != nil {
		t.Fatalf("%v:\n%s", err, b)
	}
	if once, twice := b, again.JSON(); !bytes.Equal(once, twice) {
		t.Fatalf("written twice:\n%s\nonce\n%s", twice, once)
	}
	if len(again.Plan) != len(d.Plan) {
		t.Fatalf("%d steps, then %d", len(d.Plan), len(again.Plan))
	}
	for i, s := range d.Plan {
		if again.Plan[i].Step != s.Step {
			t.Fatalf("step %d: %+v, then %+v", i, s.Step, again.Plan[i].Step)
		}
	}
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(seedJSON))
	f.Add([]byte(`{"plan": {"step": "x", "status": 5}, "plan": ["y"], "findings": "z", "": 1, "seq": 1e3}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := ParseJSON(b)
		fuzzed(t, d, err)
	})
}

func FuzzYAML(f *testing.F) {
	f.Add([]byte(seedYAML))
	f.Add([]byte("plan: [a, {step: b, status: !!str done}, &x c]\nn: .inf\nh: 0x10\n? k\n: v\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := ParseYAML(b)
		fuzzed(t, d, err)
	})
}

func FuzzMarkdown(f *testing.F) {
	f.Add([]byte(seedMarkdown))
	f.Add([]byte(Checklist("t", seedSteps)))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := ParseMarkdown(b)
		fuzzed(t, d, err)
		if err == nil {
			back, err := ParseMarkdown([]byte(Checklist(d.Task, d.Steps())))
			if err != nil && len(b) < MaxDocument/4 || err == nil && len(back.Plan) != len(d.Plan) {
				t.Fatalf("%v: %+v, then %+v", err, d.Steps(), back)
			}
		}
	})
}
