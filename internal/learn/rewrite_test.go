package learn

import (
	"testing"

	"github.com/perdure/perdure/internal/knowledge"
)

// Goal: a statement becomes a fact where the rule is sure, and stays word for word where it is not.
func TestRewrite(t *testing.T) {
	for in, want := range map[string]string{
		"I decided to use X because Y":                                     "Use X, because Y",
		"We decided to keep the old API, because clients pin it":           "Keep the old API, because clients pin it",
		"Today I decided to use PostgreSQL because transactions matter":    "Use PostgreSQL, because transactions matter",
		"I have chosen the direct way":                                     "I have chosen the direct way",
		"I chose direct v3 migration over gradual rollout because v2 ends": "Use direct v3 migration over gradual rollout, because v2 ends",
		"We found that the parser drops empty lines":                       "The parser drops empty lines",
		"I've just noticed that retries double the charge":                 "Retries double the charge",
		"I noticed that jsonSchema ignores order":                          "jsonSchema ignores order",
		"It turns out that the cache is case-sensitive":                    "The cache is case-sensitive",
		"The user said that commits have no trailer":                       "Commits have no trailer",
		"The user told me to run our tests first":                          "The user told me to run our tests first",
		"I decided to ask my colleague because we disagree":                "I decided to ask my colleague because we disagree",
		"Use X because Y":                "Use X because Y",
		"The API returns 404 for drafts": "The API returns 404 for drafts",
		"  spaces \t between  ":          "spaces between",
		"":                               "",
	} {
		if got := rewrite(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if again := rewrite(rewrite(in)); again != rewrite(in) {
			t.Errorf("%q: written again it is %q", in, again)
		}
	}
}

// Goal: what is only about now is left out with its reason, and what holds later is not.
func TestTriage(t *testing.T) {
	for in, want := range map[string]string{
		"Next I will add the tests for refunds":               "it says what comes next",
		"next step: fix the handler for subscriptions":        "it says what comes next",
		"I'm going to rename the package":                     "it says what comes next",
		"The build is broken today":                           "it is about now",
		"Use the old parser for now":                          "it is about now",
		"The tests of this run are slow":                      "it is about now",
		"The migration is still running":                      "it is about now",
		"The handler is in webhooks.py line 45":               "it names a line of a file, which moves",
		"See store.go:120 for the lock":                       "it names a line of a file, which moves",
		"The server listens on port 8080":                     "it names a port",
		"Open localhost:3000 to see it":                       "it names a port",
		"The shim has pid 4711 here":                          "it names a process",
		"The output is in /tmp/build.log":                     "it names a temporary path",
		"bash_3 runs the watcher of files":                    "it names a task or a call of this session",
		"use tabs":                                            "it says too little",
		"ab\u200bc is an odd word":                            "it has characters that do not show",
		"The v3 webhook sends subscription_id":                "",
		"Keep temporary files out of the tree":                "",
		"Reports are sorted by line, then by column":          "",
		"The port of the library to Windows lacks file locks": "",
		"Now-or-never semantics hold for locks":               "",
		"Tests use httptest, never a fixed port":              "",
	} {
		if got := triage(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// Goal: no text makes the reader of tags fail; what it gives is plain, on one line, without the tag.
func FuzzTags(f *testing.F) {
	for _, s := range []string{"[DECISION] a b c", "- **[GOTCHA]** x\n  y", "> [REUSE] z", "1. [CORRECTION]: I decided to use x because y", "[DECISION] [DECISION] a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := &collector{id: "s", known: map[string]int{}}
		c.tagged(text, knowledge.SourceImport, 0)
		for _, one := range c.found {
			if one.Tag.Topic() == "" || one.Text == "" || one.Source != "import" || one.Left == "" && triage(one.Text) != "" {
				t.Fatalf("%q: %+v", text, one)
			}
		}
	})
}
