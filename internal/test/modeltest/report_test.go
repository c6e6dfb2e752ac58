package modeltest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Usage is counted once per answer, however often it was asked for; a whole
// answer that the client asked for again is a lost call.
func TestReportUsage(t *testing.T) {
	s := start(t, script(
		Step{Text: "one", Usage: Usage{Input: 10, Output: 2, CacheRead: 3, CacheWrite: 4}},
		Step{Text: "two", Usage: Usage{Input: 100, Output: 20, CacheRead: 30, CacheWrite: 40}}))
	one := assemble(mustPass(t, s, messagesPath, ask(hi, stream)).body)
	mustPass(t, s, messagesPath, ask(hi, stream)) // the client died before it kept the first
	mustPass(t, s, messagesPath, ask(hi+","+one.message+","+user(`"on"`), stream))
	c := onlyConversation(t, s)
	if want := (Usage{110, 22, 33, 44}); c.Usage != want || c.Sealed != 2 || c.Lost != 1 || c.LostInput != 10 {
		t.Errorf("report %+v", c)
	}
	if len(c.Steps) != 2 || len(c.Steps[0].PrefixHashes) != 1 || c.Steps[0].Attempts != 2 || c.ChangedRetries != 0 {
		t.Errorf("steps %+v", c.Steps)
	}
	if len(c.Versions) != 1 || c.Versions[0] != versionOld {
		t.Errorf("versions %v", c.Versions)
	}
}

// A retry with other bytes is lawful for a provider and wrong for a crash test:
// the report tells, and cache markers do not count.
func TestReportChangedRetries(t *testing.T) {
	s := start(t, script(Step{Text: "one"}))
	mustPass(t, s, messagesPath, ask(hi, stream))
	mustPass(t, s, messagesPath, ask(strings.Replace(hi, `"hi"`, `"hi","cache_control":{"type":"ephemeral"}`, 1), stream))
	if c := onlyConversation(t, s); c.ChangedRetries != 0 || len(c.Steps[0].PrefixHashes) != 1 {
		t.Errorf("after a marker: %+v", c)
	}
	mustPass(t, s, messagesPath, ask(hi+","+user(`"newer"`), stream))
	if c := onlyConversation(t, s); c.ChangedRetries != 1 || len(c.Steps[0].PrefixHashes) != 2 {
		t.Errorf("after a newer message: %+v", c)
	}
}

// Two forks share their beginning, go apart, and stay strict each.
func TestReportForks(t *testing.T) {
	s := start(t, script(Step{Text: "one"}, Step{Text: "two"}, Step{Text: "three"}))
	one := assemble(mustPass(t, s, messagesPath, ask(hi, stream)).body)
	for _, fork := range []string{"left", "right"} {
		history := hi + "," + one.message + "," + user(`"`+fork+`"`)
		two := assemble(mustPass(t, s, messagesPath, ask(history, stream)).body)
		mustPass(t, s, messagesPath, ask(history+","+two.message+","+hi, stream))
		mustRefuse(t, s, RulePrefixMessage, messagesPath, ask(strings.Replace(history, fork, "neither", 1)+","+two.message+","+hi, stream))
	}
	if c := onlyConversation(t, s); c.Sealed != 5 || c.Lost != 0 {
		t.Errorf("report %+v", c)
	}
}

// A refused request leaves no trace but its violation.
func TestRefusalLeavesNoTrace(t *testing.T) {
	s := start(t, script(Step{Text: "one", Faults: []Fault{{Kind: FaultStatus, Status: 500}}}))
	mustRefuse(t, s, RuleMaxTokens, messagesPath, strings.Replace(ask(hi, ""), "4096", "-1", 1))
	if rep := s.Report(); rep.Requests != 0 || len(rep.Conversations) != 0 || rep.Refused != 1 || rep.Violations[0].Key != "hi" {
		t.Errorf("report %+v", rep)
	}
	if r := post(t, s, messagesPath, ask(hi, "")); r.status != 500 {
		t.Errorf("the refused request used up the first attempt: %d", r.status)
	}
}

// Many conversations at once do not touch each other.
func TestConcurrentConversations(t *testing.T) {
	s := start(t, Config{Respond: func(r ParsedRequest) Step { return Step{Text: fmt.Sprint(r.Key, r.Step)} }})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			history := user(fmt.Sprintf(`"c%d"`, i))
			for step := range 5 {
				r, err := send(t.Context(), s.URL(), messagesPath, ask(history, stream))
				got := assemble(r.body)
				if err != nil || !strings.Contains(got.content, fmt.Sprintf("c%d%d", i, step)) {
					t.Errorf("conversation %d step %d: %v %s", i, step, err, r.body)
					return
				}
				history += "," + got.message + "," + user(`"on"`)
			}
		})
	}
	wg.Wait()
	if rep := s.Report(); rep.Requests != 40 || rep.Refused != 0 || len(rep.Conversations) != 8 {
		t.Errorf("report %+v", rep)
	}
}

// Each rule that the package declares has its sentence, and a test that bears
// its name.
func TestEveryRuleHasATest(t *testing.T) {
	documented := map[Rule]bool{}
	for _, r := range Rules() {
		if r.Sentence == "" || documented[r.Rule] {
			t.Errorf("rule %s is listed twice or has no sentence", r.Rule)
		}
		documented[r.Rule] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	tests, rules := map[string]bool{}, map[string]bool{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				tests[n.Name.Name] = true
			case *ast.ValueSpec:
				if id, ok := n.Type.(*ast.Ident); ok && id.Name == "Rule" && len(n.Values) == 1 {
					rules[n.Names[0].Name] = true
				}
			}
			return true
		})
	}
	if len(rules) != len(documented) || len(rules) < 30 {
		t.Errorf("%d rules are declared, %d documented", len(rules), len(documented))
	}
	for rule := range rules {
		if !tests["Test"+rule] {
			t.Errorf("no test is named Test%s", rule)
		}
	}
}
