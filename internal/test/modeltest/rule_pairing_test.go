package modeltest

import (
	"fmt"
	"testing"
)

// callOf is a history that ends with calls of a tool, with a trailing comma.
func callOf(ids ...string) string {
	blocks := ""
	for i, id := range ids {
		if i > 0 {
			blocks += ","
		}
		blocks += fmt.Sprintf(`{"type":"tool_use","id":%s,"name":"Bash","input":{"command":"ls"}}`, quote(id))
	}
	return hi + "," + assistant("["+blocks+"]") + ","
}

func chatCallOf(ids ...string) string {
	calls := ""
	for i, id := range ids {
		if i > 0 {
			calls += ","
		}
		calls += chatCall(id, "Bash", `{"command":"ls"}`)
	}
	return hi + `,{"role":"assistant","content":null,"tool_calls":[` + calls + `]},`
}

func TestRuleToolIDSyntax(t *testing.T) {
	checkPairs(t, RuleToolIDSyntax, messagesPath,
		pair{ask(callOf("toolu_1-a")+user(`[`+result("toolu_1-a", "r")+`]`), ""), ask(callOf("a:b")+user(`[`+result("a:b", "r")+`]`), "")},
		pair{ask(callOf("t")+user(`[`+result("t", "r")+`]`), ""), ask(callOf("")+user(`[`+result("", "r")+`]`), "")})
	checkPairs(t, RuleToolIDSyntax, chatPath,
		pair{chat(chatCallOf("a:b")+toolMessage("a:b", "r"), ""), chat(chatCallOf("")+toolMessage("", "r"), "")})
}

// An id used twice in one answer, or again in a later one, is refused.
func TestRuleToolIDUnique(t *testing.T) {
	again := func(id string) string {
		return "," + assistant(fmt.Sprintf(`[{"type":"tool_use","id":%q,"name":"Bash","input":{}}]`, id)) + "," + user(`[`+result(id, "r")+`]`)
	}
	once := callOf("t") + user(`[`+result("t", "r")+`]`)
	checkPairs(t, RuleToolIDUnique, messagesPath,
		pair{ask(once+again("u"), ""), ask(once+again("t"), "")},
		pair{ask(once, ""), ask(callOf("t", "t")+user(`[`+result("t", "r")+`]`), "")})
	chatOnce := chatCallOf("t") + toolMessage("t", "r")
	chatAgain := func(id string) string {
		return `,{"role":"assistant","tool_calls":[` + chatCall(id, "Bash", "{}") + `]},` + toolMessage(id, "r")
	}
	checkPairs(t, RuleToolIDUnique, chatPath, pair{chat(chatOnce+chatAgain("u"), ""), chat(chatOnce+chatAgain("t"), "")})
}

func TestRuleToolInputObject(t *testing.T) {
	with := func(input string) string {
		return ask(hi+","+assistant(`[{"type":"tool_use","id":"t","name":"a","input":`+input+`}]`)+","+user(`[`+result("t", "r")+`]`), "")
	}
	checkPairs(t, RuleToolInputObject, messagesPath, pair{with(`{}`), with(`"{}"`)}, pair{with(`{}`), with(`null`)})
}

// All parallel results go into the very next message.
func TestRuleToolResultMissing(t *testing.T) {
	both := user(`[` + result("t", "r") + `,` + result("u", "r") + `]`)
	checkPairs(t, RuleToolResultMissing, messagesPath,
		pair{ask(callOf("t", "u")+both, ""), ask(callOf("t", "u")+user(`[`+result("t", "r")+`]`), "")},
		pair{ask(callOf("t", "u")+both, ""), ask(callOf("t", "u")+user(`[`+result("t", "r")+`]`)+","+user(`[`+result("u", "r")+`]`), "")},
		pair{ask(callOf("t", "u")+both, ""), ask(callOf("t", "u")+hi+","+both, "")},
		pair{ask(callOf("t", "u")+both, ""), ask(callOf("t", "u")+assistant(`"x"`)+","+both, "")},
		pair{ask(callOf("t", "u")+both, ""), ask(hi+","+assistant(`[{"type":"tool_use","id":"t","name":"a","input":{}}]`), "")})
	two := toolMessage("u", "r") + "," + toolMessage("t", "r")
	checkPairs(t, RuleToolResultMissing, chatPath,
		pair{chat(chatCallOf("t", "u")+two, ""), chat(chatCallOf("t", "u")+toolMessage("t", "r"), "")},
		pair{chat(chatCallOf("t", "u")+two+","+hi, ""), chat(chatCallOf("t", "u")+toolMessage("t", "r")+","+hi+","+toolMessage("u", "r"), "")},
		pair{chat(chatCallOf("t")+toolMessage("t", "r"), ""), chat(chatCallOf("t")+assistant(`"x"`)+","+toolMessage("t", "r"), "")})
}

func TestRuleToolResultFirst(t *testing.T) {
	text := `{"type":"text","text":"and now this"}`
	checkPairs(t, RuleToolResultFirst, messagesPath,
		pair{ask(callOf("t")+user(`[`+result("t", "r")+`,`+text+`]`), ""), ask(callOf("t")+user(`[`+text+`,`+result("t", "r")+`]`), "")},
		pair{
			ask(callOf("t", "u")+user(`[`+result("u", "r")+`,`+result("t", "r")+`,`+text+`]`), ""),
			ask(callOf("t", "u")+user(`[`+result("t", "r")+`,`+text+`,`+result("u", "r")+`]`), ""),
		})
}

func TestRuleToolResultOrphan(t *testing.T) {
	done := callOf("t") + user(`[`+result("t", "r")+`]`)
	checkPairs(t, RuleToolResultOrphan, messagesPath,
		pair{ask(done, ""), ask(callOf("t")+user(`[`+result("t", "r")+`,`+result("u", "r")+`]`), "")},
		pair{ask(done, ""), ask(user(`[`+result("t", "r")+`]`), "")},
		pair{ask(done+","+hi, ""), ask(done+","+user(`[`+result("t", "late")+`]`), "")})
	chatDone := chatCallOf("t") + toolMessage("t", "r")
	checkPairs(t, RuleToolResultOrphan, chatPath,
		pair{chat(chatDone, ""), chat(chatDone+","+toolMessage("u", "r"), "")},
		pair{chat(chatDone+","+assistant(`"x"`)+","+hi, ""), chat(chatDone+","+assistant(`"x"`)+","+toolMessage("t", "r"), "")})
}

func TestRuleToolResultDuplicate(t *testing.T) {
	checkPairs(t, RuleToolResultDuplicate, messagesPath, pair{
		ask(callOf("t")+user(`[`+result("t", "r")+`]`), ""),
		ask(callOf("t")+user(`[`+result("t", "r")+`,`+result("t", "r")+`]`), ""),
	})
	checkPairs(t, RuleToolResultDuplicate, chatPath, pair{
		chat(chatCallOf("t")+toolMessage("t", "r"), ""),
		chat(chatCallOf("t")+toolMessage("t", "r")+","+toolMessage("t", "r"), ""),
	})
}

func TestRuleToolResultErrorEmpty(t *testing.T) {
	with := func(rest string) string {
		return ask(callOf("t")+user(`[{"type":"tool_result","tool_use_id":"t"`+rest+`}]`), "")
	}
	checkPairs(t, RuleToolResultErrorEmpty, messagesPath,
		pair{with(`,"is_error":true,"content":"failed"`), with(`,"is_error":true,"content":""`)},
		pair{with(``), with(`,"is_error":true`)})
}
