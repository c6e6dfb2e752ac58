package engine_test

import (
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
)

// What a person allowed for a project holds in it and below, and asks where a session has gone from there: the same words
// are another program. A rule for every session holds there too, and an ask rule wins over both.
func TestARememberedRuleOfAProjectHoldsInIt(t *testing.T) {
	here := session.Rule{Effect: "allow", Text: "Bash(print 16)", Source: permission.SourceHere}
	everywhere := session.Rule{Effect: "allow", Text: "Bash(print 16)", Source: permission.SourceRemembered}
	asks := session.Rule{Effect: "ask", Text: "Bash(print:*)", Source: permission.SourceUser}
	for _, c := range []struct {
		name  string
		rules []session.Rule
		dir   string // that the session has gone to
		runs  bool
	}{
		{"in the project", []session.Rule{here}, "/w", true},
		{"below it", []session.Rule{here}, "/w/sub", true},
		{"beside it", []session.Rule{here}, "/wide", false},
		{"everywhere", []session.Rule{everywhere}, "/wide", true},
		{"asked in the project", []session.Rule{here, asks}, "/w", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cd := session.Rule{Effect: "allow", Text: "Bash(cd " + c.dir + ")", Source: permission.SourceUser}
			s, _ := shell(t, use("a", "Bash", `{"command":"cd `+c.dir+`"}`), use("b", "Bash", `{"command":"print 16"}`))
			p, se := s.start("go")
			if err := se.Close(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			st := run(t, p.open(engine.Options{SetRules: true, Rules: append([]session.Rule{cd}, c.rules...)}))
			if st.Cwd != c.dir {
				t.Fatalf("the session is in %s", st.Cwd)
			}
			if call := st.Call("t1.s1.b2"); c.runs && st.Turn != nil && call != nil && !call.Settled() || !c.runs && (call == nil || !call.Asks()) {
				t.Errorf("%+v", call)
			}
		})
	}
}
