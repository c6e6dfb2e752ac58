package session

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// A head whose objects begin with a name that nothing is said of is no JSON: no quick reader takes it, wherever it stands.
func TestQuickRefusesANameWithoutAValue(t *testing.T) {
	for kind, head := range ordinaryHeads(t) {
		for i, c := range head {
			if c != '{' {
				continue
			}
			for _, odd := range []string{`"new":`, `"new":,`, `"new":"x",`, `"new":1,`} {
				if text := string(head[:i+1]) + odd + string(head[i+1:]); readQuick(emptyBody(kind).(quick), []byte(text)) {
					t.Errorf("%s is read quickly: %s", kind, text)
				}
			}
		}
	}
}

// What is read quickly is what encoding/json reads, for numbers at every bound and texts of every kind of byte.
func TestQuickReadsAsJSONDoes(t *testing.T) {
	for text, read := range map[string]bool{
		`{"exit_code":0}`: true, `{"exit_code":-1}`: true, `{"exit_code":2147483647}`: true, `{"exit_code":2147483648}`: false,
		`{"exit_code":-2147483648}`: true, `{"exit_code":-2147483649}`: false, `{"exit_code":-0}`: true, `{"exit_code":00}`: false,
		`{"exit_code":9}`: true, `{"exit_code":10}`: true, `{"exit_code":1E3}`: false, `{"exit_code":}`: false, `{"exit_code":+1}`: false,
		`{"act":"` + "\x1f" + `"}`: false, `{"act":" "}`: true, `{"act":"~"}`: true, `{"act":"` + "\x7f" + `"}`: false, `{"act":""}`: true,
		`{"collected":true}`: true, `{"collected":false}`: true, `{"collected":tru}`: false, `{"collected":null}`: false, `{}`: true, `{]`: false,
		`{"content":[]}`: true, `{"content":[{}]}`: true, `{"content":[{},{}]}`: true, `{"content":[{},]}`: false, `{"content":{}}`: false, `{"content":[{}}`: false,
	} {
		if got := readQuick(&ToolFinished{}, []byte(text)); got != read {
			t.Errorf("%q is read quickly: %t", text, got)
		}
		sameAsJSON(t, KindToolFinished, []byte(text))
	}
	for text, read := range map[string]bool{
		`{"epoch":999999999999999999}`: true, `{"epoch":1000000000000000000}`: false, `{"epoch":-999999999999999999}`: true,
		`{"prefix":""}`: true, `{"prefix":"` + strings.Repeat("a", 64) + `"}`: true, `{"prefix":"` + strings.Repeat("g", 64) + `"}`: false,
		`{"prefix":"` + strings.Repeat("a", 62) + `"}`: false, `{"prefix":"` + strings.Repeat("a", 66) + `"}`: false,
	} {
		if got := readQuick(&ModelRequested{}, []byte(text)); got != read {
			t.Errorf("%q is read quickly: %t", text, got)
		}
		sameAsJSON(t, KindModelRequested, []byte(text))
	}
	for _, text := range []string{`{"cost":null}`, `{"cost":7,"cost":null}`, `{"blocks":[{}],"blocks":[{}]}`, `{"blocks":[{"text":true},{"text":false}]}`} {
		sameAsJSON(t, KindModelResponded, []byte(text))
	}
}

// The line of an event shows the raw parts of its body in their places, each under its name.
func TestEventViewShowsTheParts(t *testing.T) {
	for want, b := range map[string]Body{
		`{"why":"start","texts":[{"name":"instructions","path":"/w/A","said":"now","text":"all"},{"name":"memory","text":"m"}]}`: &ContextGiven{
			Why: "start", Texts: []GivenText{{Name: "instructions", Path: "/w/A", Text: []byte("all"), Said: []byte("now")}, {Name: "memory", Text: []byte("m")}},
		},
		`{"n":1,"parts":[{"name":"summary","seq":4,"text":"so far"},{"name":"goal","seq":0,"text":""}]}`: &Compacted{
			N: 1, Parts: []ContextPart{{Name: "summary", Seq: 4, Text: []byte("so far")}, {Name: "goal"}},
		},
		`{"id":"await_1","reason":"user","text":"gone"}`: &AwaitDropped{ID: "await_1", Reason: "user", Text: []byte("gone")},
		`{"id":"await_1","reason":"fork"}`:               &AwaitDropped{ID: "await_1", Reason: "fork"},
		`{"id":"await_1","text":"met"}`:                  &AwaitMet{ID: "await_1", Text: []byte("met")},
		`{"words":"w","text":"t"}`:                       &HandoffWritten{Words: []byte("w"), Text: []byte("t")},
		`{"key":"k","value":"v"}`:                        &StateSet{Key: "k", Value: []byte("v")},
		`{"key":"k","delete":true}`:                      &StateSet{Key: "k", Delete: true},
		`{"data_base64":"/w=="}`:                         &App{Namespace: "n", Data: []byte{0xff}},
		`{"act":"a","text":"half"}`:                      &ModelLost{Act: "a", Text: []byte("half")},
		`{"text":"[told]"}`:                              &PlanEdited{Text: []byte("[told]")},
		`{"agent":{"tools":[1]}}`:                        &Opened{Agent: Agent{Tools: []byte(`[1]`)}},
		`{"agent":{"tools":null}}`:                       &Opened{},
		`{"content":[{"type":"text","text":"hi"},{"type":"image","media":"image/png","data_base64":"AQ=="}]}`: &MessageReceived{
			Content: []model.Part{model.TextPart("hi"), {Type: model.BlockImage, Media: "image/png", Data: []byte{1}}},
		},
		`{"blocks":[{"type":"text","raw":{"a":1},"text":"é"},{"type":"tool_use","id":"u","raw":null,"input":"no json"},{"type":"thinking","raw":"x"}]}`: &ModelResponded{
			Blocks: []SealedBlock{
				{Type: model.BlockText, Raw: []byte(`{"a":1}`), Shown: []byte("é"), Text: true},
				{Type: model.BlockToolUse, ID: "u", Input: []byte("no json")},
				{Type: model.BlockThinking, Raw: []byte("x")},
			},
		},
	} {
		line, err := json.Marshal(EventView(store.Event{Seq: 1, Kind: KindOf(b)}, b).Body)
		if err != nil || !holds(t, line, []byte(want)) {
			t.Errorf("%T: %s, want %s in it (%v)", b, line, want, err)
		}
	}
	for want, e := range map[string]store.Event{
		`{"erased":true}`:                    {Kind: "later"},
		`{"codec":9,"raw_base64":"eA=="}`:    {Kind: "later", Codec: 9, Body: []byte("x")},
		`{"raw_base64":"eA=="}`:              {Kind: "later", Codec: Codec1, Body: []byte("x")},
		`{"parts":[{"text_base64":"/w=="}]}`: {Kind: "later", Codec: Codec1, Body: []byte("\x02{}\x01\x01\xff")},
	} {
		line, err := json.Marshal(EventView(e, nil).Body)
		if err != nil || !holds(t, line, []byte(want)) {
			t.Errorf("%s, want %s in it (%v)", line, want, err)
		}
	}
}

// holds reports whether all that is in one JSON value is in another.
func holds(t *testing.T, whole, part []byte) bool {
	t.Helper()
	var a, b any
	if err := errors.Join(json.Unmarshal(whole, &a), json.Unmarshal(part, &b)); err != nil {
		t.Error(err)
		return false
	}
	return within(a, b)
}

func within(whole, part any) bool {
	switch p := part.(type) {
	case map[string]any:
		w, ok := whole.(map[string]any)
		for k, v := range p {
			ok = ok && within(w[k], v)
			if _, there := w[k]; !there {
				return false
			}
		}
		// Of small objects nothing else is shown that stands for a text.
		for _, k := range []string{"said", "path", "text", "value", "data_base64"} {
			_, wanted := p[k]
			if _, there := w[k]; there != wanted {
				return false
			}
		}
		return ok
	case []any:
		w, ok := whole.([]any)
		return ok && slices.EqualFunc(w, p, within)
	}
	return whole == part
}

// The lines of a log say what each event is about, with what is set and nothing else.
func TestLinesOfALog(t *testing.T) {
	title, name, other, yes, n, at, ms, nano := "A name", "p", "m", true, 7, 805, int64(90_000), int64(2_500_000_000)
	for want, b := range map[string]Body{
		"": &Configured{},
		"mode p, model p/m, max steps 7, budget $2.50, retries for 1m30s, compacts at 80.5 % of the window, compacts only when asked: true, files after a lost act: m, belongs to p, works in m, directory /a, directory /b": &Configured{
			Mode: &name, Provider: &name, Model: &other, MaxSteps: &n, BudgetNano: &nano, RetryForMS: &ms, CompactAt: &at, NoCompact: &yes, OnLost: &other, Root: &name,
			Cwd: &other, AddDirs: []string{"/a", "/b"},
		},
		"name A name":                      &Labelled{Title: &title, Labels: map[string]string{"a": "b"}},
		"map[a:b]":                         &Labelled{Labels: map[string]string{"a": "b"}},
		"end, by rule":                     &HandoffWritten{Why: "end", Text: []byte("x")},
		"end, by model":                    &HandoffWritten{Why: "end", Words: []byte("x")},
		"await_1: line bash_1 x+":          &AwaitSet{Await: Await{ID: "await_1", Event: AwaitLine, Task: "bash_1", Pattern: "x+"}},
		"await_1: timer":                   &AwaitSet{Await: Await{ID: "await_1", Event: AwaitTimer}},
		"1 position":                       &AwaitScanned{Positions: make([]AwaitPosition, 1)},
		"2 positions":                      &AwaitScanned{Positions: make([]AwaitPosition, 2)},
		"bash_1: 3 bytes":                  &TaskInput{Task: "bash_1", Text: []byte("abc")},
		"bash_1: 3 bytes, and its end":     &TaskInput{Task: "bash_1", Text: []byte("abc"), EOF: true},
		"bash_1: after a reboot never":     &TaskRestartSet{Task: "bash_1"},
		"bash_1: after a reboot on-reboot": &TaskRestartSet{Task: "bash_1", Restart: RestartOnReboot},
		"1 step":                           &PlanSet{Steps: make([]Step, 1)},
		"0 steps":                          &PlanSet{},
		"2 steps  a file":                  &PlanEdited{Steps: make([]Step, 2), From: "a file"},
		"1 rule":                           &PermissionRules{Rules: make([]Rule, 1)},
		"none":                             &TitleGiven{},
		"A name":                           &TitleGiven{Title: title},
		"p/m, about 5 tokens":              &TitleRequested{Model: "p/m", Estimate: 5},
		"decision: because (it is)":        &FactAdded{Fact: Fact{Kind: "decision", Text: "because", Reason: "it is"}},
		"start: instructions /w/A, memory": &ContextGiven{Why: "start", Texts: []GivenText{{Name: "instructions", Path: "/w/A"}, {Name: "memory"}}},
		"2: 9 tokens → about 4, by rule":   &Compacted{N: 2, TokensBefore: 9, TokensAfter: 4, By: "rule"},
	} {
		if got := b.summary(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	reply := (&ModelResponded{Act: "t1.s1", Stop: modelapi.StopToolUse, Blocks: []SealedBlock{
		{Type: model.BlockThinking, Raw: []byte("hm")}, {Type: model.BlockText, Shown: []byte("I look")}, {Type: model.BlockToolUse, Name: "Read"},
	}}).summary()
	if !strings.HasPrefix(reply, "t1.s1  tool_use") || !strings.Contains(reply, "I look") || !strings.Contains(reply, "→ Read") || strings.Contains(reply, "hm") {
		t.Errorf("a reply is %q", reply)
	}
}

// A copy of an event for elsewhere has every known value replaced, in its head and in each part, and is read as before;
// where there is nothing to replace it is the very same.
func TestRedactRawKeepsTheForm(t *testing.T) {
	hide := func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "SECRET", "[secret:X]")) }
	whole := &MessageReceived{Key: "of SECRET", Content: []model.Part{model.TextPart("plain"), model.TextPart("a SECRET here"), model.TextPart("SECRET")}}
	raw, err := Encode(whole)
	if err != nil {
		t.Fatal(err)
	}
	e := store.Event{Seq: 3, Kind: KindMessageReceived, Codec: Codec1, Body: raw}
	got, err := RedactRaw(e, hide)
	if err != nil {
		t.Fatal(err)
	}
	if e.Body = got; strings.Contains(string(got), "SECRET") {
		t.Errorf("%q", got)
	}
	back, err := Decode(e)
	if err != nil {
		t.Fatal(err)
	}
	b := back.(*MessageReceived)
	if b.Key != "of [secret:X]" || model.Text(b.Content[:1]) != "plain" || model.Text(b.Content[1:2]) != "a [secret:X] here" || model.Text(b.Content[2:]) != "[secret:X]" {
		t.Errorf("%+v", b)
	}
	same, err := RedactRaw(e, hide)
	if err != nil || &same[0] != &got[0] {
		t.Errorf("what holds nothing is copied: %v", err)
	}
	for name, odd := range map[string]store.Event{"erased": {Codec: Codec1}, "of another codec": {Codec: 9, Body: []byte("SECRET")}} {
		if got, err := RedactRaw(odd, hide); err != nil || string(got) != string(odd.Body) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := RedactRaw(store.Event{Codec: Codec1, Body: []byte{0xff}}, hide); err == nil {
		t.Error("a damaged body is redacted")
	}
}

// What makes one plan of another is told step by step, in the order of the new one, with what was removed at the end.
func TestChangesOfAPlanInWords(t *testing.T) {
	step := func(what string, status StepStatus) Step { return Step{Content: what, Status: status} }
	old := []Step{step("schema", StepDone), step("api", StepExecuting), step("docs", StepPlanned), step("gone", StepPlanned)}
	now := []Step{step("docs", StepPlanned), step("schema", StepDone), {Content: "api", Status: "blocked", Blocker: "no\n key", Reason: "r", Output: "o"}, step("tests", StepPlanned)}
	var got []string
	for _, c := range DiffPlan(old, now) {
		got = append(got, c.Kind+" | "+c.String())
	}
	want := []string{
		"moved | step 1 is step 2 now: schema",
		"changed | step 3: [blocked] api; output: o; blocked by: no key; because: r (it was: [executing] api)",
		"changed | step 4: [planned] tests (it was: [planned] gone)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	got = nil
	for _, c := range DiffPlan(old[:2], now[:1]) {
		got = append(got, c.String())
	}
	if want := []string{"step 1: [planned] docs (it was: [done] schema)", "removed: [executing] api"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if d := DiffPlan(old, old); len(d) > 0 || len(DiffPlan(nil, old[:1])) != 1 || DiffPlan(nil, old[:1])[0].Kind != StepAdded {
		t.Errorf("of the same plan %v", d)
	}
	words := string(PlanWords(old, &PlanEdited{Steps: now, Facts: []Fact{{Kind: "failed_approach", Text: "v2", Reason: "slow"}}}))
	for _, part := range []string{"[The user changed the plan", "- step 1 is step 2 now: schema", "- noted failed approach: v2 (slow)", "The plan now:\n1. [planned] docs\n2. [done] schema\n"} {
		if !strings.Contains(words, part) || !strings.HasSuffix(words, "]") {
			t.Errorf("%q is not in\n%s", part, words)
		}
	}
	if empty := string(PlanWords(old, &PlanEdited{})); !strings.Contains(empty, "The plan is empty now.]") || strings.Contains(empty, "The plan now") {
		t.Errorf("%s", empty)
	}
}

// A compaction begins the counting anew, and what was asked for it is done: the model's reply, or by rule where it gave
// none.
func TestAfterACompaction(t *testing.T) {
	s := New("s")
	s.Lifecycle, s.Compactions = LifecycleOpen, 1
	s.Context = Context{Tokens: 900, Fresh: 800, Replies: 9}
	s.Compaction = &Compaction{N: 2}
	b := &Compacted{N: 2, Level: LevelCut, By: "rule", TokensBefore: 5, TokensAfter: 3, Size: 40, Replies: 2, Tail: []Range{{Session: "s", From: 3, To: 4}}}
	b.apply(s, store.Event{Seq: 9})
	if c := s.Context; c.Tokens != 0 || c.Fresh != 40 || c.Replies != 2 || len(c.Ranges) != 2 || s.Compaction != nil || s.Compactions != 2 || s.Overlay.Level != LevelCut {
		t.Errorf("%+v, overlay %+v, %d compactions", c, s.Overlay, s.Compactions)
	}
	(&Compacted{N: 3, Over: 1}).apply(s, store.Event{Seq: 10})
	if s.Overlay.N != 2 || s.Compactions != 3 {
		t.Errorf("one over another's: overlay %d, %d compactions", s.Overlay.N, s.Compactions)
	}
	for name, c := range map[string]struct {
		m    ModelCall
		rung int
		why  string
		want Do
	}{
		"answered":         {ModelCall{Status: CallResponded}, RungText, CompactAsked, Compact{N: 2, Reply: 7, Reason: CompactAsked, Focus: "f"}},
		"lost":             {ModelCall{Status: CallLost, Attempt: 1}, RungText, CompactAsked, Summarize{N: 2, Attempt: 2, Rung: RungText, Reason: CompactAsked, Focus: "f"}},
		"lost, by rule":    {ModelCall{Status: CallLost, Attempt: 1}, RungRule, CompactAsked, Compact{N: 2, Reply: 7, Reason: CompactAsked, Focus: "f"}},
		"failed":           {ModelCall{ID: "c2.a1", Status: CallFailed, RetryAt: 50}, RungText, CompactAsked, Wake{At: 50}},
		"failed and rests": {ModelCall{Status: CallFailed}, RungText, CompactAsked, nil},
		"failed, and due":  {ModelCall{Status: CallFailed, RetryAt: 9, Attempt: 3}, RungText, CompactAsked, Summarize{N: 2, Attempt: 4, Rung: RungText, Reason: CompactAsked, Focus: "f"}},
		"under way":        {ModelCall{Status: CallRequested, Attempt: 1, Epoch: 4}, RungWhole, CompactAsked, Summarize{N: 2, Attempt: 1, Rung: RungWhole, Reason: CompactAsked, Focus: "f"}},
		"of before":        {ModelCall{Status: CallRequested, Attempt: 1, Epoch: 3}, RungWhole, CompactAsked, Settle{}},
		"for a handoff":    {ModelCall{Status: CallFailed, RetryAt: 50}, RungWhole, ForHandoff, WriteHandoff{N: 2, Reply: 7, Why: "f"}},
	} {
		s := New("s")
		s.Lifecycle, s.Epoch, s.Updated = LifecycleOpen, 4, 10
		s.Compaction = &Compaction{N: 2, Reason: c.why, Focus: "f", Rung: c.rung, Reply: 7, Model: &c.m}
		as, ok := s.summarizing(1, s.Compaction)
		if !ok || (len(as) == 1) != (c.want != nil) || c.want != nil && as[0].Do != c.want {
			t.Errorf("%s: %+v, want %+v", name, as, c.want)
		}
	}
}

// A directory that is another one now takes the paths in it along, whole names only, and nothing that leads out of it.
func TestPathsOfADirectoryThatMoved(t *testing.T) {
	for _, c := range []struct{ from, to, path, want string }{
		{"/w", "/x", "/w", "/x"},
		{"/w", "/x", "/w/a", "/x/a"},
		{"/w", "/x", "/wide", ""},
		{"/w", "/x", "/w/../a", ""},
		{"/w", "/x", "/v", ""},
		{"/w", "/", "/w/a", "/a"},
		{"/w", "/x/", "/w/a", "/x/a"},
		{"/", "/x", "/a", "/x/a"},
		{"/", "/x", "/", "/x"},
		{"", "/x", "/a", ""},
		{"/w", "/x", "/w/..a", "/x/..a"},
	} {
		r := relocation{from: c.from, to: c.to}
		if got, ok := r.path(c.path); got != c.want || ok != (c.want != "") {
			t.Errorf("%s from %s to %s: %q, %t", c.path, c.from, c.to, got, ok)
		}
		r.beside = true
		if got, ok := r.path(c.path); !ok || c.want == "" && got != c.path || c.want != "" && got != c.want {
			t.Errorf("beside: %s from %s to %s: %q, %t", c.path, c.from, c.to, got, ok)
		}
	}
	s := New("s")
	s.Directories = []string{"/w/lib", "/other"}
	s.Files = Files{"/w/a": {Path: "/w/a", Seq: 1}, "/other/b": {Path: "/other/b", Seq: 2}}
	s.Told = map[string]store.Digest{"/w/a": {1}, "/other/b": {2}}
	s.Given = []Given{{Name: "instructions", Path: "/w/A"}, {Name: "instructions", Path: "/other/A"}, {Name: "memory"}}
	before := s.Given
	s.move(relocation{from: "/w", to: "/x"})
	if !slices.Equal(s.Directories, []string{"/x/lib"}) || len(s.Files) != 1 || s.Files["/x/a"].Path != "/x/a" || s.Dropped.Files != 1 || len(s.Told) != 1 || s.Told["/x/a"] != (store.Digest{1}) {
		t.Errorf("directories %v, files %v, %d dropped, told %v", s.Directories, s.Files, s.Dropped.Files, s.Told)
	}
	if s.Given[0].Path != "/x/A" || s.Given[1].Path != "/other/A" || before[0].Path != "/w/A" {
		t.Errorf("given %v, before %v", s.Given, before)
	}
}

// What the log says of a task's end is all there is when its directory says nothing.
func TestATasksStateFromTheLog(t *testing.T) {
	after, code := int64(9), 3
	task := Task{Ending: command.Ending{Status: command.Exited, ExitCode: &code, Output: 12}, MissingAfter: &after, Started: 5, Ended: 6}
	if st := task.CommandState(); st.Status != command.Exited || *st.ExitCode != 3 || st.Output != 12 || *st.MissingAfter != 9 || st.Started != 5 || st.Ended != 6 {
		t.Errorf("%+v", st)
	}
	for status, live := range map[command.Status]bool{command.Running: true, command.Starting: true, command.Exited: false, command.Killed: false, command.Lost: false} {
		task.Status = status
		if task.Live() != live {
			t.Errorf("%s: live %t", status, task.Live())
		}
	}
}
