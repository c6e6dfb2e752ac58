package sessions_test

import (
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// usage sums by model, a fork from its fork on, so that nothing counts twice.
func TestUsage(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("s1")
	w.Eventful("s2")
	w.OK("fork", "s1", "--id", "kid")
	one := clitest.Lines(t, w.OK("usage", "s1", "--json"))[0]
	all := clitest.Lines(t, w.OK("usage", "--json"))[0]
	if u := one["usage"].(map[string]any); u["input_tokens"] != 10.0 || u["cache_write_tokens"] != 40.0 || one["cost_usd"] != 0.0015 {
		t.Errorf("one: %v", one)
	}
	if u := all["usage"].(map[string]any); u["input_tokens"] != 20.0 || all["cost_usd"] != 0.003 || all["sessions"] != 3.0 {
		t.Errorf("all: %v", all)
	}
	if models := all["usage"].(map[string]any)["models"].([]any); len(models) != 1 || models[0].(map[string]any)["calls"] != 2.0 {
		t.Errorf("models: %v", models)
	}
	w.Golden("usage_text", w.OK("usage"))
	if u := clitest.Lines(t, w.OK("usage", "kid", "--json"))[0]["usage"].(map[string]any); u["input_tokens"] != 0.0 {
		t.Errorf("of the fork: %v", u)
	}
}
