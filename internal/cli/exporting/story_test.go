package exporting_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// A document tells what happened, in its order: who decided what, how calls ended, what failed, what a fork began with.
func TestDocumentTellsTheStory(t *testing.T) {
	w := clitest.New(t)
	model := w.Scripted(clitest.WaitsTwice)
	w.Fails(3, "", "-p", "--session-id", "one", "--model", model, "both")
	w.OK("approvals", "deny", "one:t1.s1.b2.a1", "--message", "use the other file")
	w.Fails(3, "", "-p", "-r", "one")
	w.OK("answer", "one", "2")
	w.OK("-p", "-r", "one")
	w.OK("fork", "one", "--id", "two")
	w.OK("-p", "-r", "two", "more, with a \"quote\" and <b>tags</b>")
	w.Append("two", store.Actor{Type: store.ActorUser}, &session.LifecycleSet{To: session.LifecyclePaused})
	for format, story := range map[string][]string{
		"md": {
			"## Turn 1", "### tester", "> both", "### Model", "> I try.", "### Bash", "denied", "denied by tester: use the other file", "touch made",
			"> I ask.", "### AskUser", "answered by tester: green", "> It is done.", "*Forked from session one", "## Turn 2", `> more, with a "quote" and &lt;b>tags&lt;/b>`, "> More.", "The session is paused",
		},
		"html": {
			`id="turn-1"`, `<section class="person">`, "both", "I try.", "<b>Bash</b>", "denied by tester: use the other file", "touch made",
			"I ask.", "<b>AskUser</b>", "answered by tester: green", "It is done.", "Forked from session one", `id="turn-2"`, "more, with a &#34;quote&#34; and &lt;b&gt;tags&lt;/b&gt;", "More.", "The session is paused",
		},
		"jsonl": {`"session":"one","seq":1,`, `"kind":"approval.answered"`, `"session":"two","seq":1,`, `"kind":"session.forked"`},
	} {
		rest := w.OK("export", "two", "--format", format)
		whole := rest
		_, rest, _ = strings.Cut(rest, "Turn 1") // behind the tables
		if format == "html" {
			_, rest, _ = strings.Cut(whole, "<h2>Turns</h2>")
		} else if format == "jsonl" {
			rest = whole
		} else {
			rest = "## Turn 1" + rest
		}
		for _, words := range story {
			i := strings.Index(rest, words)
			if i < 0 {
				t.Errorf("%s: %q is not there, or before what it comes after, in:\n%s", format, words, whole)
				break
			}
			rest = rest[i+len(words):]
		}
	}
}

// Secrets go wherever they stand: in a reply, in the arguments of a call behind JSON's escapes, in a result, in the words
// of a decision and in the session's name.
func TestSecretsAreHiddenEverywhere(t *testing.T) {
	w := clitest.New(t)
	secret := `tr0ub4dor"and\more`
	w.OK("-p", "--session-id", "one", "--dangerously-skip-permissions", "--model",
		w.Scripted(`{"turns":[{"match":"go","steps":[{"thinking":"hm tr0ub4dor\"and\\more","text":"I use tr0ub4dor\"and\\more.","tools":[{"name":"Bash","input":{"command":"echo 'tr0ub4dor\"and\\more'"}}]},{"text":"done"}]}]}`), "go")
	w.OK("rename", "one", "all about "+secret)
	w.App.Environ = append(w.App.Environ, "DEPLOY_TOKEN="+secret)
	for _, format := range []string{"md", "html", "jsonl"} {
		o := w.Run("export", "one", "--format", format)
		for _, left := range []string{"tr0ub4dor", `and\\more`} {
			if o.Code != 0 || strings.Contains(o.Stdout, left) {
				t.Errorf("%s: %q is in it:\n%s", format, left, o.Stdout)
			}
		}
	}
}
