package cli_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// Safety switches that contradict each other, and limits and flags that are not understood, end with exit 2 in plain
// words and name what was meant.
func TestSwitchesAndFlags(t *testing.T) {
	w := clitest.New(t)
	for _, c := range []struct {
		want string
		args []string
	}{
		{"--dangerously-skip-permissions and --permission-mode plan contradict", []string{"-p", "--dangerously-skip-permissions", "--permission-mode", "plan", "x"}},
		{"--dangerously-skip-permissions and --permission-mode default contradict", []string{"-p", "--permission-mode", "default", "--dangerously-skip-permissions", "x"}},
		{"give one mode", []string{"-p", "--permission-mode", "plan", "--permission-mode", "acceptEdits", "x"}},
		{"did you mean --max-turns?", []string{"-p", "--max-turn", "3", "x"}},
		{`--max-turns "abc": it must be a whole number`, []string{"-p", "--max-turns", "abc", "x"}},
		{`--max-budget-usd "abc": it must be an amount of US dollars`, []string{"-p", "--max-budget-usd", "abc", "x"}},
		{"0 or none to take the budget off", []string{"-p", "--max-budget-usd", "much", "x"}},
		{"amount of US dollars above 0", []string{"-p", "--max-budget-usd", "-1", "x"}},
		{"perdure approvals deny --help lists the flags", []string{"approvals", "deny", "x", "--reason", "y"}},
		{"--tail", []string{"task", "output", "x", "--tail=x"}},
	} {
		out := w.Fails(2, c.want, c.args...).Stderr
		for _, word := range []string{"strconv", "ParseInt", "invalid syntax"} {
			if strings.Contains(out, word) {
				t.Errorf("%q speaks of %s: %s", c.args, word, out)
			}
		}
	}
}

// What every run refuses doctor refuses too, with its line; and the model's line is one sentence.
func TestDoctorReadsTheConfiguration(t *testing.T) {
	w := clitest.New(t)
	conf := filepath.Join(t.TempDir(), "perdure", "config.toml")
	w.App.Environ = append(w.App.Environ, "XDG_CONFIG_HOME="+filepath.Dir(filepath.Dir(conf)))
	clitest.WriteFile(t, conf, "model = \"a/b\"\nmodelz = \"x\"\n")
	for _, args := range [][]string{{"-p", "x"}, {"task", "run", "--", "true"}} {
		w.Fails(2, `config.toml:2: unknown setting "modelz": did you mean "model"?`, args...)
	}
	out := w.Fails(1, "", "doctor").Stdout
	if !strings.Contains(out, "fail  config") || !strings.Contains(out, `config.toml:2: unknown setting "modelz"`) {
		t.Errorf("doctor says\n%s", out)
	}
	clitest.WriteFile(t, conf, "max_turns = 3\n")
	if out := w.OK("doctor"); !strings.Contains(out, "ok    config") || strings.Contains(out, "PROVIDER/MODEL without") {
		t.Errorf("doctor says\n%s", out)
	}
}

// A budget that cannot be kept is refused before a session is opened, with a way on: a price, or no budget. What was
// spent by the given price stops it, and it can be raised and taken off.
func TestBudgetOfUnknownPrice(t *testing.T) {
	w := clitest.New(t)
	conf := filepath.Join(t.TempDir(), "perdure", "config.toml")
	w.App.Environ = append(w.App.Environ, "XDG_CONFIG_HOME="+filepath.Dir(filepath.Dir(conf)), "OPENAI_BASE_URL=http://127.0.0.1:1", "OPENAI_API_KEY=sk-0123456789")
	w.Fails(2, "the price of openai/mine is unknown, so a budget of 5 US dollars cannot be kept", "-p", "--session-id", "b1", "--model", "openai/mine", "--max-budget-usd", "5", "x")
	w.Fails(4, "no session", "show", "b1")
	clitest.WriteFile(t, conf, "max_budget_usd = 2.5\n")
	if o := w.Fails(2, "a budget of 2.5 US dollars", "-p", "--model", "openai/mine", "x"); !strings.Contains(o.Stderr, `[prices."openai/mine"]`) || !strings.Contains(o.Stderr, "--max-budget-usd none") {
		t.Errorf("no way on: %s", o.Stderr)
	}
	script := w.Scripted(`{"turns":[{"steps":[{"text":"one"}]},{"steps":[{"text":"two"}]},{"steps":[{"text":"three"}]}]}`)
	clitest.WriteFile(t, conf, "[prices.\""+script+"\"]\ninput = 1000\noutput = 1000\n")
	o := w.Fails(6, "stopped", "-p", "--session-id", "b2", "--model", script, "--max-budget-usd", "0.01", "x")
	if !strings.Contains(o.Stderr, "perdure -p --resume b2 --max-budget-usd X goes on with another budget; 0 or none takes it off") {
		t.Errorf("no way on: %s", o.Stderr)
	}
	if out := w.OK("-p", "-r", "b2", "--max-budget-usd", "none"); !strings.Contains(out, "one") {
		t.Errorf("without a budget: %s", out)
	}
	if out := w.OK("show", "b2"); strings.Contains(out, "budget") {
		t.Errorf("the budget is still there:\n%s", out)
	}
	if text := w.OK("usage", "b2"); strings.Contains(text, "$0.00\n") || strings.Contains(text, "?") {
		t.Errorf("the price of the configuration is not used:\n%s", text)
	}
}

// A limit of steps that a flag set stays with the session when it is resumed without one.
func TestStepLimitStays(t *testing.T) {
	w := clitest.New(t)
	script := w.Scripted(`{"turns":[{"steps":[{"text":"one"},{"text":"two"}]}]}`)
	w.OK("-p", "--session-id", "s", "--max-turns", "5", "--model", script, "x")
	w.OK("-p", "-r", "s", "again")
	if out := w.OK("show", "s", "--json"); !strings.Contains(out, `"max_steps":5`) {
		t.Errorf("the limit is gone: %s", out)
	}
}
