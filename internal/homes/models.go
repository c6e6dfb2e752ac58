package homes

import (
	"maps"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/provider/pricing"
	"github.com/perdure/perdure/model"
)

// KnownModel is a model that can be named.
type KnownModel struct {
	Name    string // PROVIDER/MODEL
	Window  int64  // tokens; 0: unknown
	Price   *model.Price
	Missing string // the variable that would have to be set; empty: none
}

// Models are those that the configuration has prices or windows of, and those that are known of the providers. It asks
// nobody.
func (h *Home) Models() (out []KnownModel) {
	seen := map[string]bool{}
	add := func(m KnownModel) {
		if !seen[m.Name] {
			seen[m.Name] = true
			out = append(out, m)
		}
	}
	for _, names := range [][]string{slices.Sorted(maps.Keys(h.cfg.Prices)), slices.Sorted(maps.Keys(h.cfg.Windows))} {
		for _, name := range names {
			provider, model, _ := strings.Cut(name, "/")
			known, _ := pricing.Lookup(provider, model)
			m := KnownModel{Name: name, Window: known.Window, Price: h.Price(provider, model)}
			if w := h.cfg.Windows[name]; w > 0 {
				m.Window = w
			}
			add(m)
		}
	}
	for _, p := range []struct {
		name string
		keys []string
	}{{"anthropic", []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"}}, {"openai", []string{"OPENAI_API_KEY", "OPENAI_BASE_URL"}}} {
		missing := p.keys[0]
		for _, key := range p.keys {
			if h.getenv(key) != "" {
				missing = ""
			}
		}
		for _, m := range pricing.Known(p.name) {
			add(KnownModel{Name: p.name + "/" + m.Name, Window: m.Window, Price: h.Price(p.name, m.Name), Missing: missing})
		}
	}
	return out
}
