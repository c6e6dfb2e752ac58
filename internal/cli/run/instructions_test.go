package run_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/session"
)

const says = `{"turns":[{"match":"","steps":[{"text":"one"},{"text":"two"}]}]}`

// A value that the configuration calls a secret stands in a file that people keep for agents: it goes neither into the log
// nor to the model, in the file as the session began with it, as it was changed, and in that of a directory it reached.
func TestSecretsInInstructionsAreHidden(t *testing.T) {
	r := newRelay(t)
	r.App.Environ = append(r.App.Environ, "DEPLOY_TOKEN=tok-4711-very-secret")
	r.Configure("secrets = [\"DEPLOY_TOKEN\"]\n")
	agents := filepath.Join(r.Dir, "AGENTS.md")
	clitest.WriteFile(t, agents, "FIRST-RULE: deploy with tok-4711-very-secret\n")
	clitest.WriteFile(t, filepath.Join(r.Dir, "sub", "AGENTS.md"), "SUB-RULE tok-4711-very-secret\n")
	clitest.WriteFile(t, filepath.Join(r.Dir, "sub", "a.txt"), "text\n")
	script := r.script("says", `{"turns":[{"match":"look","steps":[{"text":"I look.","tools":[{"name":"Read","input":{"file_path":"sub/a.txt"}}]},{"text":"seen"}]},{"match":"","steps":[{"text":"one"},{"text":"two"}]}]}`)
	r.OK("-p", "hello", "--session-id", "s", "--model", script)
	clitest.WriteFile(t, agents, "SECOND-RULE: deploy with tok-4711-very-secret and care\n")
	r.OK("-p", "look", "--resume", "s")
	log := r.OK("log", "s", "--json")
	for _, rule := range []string{"FIRST-RULE", "SECOND-RULE", "SUB-RULE"} {
		if !strings.Contains(log, rule) {
			t.Errorf("the log lacks %s", rule)
		}
	}
	if strings.Contains(log, "tok-4711") || !strings.Contains(log, "[secret:DEPLOY_TOKEN]") {
		t.Error("the log holds the secret")
	}
}

// With instructions = false no file is read, neither at the start nor later.
func TestInstructionsCanBeTurnedOff(t *testing.T) {
	for _, off := range []bool{false, true} {
		r := newRelay(t)
		if off {
			r.Configure("[context]\ninstructions = false\n")
		}
		clitest.WriteFile(t, filepath.Join(r.Dir, "AGENTS.md"), "FIRST-RULE\n")
		r.OK("-p", "hello", "--session-id", "s", "--model", r.script("says", says))
		clitest.WriteFile(t, filepath.Join(r.Dir, "AGENTS.md"), "SECOND-RULE\n")
		r.OK("-p", "again", "--resume", "s")
		log := r.OK("log", "s", "--json")
		if strings.Contains(log, "FIRST-RULE") == off || strings.Contains(log, "SECOND-RULE") == off || (r.given("s")[session.GivenInstructions] == "") != off {
			t.Errorf("off %v: %v", off, r.given("s"))
		}
	}
}

// A session whose system prompt, tools, instructions and memory are larger than its window could say no word: peers fail
// at the first "hi" with an error of the API. It is refused before it is made, with the numbers and what helps.
func TestAFloorLargerThanTheWindowIsRefused(t *testing.T) {
	r := newRelay(t)
	script := r.script("says", says)
	configure := func(window string) {
		r.Configure("[knowledge]\nproject = \"on\"\n[windows]\n\"scripted/" + strings.TrimPrefix(script, "scripted/") + "\" = " + window + "\n")
	}
	clitest.WriteFile(t, filepath.Join(r.Dir, "AGENTS.md"), strings.Repeat("a rule of many\n", 4000))
	configure("16000")
	o := r.Fails(1, "16000", "-p", "hi", "--session-id", "s", "--model", script)
	for _, words := range []string{"instructions and memory (60", "the tools (", "larger window"} {
		if !strings.Contains(o.Stderr, words) {
			t.Errorf("it does not say %q: %s", words, o.Stderr)
		}
	}
	r.Fails(4, "", "show", "s")
	configure("60000")
	r.OK("-p", "hi", "--session-id", "s", "--model", script)
}
