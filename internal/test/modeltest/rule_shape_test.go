package modeltest

import "testing"

// A pair is a lawful request and one that differs only in breaking a rule.
type pair struct{ good, bad string }

func checkPairs(t *testing.T, rule Rule, path string, pairs ...pair) {
	t.Helper()
	for _, p := range pairs {
		s := start(t, echo()) // a fresh one, so that no pair is another's history
		mustPass(t, s, path, p.good)
		mustRefuse(t, s, rule, path, p.bad)
	}
}

func TestRulePath(t *testing.T) {
	s := start(t, echo())
	mustPass(t, s, messagesPath, ask(hi, ""))
	mustRefuse(t, s, RulePath, "/v1/complete", ask(hi, ""))
}

func TestRuleJSON(t *testing.T) {
	checkPairs(t, RuleJSON, messagesPath,
		pair{ask(hi, ""), ask(hi, "") + "}"},
		pair{ask(hi, ""), "[]"},
		pair{ask(hi, ""), ask(hi, `,"model":"n"`)},
		pair{ask(hi, ""), ask(`{"role":"user","content":"a","content":"b"}`, "")})
	s := start(t, echo())
	mustRefuse(t, s, RuleJSON, messagesPath, ask(hi, ""), "Content-Type", "text/plain")
}

func TestRuleVersion(t *testing.T) {
	s := start(t, echo())
	mustPass(t, s, messagesPath, ask(hi, ""), "anthropic-version", versionOld)
	mustPass(t, s, messagesPath, ask(hi, ""), "anthropic-version", versionNew)
	mustRefuse(t, s, RuleVersion, messagesPath, ask(hi, ""), "anthropic-version", "2024-01-01")
	mustRefuse(t, s, RuleVersion, messagesPath, ask(hi, ""), "anthropic-version", "")
	mustPass(t, s, chatPath, chat(hi, ""), "anthropic-version", "")
}

func TestRuleAuth(t *testing.T) {
	cfg := echo()
	cfg.APIKey = "sk-test"
	s := start(t, cfg)
	mustPass(t, s, messagesPath, ask(hi, ""), "x-api-key", "sk-test")
	mustPass(t, s, messagesPath, ask(hi, ""), "Authorization", "Bearer sk-test")
	mustRefuse(t, s, RuleAuth, messagesPath, ask(hi, ""), "x-api-key", "sk-other")
	mustRefuse(t, s, RuleAuth, chatPath, chat(hi, ""))
}

func TestRuleModel(t *testing.T) {
	checkPairs(t, RuleModel, messagesPath, pair{ask(hi, ""), `{"max_tokens":1,"messages":[` + hi + `]}`})
	checkPairs(t, RuleModel, chatPath, pair{chat(hi, ""), `{"messages":[` + hi + `]}`})
}

func TestRuleMaxTokens(t *testing.T) {
	checkPairs(t, RuleMaxTokens, messagesPath,
		pair{ask(hi, ""), `{"model":"m","messages":[` + hi + `]}`},
		pair{`{"model":"m","max_tokens":1,"messages":[` + hi + `]}`, `{"model":"m","max_tokens":0,"messages":[` + hi + `]}`},
		pair{
			ask(hi, `,"thinking":{"type":"enabled","budget_tokens":1024}`),
			ask(hi, `,"thinking":{"type":"enabled","budget_tokens":4096}`),
		})
	checkPairs(t, RuleMaxTokens, chatPath, pair{chat(hi, `,"max_tokens":1`), chat(hi, `,"max_tokens":0`)})
}

func TestRuleUnknownField(t *testing.T) {
	checkPairs(t, RuleUnknownField, messagesPath,
		pair{ask(hi, `,"stream":false`), ask(hi, `,"stream_options":{}`)},
		pair{ask(user(`[{"type":"text","text":"x"}]`), ""), ask(user(`[{"type":"text","text":"x","id":1}]`), "")},
		pair{ask(hi, ""), ask(`{"role":"user","content":"x","name":"bob"}`, "")})
	checkPairs(t, RuleUnknownField, chatPath,
		pair{chat(`{"role":"user","content":"x","name":"bob"}`, ""), chat(`{"role":"user","content":"x","tool_call_id":"1"}`, "")})
}

func TestRuleRemovedParameter(t *testing.T) {
	s := start(t, echo())
	body := ask(hi, `,"temperature":1`)
	mustPass(t, s, messagesPath, body, "anthropic-version", versionOld)
	mustRefuse(t, s, RuleRemovedParameter, messagesPath, body, "anthropic-version", versionNew)
}

func TestRuleStreamOptions(t *testing.T) {
	checkPairs(t, RuleStreamOptions, chatPath, pair{
		chat(hi, `,"stream":true,"stream_options":{"include_usage":true}`),
		chat(hi, `,"stream_options":{"include_usage":true}`),
	})
}

func TestRuleToolDefinition(t *testing.T) {
	const tool = `{"name":"Bash","input_schema":{"type":"object"}}`
	checkPairs(t, RuleToolDefinition, messagesPath,
		pair{ask(hi, `,"tools":[`+tool+`]`), ask(hi, `,"tools":[`+tool+`,`+tool+`]`)},
		pair{ask(hi, `,"tools":[`+tool+`]`), ask(hi, `,"tools":[{"name":"Bash"}]`)},
		pair{ask(hi, `,"tools":[]`), ask(hi, `,"tools":[{"name":"a b","input_schema":{}}]`)})
	const fn = `{"type":"function","function":{"name":"Bash","parameters":{}}}`
	checkPairs(t, RuleToolDefinition, chatPath,
		pair{chat(hi, `,"tools":[`+fn+`]`), chat(hi, `,"tools":[`+fn+`,`+fn+`]`)},
		pair{chat(hi, `,"tools":[`+fn+`]`), chat(hi, `,"tools":[`+tool+`]`)})
}

func TestRuleCacheMarkers(t *testing.T) {
	const mark = `,"cache_control":{"type":"ephemeral"}`
	block := `{"type":"text","text":"x"` + mark + `}`
	tools := `,"tools":[{"name":"a","input_schema":{}` + mark + `}]`
	system := `,"system":[{"type":"text","text":"s"` + mark + `}]`
	three := `,{"role":"user","content":[` + block + `,` + block + `,` + block + `]}`
	two := `,{"role":"user","content":[` + block + `,` + block + `]}`
	checkPairs(t, RuleCacheMarkers, messagesPath,
		pair{ask(hi+two, tools+system), ask(hi+three, tools+system)},
		pair{ask(hi+two, tools+system), ask(hi+two, tools+system+mark)},
		pair{ask(hi+two, ""), ask(user(`[{"type":"text","text":"x","cache_control":{"type":"forever"}}]`), "")})
	// A key of that name inside a tool's input is data.
	checkPairs(t, RuleCacheMarkers, messagesPath, pair{
		ask(hi+`,`+assistant(`[{"type":"tool_use","id":"t","name":"a","input":{"cache_control":{"type":"x"}}}]`)+`,`+user(`[`+result("t", "r")+`]`), ""),
		ask(hi+`,`+assistant(`[{"type":"tool_use","id":"t","name":"a","input":{},"cache_control":{"type":"x"}}]`)+`,`+user(`[`+result("t", "r")+`]`), ""),
	})
	// Thinking cannot be marked.
	checkPairs(t, RuleCacheMarkers, messagesPath, pair{
		ask(hi+`,`+assistant(`[{"type":"thinking","thinking":"t","signature":"s"}]`)+`,`+hi, ""),
		ask(hi+`,`+assistant(`[{"type":"thinking","thinking":"t","signature":"s"`+mark+`}]`)+`,`+hi, ""),
	})
}

func TestRuleRole(t *testing.T) {
	checkPairs(t, RuleRole, messagesPath, pair{ask(hi+","+user(`"x"`), ""), ask(hi+`,{"role":"system","content":"x"}`, "")})
	checkPairs(t, RuleRole, chatPath, pair{chat(hi+`,{"role":"system","content":"x"}`, ""), chat(hi+`,{"role":"function","content":"x"}`, "")})
}

func TestRuleFirstUser(t *testing.T) {
	checkPairs(t, RuleFirstUser, messagesPath, pair{ask(hi, ""), ask(assistant(`"x"`)+","+hi, "")})
	checkPairs(t, RuleFirstUser, chatPath,
		pair{chat(`{"role":"system","content":"s"},`+hi, ""), chat(`{"role":"system","content":"s"},`+assistant(`"x"`)+","+hi, "")},
		pair{chat(hi, ""), chat(`{"role":"system","content":"s"}`, "")})
}

func TestRulePrefill(t *testing.T) {
	long := hi + "," + assistant(`"x"`)
	checkPairs(t, RulePrefill, messagesPath, pair{ask(long+","+hi, ""), ask(long, "")})
	checkPairs(t, RulePrefill, chatPath, pair{chat(long+","+hi, ""), chat(long, "")})
}

// After pause_turn, and only then, the assistant message goes back as it is.
func TestRulePrefillPauseTurn(t *testing.T) {
	s := start(t, script(Step{Text: "one", StopReason: "pause_turn"}, Step{Text: "two"}, Step{Text: "three"}))
	one := assemble(mustPass(t, s, messagesPath, ask(hi, `,"stream":true`)).body)
	two := assemble(mustPass(t, s, messagesPath, ask(hi+","+one.message, `,"stream":true`)).body)
	if two.content != `[{"type":"text","text":"two"}]` {
		t.Fatal(two.content)
	}
	mustRefuse(t, s, RulePrefill, messagesPath, ask(hi+","+one.message+","+two.message, ""))
}

func TestRuleEmptyContent(t *testing.T) {
	checkPairs(t, RuleEmptyContent, messagesPath,
		pair{ask(hi, ""), ask(user(`[]`), "")},
		pair{ask(hi, ""), ask("", "")})
	checkPairs(t, RuleEmptyContent, chatPath,
		pair{chat(hi, ""), chat(hi+","+assistant("null")+","+hi, "")},
		pair{chat(hi, ""), chat("", "")})
}

func TestRuleEmptyText(t *testing.T) {
	checkPairs(t, RuleEmptyText, messagesPath,
		pair{ask(user(`"x"`), ""), ask(user(`""`), "")},
		pair{ask(user(`[{"type":"text","text":" x"}]`), ""), ask(user(`[{"type":"text","text":" \n"}]`), "")},
		pair{ask(hi, `,"system":[{"type":"text","text":"s"}]`), ask(hi, `,"system":[{"type":"text","text":""}]`)},
		pair{
			ask(callOf("t")+user(`[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":" "}]}]`), ""),
			ask(callOf("t")+user(`[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":""}]}]`), ""),
		})
	checkPairs(t, RuleEmptyText, chatPath, pair{chat(user(`"x"`), ""), chat(user(`""`), "")})
}

func TestRuleBlockType(t *testing.T) {
	checkPairs(t, RuleBlockType, messagesPath,
		pair{ask(hi, ""), ask(user(`[{"type":"text"}]`), "")},
		pair{ask(hi, ""), ask(user(`[{"type":"tool_use","id":"t","name":"a","input":{}}]`), "")},
		pair{ask(hi, ""), ask(user(`[{"type":"thinking","thinking":"t","signature":"s"}]`), "")},
		pair{ask(hi, ""), ask(user(`[{"type":"mystery"}]`), "")},
		pair{
			ask(hi+","+assistant(`[{"type":"mystery","new":1}]`)+","+hi, ""),
			ask(hi+","+assistant(`[{"type":"thinking","thinking":"t"}]`)+","+hi, ""),
		},
		pair{ask(hi, ""), ask(hi+","+assistant(`[`+result("t", "r")+`]`)+","+hi, "")})
	checkPairs(t, RuleBlockType, chatPath, pair{
		chat(hi+`,{"role":"assistant","content":null,"tool_calls":[`+chatCall("t", "a", "{}")+`]},`+toolMessage("t", ""), ""),
		chat(hi+`,{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"a","arguments":{}}}]},`+toolMessage("t", ""), ""),
	})
}
