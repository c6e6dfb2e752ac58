package care_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// verify says ok, or names every fault and leaves the other sessions alone.
func TestVerify(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("good")
	w.Eventful("bad")
	if out := w.OK("verify", "bad"); out != "ok\n" {
		t.Errorf("printed %q", out)
	}
	w.Damage("bad", 3)
	o := w.Run("verify", "bad")
	if o.Code != 1 || !strings.Contains(o.Stdout, "event 3") || strings.Contains(o.Stdout, "ok") {
		t.Errorf("damaged: %+v", o)
	}
	l := clitest.Lines(t, w.Run("verify", "bad", "--json").Stdout)[0]
	if l["ok"] != false || l["id"] != "bad" || len(l["faults"].([]any)) == 0 {
		t.Errorf("in JSON: %v", l)
	}
	o = w.Run("verify", "--all")
	if o.Code != 1 || !strings.Contains(o.Stdout, "good  ok\n") || !strings.Contains(o.Stdout, "bad  ") {
		t.Errorf("all: %+v", o)
	}
	if l := clitest.Lines(t, w.OK("verify", "good", "--json"))[0]; l["ok"] != true || l["faults"] == nil {
		t.Errorf("good in JSON: %v", l)
	}
	if o := w.Run("verify", "good", "bad", "good"); o.Code != 1 || !strings.HasPrefix(o.Stdout, "good  ok\nbad  ") || strings.Count(o.Stdout, "good") != 1 {
		t.Errorf("several: %+v", o)
	}
	if o := w.Run("verify", "bad", "good", "--json"); o.Code != 1 || len(clitest.Lines(t, o.Stdout)) != 2 {
		t.Errorf("several, JSON: %+v", o)
	}
	if o := w.Fails(4, "no session", "verify", "good", "nope"); o.Stdout != "" {
		t.Errorf("one that is not there: %+v", o)
	}
	w.Fails(2, "--all", "verify")
	w.Fails(2, "not both", "verify", "good", "--all")
	w.Fails(4, "no session", "verify", "nope")
	if o := w.Run("log", "bad", "--json"); o.Code != 1 || !strings.Contains(o.Stderr, "perdure verify bad") {
		t.Errorf("log of a damaged session: %+v", o)
	}
	if o := w.Run("usage"); o.Code != 0 && o.Code != 1 {
		t.Errorf("usage: %+v", o)
	}
	w.OK("log", "good")
}
