package handoff

import (
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

var written = time.Date(2026, 4, 8, 14, 30, 5, 0, time.UTC)

// worked is the state of a session that has done a part of its work.
func worked() *session.State {
	st := session.New("s-1")
	st.Head = store.Head{Seq: 214}
	st.Title, st.Cwd = "payments", "/work/shop"
	st.Config.Root = "/work/shop"
	st.Plan = []session.Step{
		{Content: "schema migration", Status: session.StepDone, Output: "payments/migrate_v3.py"},
		{Content: "webhook handlers", Status: session.StepExecuting, Blocker: "subscription event format"},
		{Content: "retry logic in retry.py", Status: stepBlocked, Reason: "idempotency key changes"},
		{Content: "translate with a proxy", Status: stepFailed, Reason: "drops signatures"},
		{Content: "load testing", Status: session.StepPlanned},
	}
	st.Facts = []session.Fact{
		{Kind: "failed_approach", Text: "monkey-patching the stripe library", Reason: "fails silently on partial refunds", Provenance: "model"},
		{Kind: "decision", Text: "direct migration, no gradual rollout", Reason: "v2 sunset is May 1", Provenance: "user"},
		{Kind: "constraint", Text: "never charge a real card", Provenance: "user"},
		{Kind: "finding", Text: "v3 renames subscription.id to subscription_id", Provenance: "tool"},
		{Kind: "failed_approach", Text: "stripe's v2 compatibility mode", Reason: "deprecated, removed in April", Provenance: "model"},
	}
	code := 1
	st.Tasks = []session.Task{
		{ID: "bash_1", Command: "make serve", Ending: command.Ending{Status: command.Running}},
		{ID: "bash_2", Command: "make integration", Ending: command.Ending{Status: command.Exited, ExitCode: &code}},
	}
	st.Files = session.Files{}
	for i, f := range []session.File{
		{Path: "/work/shop/payments/migrate_v3.py", Use: session.FileCreated},
		{Path: "/work/shop/payments/webhooks/subscription.py", Use: session.FileModified},
		{Path: "/work/shop/payments/retry.py", Use: session.FileModified},
		{Path: "/work/shop/README.md", Use: session.FileRead},
	} {
		f.Seq = int64(i + 1)
		st.Files[f.Path] = f
	}
	return st
}

const summary = `Goal: Migrate payment API from Stripe v2 to v3
Done:
- Schema migration script (payments/migrate_v3.py) - tested
- Integration tests passing for charge/refund flows
Not working:
- Subscription renewal webhook - our handler expects ` + "`subscription.id`" + `:
` + "```" + `
$ pytest -k renewal
collected 1 item
KeyError: 'subscription.id'
1 failed in 0.31s
` + "```" + `
Failed approaches:
- Using stripe's v2 compatibility mode
- sleeping before each retry -> the charge is made twice anyway
Decisions: none
Next step: Fix subscription webhook handler - map new field names in payments/webhooks/subscription.py:45
`

func input() Input {
	return Input{
		State: worked(), Words: ParseWords(summary), First: "Please migrate our payments to Stripe v3.", Newest: "go on",
		Errors: []string{"exit status 2\nld: cannot find -lssl\nmake: *** [all] Error 1\n"},
		Git:    Git{Branch: "stripe-v3", Commit: strings.Repeat("1f9c", 10), Commits: []Commit{{strings.Repeat("1f9c", 10), "payments: the schema"}}}, Written: written,
	}
}

func has(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not in\n%s", w, text)
		}
	}
}

func hasNot(t *testing.T, text string, not ...string) {
	t.Helper()
	for _, w := range not {
		if strings.Contains(text, w) {
			t.Errorf("%q is in\n%s", w, text)
		}
	}
}
