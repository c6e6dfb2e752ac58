package sessions_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: a session is opened with labels and a scratch state, both can be changed by hand at any time, and the model is
// given the state but for what is a program's own.
func TestLabelsAndState(t *testing.T) {
	w := clitest.New(t)
	model := w.Scripted(`{"turns":[{"steps":[{"text":"done"}]}]}`)
	w.OK("-p", "--model", model, "--session-id", "s", "--label", "team=pay", "--state", "stage=review", "--state", ".cursor=17", "go")
	if out := w.OK("label", "s"); !strings.Contains(out, "team=pay\n") {
		t.Errorf("labels: %s", out)
	}
	w.OK("label", "s", "team=", "ticket=SHOP-12")
	if out := w.OK("label", "s"); strings.Contains(out, "team") || !strings.Contains(out, "ticket=SHOP-12\n") {
		t.Errorf("labels: %s", out)
	}
	if out := w.OK("list", "--label", "ticket=SHOP-12", "--json"); len(clitest.Lines(t, out)) != 1 {
		t.Errorf("list: %s", out)
	}
	if out := w.OK("state", "s"); out != ".cursor=17\nstage=review\n" {
		t.Errorf("state: %q", out)
	}
	if out := w.OK("show", "s", "--context"); !strings.Contains(out, "<state>\n    stage = review\n    </state>") || strings.Contains(out, "cursor") {
		t.Errorf("what the model is given:\n%s", out)
	}
	w.OK("state", "s", "stage=done\nreally", "--delete", ".cursor")
	if out := w.OK("state", "s"); out != "stage=\"done\\nreally\"\n" {
		t.Errorf("state: %q", out)
	}
	w.Fails(2, "KEY=VALUE", "state", "s", "stage")
	w.Fails(2, "KEY=VALUE", "label", "s", "=x")
	w.Fails(2, "for a new session", "-p", "-r", "s", "--state", "a=b", "x")
	w.Fails(2, "KEY=VALUE", "-p", "--model", model, "--label", "x", "go")
}
