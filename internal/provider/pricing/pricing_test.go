package pricing

import (
	"testing"

	"github.com/perdure/perdure/model"
)

// A model is found by its name, with a date or without, and never by the name of another.
func TestLookup(t *testing.T) {
	for _, c := range []struct{ provider, name, want string }{
		{"anthropic", "claude-sonnet-4-5", "claude-sonnet-4-5"},
		{"anthropic", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5"},
		{"anthropic", "claude-sonnet-4-20250514", "claude-sonnet-4"},
		{"anthropic", "claude-opus-5-5", "claude-opus-5-5"},
		{"anthropic", "claude-opus-5", "claude-opus-5"},
		{"anthropic", "claude-3-5-haiku-latest", "claude-3-5-haiku"},
		{"anthropic", "claude-opus-4-9", ""},
		{"anthropic", "claude-opus-5-55", ""},
		{"anthropic", "gpt-5", ""},
		{"openai", "gpt-5.4-2026-03-05", "gpt-5.4"},
		{"openai", "gpt-5.4-mini", "gpt-5.4-mini"},
		{"openai", "gpt-5.4-pro", ""},
		{"openai", "qwen3", ""},
		{"openai", "", ""},
		{"ollama", "qwen3:8b", "qwen3:8b"},
		{"elsewhere", "gpt-5", ""},
	} {
		m, ok := Lookup(c.provider, c.name)
		if m.Name != c.want || ok != (c.want != "") {
			t.Errorf("%s/%s: got %q, want %q", c.provider, c.name, m.Name, c.want)
		}
		if ok && m.Price == nil {
			t.Errorf("%s/%s has no price", c.provider, c.name)
		}
	}
}

// Costs are exact in nano-USD; a long prompt has its own price; unknown is nil and local is a known zero.
func TestCost(t *testing.T) {
	u := model.Usage{Input: 1_000_000, Output: 1_000_000, CacheRead: 1_000_000, CacheWrite: 1_000_000, LostInput: 5}
	small := model.Usage{Input: 100_000, Output: 1000}
	large := model.Usage{Input: 1, CacheRead: 100_000, Output: 1000}
	for _, c := range []struct {
		provider, name string
		usage          model.Usage
		want           int64
	}{
		{"anthropic", "claude-sonnet-4-5", u, 22_050_000_000},
		{"anthropic", "claude-haiku-5-5", small, 10_500_000},
		{"anthropic", "claude-haiku-5-5", large, 500 + 5_000_000 + 2_500_000},
		{"openai", "gpt-6-sol", model.Usage{Input: 300_000, Output: 1000}, 1_200_000_000 + 15_000_000},
		{"ollama", "anything", u, 0},
		{"scripted", "demo", u, 0},
	} {
		got := Cost(c.provider, c.name, c.usage)
		if got == nil || *got != c.want {
			t.Errorf("%s/%s: got %v, want %d", c.provider, c.name, got, c.want)
		}
	}
	if got := Cost("openai", "local-model", u); got != nil {
		t.Errorf("an unknown price costs %d", *got)
	}
}

// Every line is plausible: reading the cache is cheaper than input, writing it is not, names are found as themselves.
func TestTable(t *testing.T) {
	for provider, table := range map[string][]row{"anthropic": claude(), "openai": gpt()} {
		for _, r := range table {
			if r.read >= r.in || r.write < r.in || r.out <= r.in || r.window < r.output || r.output == 0 {
				t.Errorf("%+v is implausible", r)
			}
			if m, ok := Lookup(provider, r.name); !ok || m.Name != r.name {
				t.Errorf("%s is found as %q", r.name, m.Name)
			}
		}
	}
}
