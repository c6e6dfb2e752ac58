package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const (
	stream     = `,"stream":true`
	chatStream = `,"stream":true,"stream_options":{"include_usage":true}`
	// oddInput is JSON that any decode and encode would change.
	oddInput = `{"b": 1.0,"a":12345678901234567890, "s":"<é\u00e9 \/>","command":"ls"}`
)

// work is an answer with everything in it.
func work() Step {
	return Step{
		Thinking: "I <think> the über-file is ok.", Redacted: "b64==", Text: "Let me look.",
		Tools: []ToolCall{{Name: "Bash", InputText: oddInput}, {Name: "Read"}},
		Usage: Usage{Input: 100, Output: 20, CacheRead: 1000, CacheWrite: 50},
	}
}

// A history is a conversation of one worked step, ready for the next request.
type history struct {
	s       *Server
	system  string
	tools   string
	first   string
	one     sealed
	results string
}

func newHistory(t *testing.T, steps ...Step) *history {
	h := &history{
		s: start(t, script(steps...)), first: hi,
		system: `,"system":[{"type":"text","text":"be good"}]`,
		tools:  `,"tools":[{"name":"Bash","input_schema":{"type":"object"}},{"name":"Read","input_schema":{}}]`,
	}
	h.one = assemble(mustPass(t, h.s, messagesPath, ask(h.first, h.system+h.tools+stream)).body)
	if !h.one.whole {
		t.Fatal("the first answer is not whole")
	}
	h.results = user("[" + results(h.one.message) + "]")
	return h
}

// results answers every call of an assistant message.
func results(message string) string {
	var list []string
	for _, b := range elements(field([]byte(message), "content")) {
		if typ, _ := stringField(b, "type"); typ == "tool_use" {
			id, _ := stringField(b, "id")
			list = append(list, result(id, "done"))
		}
	}
	return strings.Join(list, ",")
}

func (h *history) next(message string) string {
	return ask(h.first+","+message+","+h.results, h.system+h.tools+stream)
}

// swap edits the returned message, and fails when there is nothing to edit.
func swap(t *testing.T, s, old, replacement string) string {
	t.Helper()
	if !strings.Contains(s, old) {
		t.Fatalf("%q is not in %s", old, s)
	}
	return strings.Replace(s, old, replacement, 1)
}

func TestRulePrefixSystem(t *testing.T) {
	h := newHistory(t, work(), Step{Text: "done"})
	lawful := h.next(h.one.message)
	mustRefuse(t, h.s, RulePrefixSystem, messagesPath, swap(t, lawful, "be good", "be good on 21 November"))
	mustRefuse(t, h.s, RulePrefixSystem, messagesPath, swap(t, lawful, h.system, ""))
	// A cache marker is not part of the prefix, wherever it wanders.
	mustPass(t, h.s, messagesPath, swap(t, lawful, `"be good"`, `"be good","cache_control":{"type":"ephemeral"}`))
	mustPass(t, h.s, messagesPath, lawful)
}

func TestRulePrefixSystemOpenAI(t *testing.T) {
	s := start(t, script(Step{Text: "one"}, Step{Text: "two"}))
	sys := `{"role":"system","content":"be good"},`
	one := assembleChat(mustPass(t, s, chatPath, chat(sys+hi, chatStream)).body)
	lawful := chat(sys+hi+","+one.message+","+hi, "")
	mustRefuse(t, s, RulePrefixSystem, chatPath, swap(t, lawful, "be good", "be better"))
	mustPass(t, s, chatPath, lawful)
}

func TestRulePrefixTools(t *testing.T) {
	h := newHistory(t, work(), Step{Text: "done"})
	lawful := h.next(h.one.message)
	mustRefuse(t, h.s, RulePrefixTools, messagesPath, swap(t, lawful, `{"type":"object"}`, `{"type": "object"}`))
	mustRefuse(t, h.s, RulePrefixTools, messagesPath, swap(t, lawful, `,{"name":"Read","input_schema":{}}`, ""))
	mustPass(t, h.s, messagesPath, lawful)
}

// A message before a sealed answer may not change, be left out, or gain a
// neighbour; after the newest answer the client is free.
func TestRulePrefixMessage(t *testing.T) {
	h := newHistory(t, work(), Step{Text: "two"}, Step{Text: "three"})
	two := assemble(mustPass(t, h.s, messagesPath, h.next(h.one.message)).body)
	h.results += "," + two.message + "," + user(`"more"`)
	lawful := h.next(h.one.message)
	mustRefuse(t, h.s, RulePrefixMessage, messagesPath, swap(t, lawful, `"done"`, `"DONE"`))
	mustRefuse(t, h.s, RulePrefixMessage, messagesPath, swap(t, lawful, `"content":"done"`, `"content": "done"`))
	mustRefuse(t, h.s, RulePrefixMessage, messagesPath, swap(t, lawful, `{"type":"text","text":"hi"}`, `{"type":"text","text":"hi there"}`))
	mustRefuse(t, h.s, RulePrefixMessage, messagesPath, swap(t, lawful, h.one.message, user(`"inserted"`)+","+h.one.message))
	mustRefuse(t, h.s, RulePrefixMessage, messagesPath, swap(t, lawful, `"text":"hi"`, `"text":"another conversation"`))
	mustPass(t, h.s, messagesPath, lawful)
	mustPass(t, h.s, messagesPath, swap(t, lawful, `"more"`, `"something else"`))
}

// An answer that was cut before its end never enters the history, nor does one
// that the server never gave.
func TestRuleAssistantUnsealed(t *testing.T) {
	cut := Step{Text: "a text of some length to be cut in the middle", Faults: []Fault{{Kind: FaultTruncate, After: 8}}}
	s := start(t, script(cut, Step{Text: "two"}))
	partial := assemble(mustPass(t, s, messagesPath, ask(hi, stream)).body)
	if partial.whole {
		t.Fatal("the fault did not strike")
	}
	text := assistant(`[{"type":"text","text":"a text of"}]`)
	mustRefuse(t, s, RuleAssistantUnsealed, messagesPath, ask(hi+","+text+","+hi, ""))
	whole := assemble(mustPass(t, s, messagesPath, ask(hi, stream)).body)
	mustRefuse(t, s, RuleAssistantUnsealed, messagesPath, ask(hi+","+whole.message+","+hi+","+text+","+hi, ""))
	mustPass(t, s, messagesPath, ask(hi+","+whole.message+","+hi, ""))
}

func TestRuleAssistantUnsealedOpenAI(t *testing.T) {
	cut := Step{Text: "a text of some length", Faults: []Fault{{Kind: FaultDisconnect, After: 5}}}
	s := start(t, script(cut, Step{Text: "two"}))
	if r := post(t, s, chatPath, chat(hi, chatStream)); r.err == nil {
		t.Fatal("the fault did not strike")
	}
	mustRefuse(t, s, RuleAssistantUnsealed, chatPath, chat(hi+","+assistant(`"a text"`)+","+hi, ""))
	one := assembleChat(mustPass(t, s, chatPath, chat(hi, chatStream)).body)
	mustPass(t, s, chatPath, chat(hi+","+one.message+","+hi, ""))
}

func TestRuleAssistantChanged(t *testing.T) {
	h := newHistory(t, work(), Step{Text: "done"})
	lawful := h.next(h.one.message)
	mustRefuse(t, h.s, RuleAssistantChanged, messagesPath, swap(t, lawful, "Let me look.", "Let me look"))
	mustRefuse(t, h.s, RuleAssistantChanged, messagesPath, swap(t, lawful, `{"type":"text","text":"Let me look."},`, ""))
	mustRefuse(t, h.s, RuleAssistantChanged, messagesPath, swap(t, lawful, `"name":"Bash","input":{"b"`, `"name":"Bush","input":{"b"`))
	mustRefuse(t, h.s, RuleAssistantChanged, messagesPath, strings.ReplaceAll(lawful, "_0\"", "_9\""))
	// The order of keys means nothing.
	mustPass(t, h.s, messagesPath, swap(t, lawful, `{"type":"text","text":"Let me look."}`, `{"text":"Let me look.","type":"text"}`))
}

func TestRuleAssistantChangedOpenAI(t *testing.T) {
	s := start(t, script(Step{Text: "look", Tools: []ToolCall{{ID: "c1", Name: "Bash"}}}, Step{Text: "two"}))
	one := assembleChat(mustPass(t, s, chatPath, chat(hi, chatStream)).body)
	lawful := chat(hi+","+one.message+","+toolMessage("c1", "r"), "")
	mustRefuse(t, s, RuleAssistantChanged, chatPath, swap(t, lawful, `"look"`, `null`))
	mustRefuse(t, s, RuleAssistantChanged, chatPath, swap(t, lawful, `"Bash"`, `"Read"`))
	mustPass(t, s, chatPath, lawful)
}

// A block of a type that nobody knows goes back with all its fields.
func TestRuleAssistantChangedUnknownBlock(t *testing.T) {
	block := `{"type":"web_search_result","encrypted":"a/b+c=","n":1.0,"deep":{"k":[1]}}`
	h := newHistory(t, Step{Text: "x", Extra: []json.RawMessage{[]byte(block)}}, Step{Text: "done"})
	h.results = hi
	lawful := h.next(h.one.message)
	mustRefuse(t, h.s, RuleAssistantChanged, messagesPath, swap(t, lawful, `"n":1.0`, `"n":1`))
	mustRefuse(t, h.s, RuleAssistantChanged, messagesPath, swap(t, lawful, `,"deep":{"k":[1]}`, ""))
	mustPass(t, h.s, messagesPath, lawful)
}

// Once a client has spelled an answer in one way, it keeps to it.
func TestRuleAssistantBytes(t *testing.T) {
	h := newHistory(t, Step{Thinking: "a<b", Text: "x > y"}, Step{Text: "two"})
	h.results = hi
	lawful := h.next(h.one.message)
	mustPass(t, h.s, messagesPath, lawful)
	mustRefuse(t, h.s, RuleAssistantBytes, messagesPath, swap(t, lawful, `x \u003e y`, `x > y`))
	mustRefuse(t, h.s, RuleAssistantBytes, messagesPath, swap(t, lawful, `a\u003cb`, `a<b`))
	mustPass(t, h.s, messagesPath, lawful)
}

func TestRuleThinkingVerbatim(t *testing.T) {
	h := newHistory(t, work(), Step{Text: "done"})
	lawful := h.next(h.one.message)
	blocks := elements([]byte(h.one.content))
	thinking, redacted, text := string(blocks[0]), string(blocks[1]), string(blocks[2])
	signature := string(field(blocks[0], "signature"))
	mustRefuse(t, h.s, RuleThinkingVerbatim, messagesPath, swap(t, lawful, thinking+",", ""))
	mustRefuse(t, h.s, RuleThinkingVerbatim, messagesPath, swap(t, lawful, redacted+",", ""))
	mustRefuse(t, h.s, RuleThinkingVerbatim, messagesPath, swap(t, lawful, "file is ok.", "file is OK."))
	mustRefuse(t, h.s, RuleThinkingVerbatim, messagesPath, swap(t, lawful, signature, `"`+signature[2:]))
	mustRefuse(t, h.s, RuleThinkingVerbatim, messagesPath, swap(t, lawful, thinking+","+redacted+","+text, redacted+","+thinking+","+text))
	mustRefuse(t, h.s, RuleThinkingVerbatim, messagesPath, swap(t, lawful, redacted+","+text, text+","+redacted))
	mustPass(t, h.s, messagesPath, lawful)
	// Another model cannot read it, so it may go, but not be changed.
	other := swap(t, lawful, `"model":"m"`, `"model":"n"`)
	mustRefuse(t, h.s, RuleThinkingVerbatim, messagesPath, swap(t, other, "file is ok.", "file is OK."))
	mustPass(t, h.s, messagesPath, swap(t, other, thinking+","+redacted+",", ""))
}

// A thinking block without text still has its signature.
func TestRuleThinkingVerbatimSignedOnly(t *testing.T) {
	h := newHistory(t, Step{SignedOnly: true, Text: "x"}, Step{Text: "two"})
	h.results = hi
	lawful := h.next(h.one.message)
	mustRefuse(t, h.s, RuleThinkingVerbatim, messagesPath, swap(t, lawful, string(elements([]byte(h.one.content))[0])+",", ""))
	mustPass(t, h.s, messagesPath, lawful)
}

func TestRuleThinkingToggled(t *testing.T) {
	on := `,"thinking":{"type":"enabled","budget_tokens":2000}`
	s := start(t, script(Step{Thinking: "t", Tools: []ToolCall{{Name: "Bash"}}}, Step{Text: "two"}, Step{Text: "three"}))
	one := assemble(mustPass(t, s, messagesPath, ask(hi, stream+on)).body)
	loop := hi + "," + one.message + "," + user("["+results(one.message)+"]")
	mustRefuse(t, s, RuleThinkingToggled, messagesPath, ask(loop, stream))
	two := assemble(mustPass(t, s, messagesPath, ask(loop, stream+on)).body)
	mustPass(t, s, messagesPath, ask(loop+","+two.message+","+hi, stream)) // outside the loop it may
}

func TestRuleToolInputVerbatim(t *testing.T) {
	h := newHistory(t, work(), Step{Text: "done"})
	lawful := h.next(h.one.message)
	var compact map[string]any
	_ = json.Unmarshal([]byte(oddInput), &compact)
	again, _ := json.Marshal(compact)
	mustRefuse(t, h.s, RuleToolInputVerbatim, messagesPath, swap(t, lawful, oddInput, string(again)))
	mustRefuse(t, h.s, RuleToolInputVerbatim, messagesPath, swap(t, lawful, `"b": 1.0`, `"b":1.0`))
	mustRefuse(t, h.s, RuleToolInputVerbatim, messagesPath, swap(t, lawful, `"name":"Read","input":{}`, `"name":"Read","input":{ }`))
	mustPass(t, h.s, messagesPath, lawful)
}

// Arguments are a string and stay one, even when it is no JSON.
func TestRuleToolInputVerbatimOpenAI(t *testing.T) {
	s := start(t, script(Step{Tools: []ToolCall{{ID: "c1", Name: "Bash", InputText: oddInput}, {ID: "c2", Name: "Read", InputText: `{"broken": `}}}, Step{Text: "two"}))
	one := assembleChat(mustPass(t, s, chatPath, chat(hi, chatStream)).body)
	lawful := chat(hi+","+one.message+","+toolMessage("c2", "r")+","+toolMessage("c1", "r"), "")
	mustRefuse(t, s, RuleToolInputVerbatim, chatPath, swap(t, lawful, `\"b\": 1.0`, `\"b\":1.0`))
	mustRefuse(t, s, RuleToolInputVerbatim, chatPath, swap(t, lawful, string(quote(`{"broken": `)), `"{}"`))
	mustPass(t, s, chatPath, lawful)
}

func TestRuleToolUseIncomplete(t *testing.T) {
	h := newHistory(t, Step{
		Text: "I will", StopReason: "max_tokens",
		Tools: []ToolCall{{Name: "Bash", InputText: `{"command":"echo long"}`, Cut: 14}},
	}, Step{Text: "two"})
	h.results = hi
	text := string(elements([]byte(h.one.content))[0])
	id := fmt.Sprintf("toolu_%s_0", h.one.content[strings.Index(h.one.content, "toolu_")+6:][:12])
	repaired := assistant(`[` + text + `,{"type":"tool_use","id":"` + id + `","name":"Bash","input":{"command":"e"}}]`)
	h.results = user("[" + result(id, "r") + "]")
	mustRefuse(t, h.s, RuleToolUseIncomplete, messagesPath, h.next(repaired))
	h.results = hi
	mustPass(t, h.s, messagesPath, h.next(assistant(`[`+text+`]`)))
}

func TestRuleRefusalFedBack(t *testing.T) {
	s := start(t, script(Step{Text: "I cannot", StopReason: "refusal"}, Step{Text: "two"}))
	one := assemble(mustPass(t, s, messagesPath, ask(hi, stream)).body)
	mustRefuse(t, s, RuleRefusalFedBack, messagesPath, ask(hi+","+one.message+","+hi, ""))
	mustPass(t, s, messagesPath, ask(hi+","+user(`"something else"`), ""))
}

// The history may not outrun the script, and no conversation is unknown.
func TestRuleScript(t *testing.T) {
	s := start(t, script(Step{Text: "one"}))
	one := assemble(mustPass(t, s, messagesPath, ask(hi, stream)).body)
	mustRefuse(t, s, RuleScript, messagesPath, ask(hi+","+one.message+","+hi, ""))
	mustRefuse(t, s, RuleScript, messagesPath, ask(user(`"unknown"`), ""))
}

// A step answers a bounded number of different histories.
func TestRuleLimit(t *testing.T) {
	s := start(t, script(Step{Text: "one"}))
	for i := range maxVariants {
		mustPass(t, s, messagesPath, ask(hi+","+user(fmt.Sprintf(`"%d"`, i)), ""))
	}
	mustRefuse(t, s, RuleLimit, messagesPath, ask(hi+","+user(`"one more"`), ""))
}

// Blank text that a model sent cannot be sent back, so it is not missed; ids
// that were not sent, or sent twice, are the client's to make.
func TestReturnedWithLiberties(t *testing.T) {
	h := newHistory(t, Step{Text: "\n\n", Tools: []ToolCall{
		{ID: "same", Name: "Bash"}, {ID: "same", Name: "Read"}, {Name: "Bash", NoID: true},
	}}, Step{Text: "two"})
	fixed := assistant(`[{"type":"tool_use","id":"same","name":"Bash","input":{}},` +
		`{"type":"tool_use","id":"mine_1","name":"Read","input":{}},{"type":"tool_use","id":"mine_2","name":"Bash","input":{}}]`)
	h.results = user("[" + results(fixed) + "]")
	mustRefuse(t, h.s, RuleAssistantChanged, messagesPath, swap(t, swap(t, h.next(fixed), `"same"`, `"else"`), `"same"`, `"else"`))
	mustPass(t, h.s, messagesPath, h.next(fixed))
}

// A body over the bound is refused before it is parsed; one at the bound is not.
func TestRuleLimitBody(t *testing.T) {
	s := start(t, echo())
	post := func(size int) *httptest.ResponseRecorder {
		body := ask(hi, "")
		body += strings.Repeat(" ", size-len(body))
		req := httptest.NewRequest(http.MethodPost, messagesPath, strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("anthropic-version", versionOld)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, req)
		return w
	}
	if w := post(maxBody); w.Code != 200 {
		t.Errorf("at the bound: want 200, got %d %s", w.Code, w.Body)
	}
	if w := post(maxBody + 1); w.Code != 413 || w.Header().Get("X-Modeltest-Rule") != string(RuleLimit) {
		t.Errorf("over the bound: want 413, got %d", w.Code)
	}
}
