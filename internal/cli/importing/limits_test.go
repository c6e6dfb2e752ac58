package importing_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/test/forge"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// A bundle says what its writer wanted, what its session may spend included: neither its limits, nor what it says that
// its model costs, nor what it says that was spent, takes the limits of the person's own configuration off.
func TestABundleSpendsNoMoreThanItsNewHomeAllows(t *testing.T) {
	free, cent := &model.Price{}, &model.Price{Input: 10_000_000, Output: 10_000_000}
	for name, c := range map[string]struct {
		price  *model.Price
		config session.Config
		cost   int64
		want   int
	}{
		"control: what it has left is enough": {cent, session.Config{}, 0, 0},
		"a limit of its own":                  {cent, session.Config{BudgetNano: math.MaxInt64}, 0, 6},
		"a limit below none":                  {cent, session.Config{BudgetNano: -1}, 0, 6},
		"a price of its own":                  {free, session.Config{}, 0, 6},
		"a price below none":                  {&model.Price{Input: -1 << 40, Output: -1}, session.Config{}, 0, 6},
		"a credit":                            {cent, session.Config{}, -1 << 60, 6},
		"a sum that overflows":                {cent, session.Config{}, math.MaxInt64, 6},
		"steps of its own":                    {cent, session.Config{MaxSteps: math.MaxInt}, 0, 6},
	} {
		t.Run(name, func(t *testing.T) {
			w := clitest.New(t)
			script := w.Scripted(`{"turns":[{"match":"on","steps":[{"tools":[{"name":"Glob","input":{"pattern":"*"}}]},{"text":"Done."}]}]}`)
			o := forge.Opened("s")
			o.Agent.Model, o.Agent.Price, o.Config = strings.TrimPrefix(script, "scripted/"), c.price, c.config
			o.Config.Root = "/w"
			const act = "t1.s1.b0.a1"
			b := forge.Bundle{Bodies: []session.Body{
				o, &session.MessageReceived{Content: []model.Part{model.TextPart("go")}}, &session.TurnStarted{N: 1, Message: 2},
				&session.ModelRequested{Act: act, Turn: 1, Step: 1, Attempt: 1, Epoch: 1, Model: script, Through: 3, MaxTokens: 10},
				&session.ModelResponded{Act: act, Model: script, Provider: "scripted", Stop: modelapi.StopEndTurn, Cost: &c.cost},
				&session.TurnEnded{N: 1, Stop: session.TurnEndTurn},
			}}
			limit := "max_budget_usd = 0.5\n"
			switch {
			case c.want == 0:
				limit = "max_budget_usd = 5000000.0\nmax_turns = 2\n"
			case c.config.MaxSteps != 0:
				limit = "max_turns = 1\n"
			}
			w.Configure(limit + "[prices.\"" + script + "\"]\ninput = 10000.0\noutput = 10000.0\n")
			feed(w, string(b.Bytes(t))).OK("import", "-")
			if got := w.Run("-p", "-r", "s", "on"); got.Code != c.want {
				t.Errorf("exit %d, want %d: %s", got.Code, c.want, got.Stderr)
			}
		})
	}
}

// How long a model that fails is waited for is the person's own choice too, where the bundle says that it is longer.
func TestABundleIsNotMorePatientThanItsNewHome(t *testing.T) {
	w := clitest.New(t)
	script := w.Scripted(`{"turns":[{"match":"on","steps":[{"text":"Done.","fail":[{"class":"server","status":500,"message":"down"},{"class":"server","status":500,"message":"down"}]}]}]}`)
	o, long := forge.Opened("s"), int64(math.MaxInt64)
	o.Agent.Model, o.Config.RetryForMS = strings.TrimPrefix(script, "scripted/"), &long
	w.Configure("retry_for = \"0s\"\n")
	feed(w, string(forge.Bundle{Bodies: []session.Body{o}}.Bytes(t))).OK("import", "-")
	w.Fails(1, "down", "-p", "-r", "s", "on")
	if out := w.OK("log", "s"); !strings.Contains(out, "retries for 0s") {
		t.Errorf("what is said here is not kept:\n%s", out)
	}
}

// A fork of what came in a bundle, from before it came, asks as the session itself does.
func TestAForkOfABundlesPastAsks(t *testing.T) {
	w := clitest.New(t)
	script := w.Scripted(`{"turns":[{"match":"on","steps":[{"tools":[{"name":"Bash","input":{"command":"touch pwned"}}]},{"text":"Done."}]}]}`)
	o := forge.Opened("s")
	o.Agent.Model, o.Cwd, o.Config.Root = strings.TrimPrefix(script, "scripted/"), w.Dir, w.Dir
	granted := &session.PermissionGranted{Rule: "Bash", Scope: "session", Cwd: w.Dir}
	note := &session.App{Namespace: "x", Data: []byte("1")}
	feed(w, string(forge.Bundle{Bodies: []session.Body{o, granted, note, note}}.Bytes(t))).OK("import", "-")
	w.OK("fork", "s@3", "--id", "kid")
	w.DropSnapshots()
	w.Damage("s", 4)
	w.OK("fork", "s@3", "--id", "rescued") // nobody can tell any more that it came in a bundle
	there := func() bool {
		_, err := os.Stat(filepath.Join(w.Dir, "pwned"))
		return err == nil
	}
	for _, id := range []string{"kid", "rescued"} {
		if got := w.Run("-p", "-r", id, "--cwd", ".", "on"); got.Code != 3 || there() {
			t.Errorf("%s: exit %d: %s", id, got.Code, got.Stderr)
		}
	}
	w.OK("approvals", "allow", "kid", "--resume")
	if !there() {
		t.Error("what is allowed here does not run")
	}
}
