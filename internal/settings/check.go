package settings

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

// Price is what a model costs, in US dollars for a million tokens. What is left out costs nothing; of what is read from
// the cache and written to it, as much as input.
type Price struct {
	Input      *float64 `toml:"input"`
	Output     *float64 `toml:"output"`
	CacheRead  *float64 `toml:"cache_read"`
	CacheWrite *float64 `toml:"cache_write"`
}

// PriceList gives the prices in the unit of sessions, by PROVIDER/MODEL.
func (s Settings) PriceList() map[string]model.Price {
	out := make(map[string]model.Price, len(s.Prices))
	nano := func(usd, otherwise *float64) int64 {
		if usd == nil {
			usd = otherwise
		}
		if usd == nil {
			return 0
		}
		return int64(math.Round(*usd * 1000)) // nano-USD a token: 1 USD a million tokens is 1,000
	}
	for name, p := range s.Prices {
		out[name] = model.Price{
			Input: nano(p.Input, nil), Output: nano(p.Output, nil), CacheRead: nano(p.CacheRead, p.Input), CacheWrite: nano(p.CacheWrite, p.Input),
		}
	}
	return out
}

// maxPrice and maxBudget bound what a file may say, in US dollars: sums of them stay exact.
const (
	maxPrice  = 1e6
	maxBudget = 1e9
)

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// check refuses values that mean nothing: a limit or a name that is not understood would hold for nothing.
func (s *source) check() error {
	switch usd := s.MaxBudgetUSD; {
	case s.MaxSteps < 0:
		return s.at("max_turns", "", "max_turns cannot be negative; without a limit, leave it out")
	case math.IsNaN(usd) || usd < 0 || usd > maxBudget:
		return s.at("max_budget_usd", "", "max_budget_usd must be a number of US dollars, 0 or more; without a limit, leave it out")
	}
	if at := s.Context.CompactAt; at != 0 && !CompactAtFits(at) {
		return s.at("compact_at", "", "compact_at is a part of the model's window: want %s", CompactAtBounds)
	}
	for model, size := range s.Windows {
		if size < 1 {
			return s.at(model, model, "windows: the window of %s must be a number of tokens, 1 or more", model)
		}
	}
	if k := s.Knowledge.Project; !slices.Contains([]string{"", "on", "off", "ask"}, k) {
		return s.at("project", "", "knowledge: project %q is unknown: use on, off or ask", k)
	}
	if v := s.Knowledge.Handoff; !slices.Contains([]string{"", "continue", "ask", "ignore"}, v) {
		return s.at("handoff", "", "knowledge: handoff %q is unknown: use continue, ask or ignore", v)
	}
	if d, err := time.ParseDuration(s.Knowledge.Session); s.Knowledge.Session != "" && (err != nil || d < 0) {
		return s.at("min_session", "", "knowledge: min_session %q is no span of time: write 15m, or 0s for every session", s.Knowledge.Session)
	}
	f := s.Files
	for _, limit := range []struct {
		name  string
		value int64
	}{{"max_file_mb", f.MaxFile}, {"max_mb", f.Max}, {"max_files", f.Count}, {"quota_mb", f.Quota}, {"session_quota_mb", f.Session}} {
		if limit.value < 0 {
			return s.at(limit.name, "", "files: %s cannot be negative; for what is usual, leave it out", limit.name)
		}
	}
	for _, name := range f.Keep {
		if name == "" || strings.ContainsRune(name, '/') {
			return s.at("keep", name, "files: keep has names of directories, as in [\"node_modules\"]: %q is none", name)
		}
	}
	if _, err := s.retryFor(); err != nil {
		return s.at("retry_for", "", "%v", err)
	}
	if s.Mode != "" {
		if _, err := permission.ParseMode(s.Mode); err != nil {
			return s.at("permission_mode", "", "permission_mode %q is unknown: use default, acceptEdits or plan", s.Mode)
		}
	}
	if err := s.checkSecrets(); err != nil {
		return err
	}
	for _, limit := range []struct{ name, value string }{{"cpu", s.Limits.CPU}, {"memory", s.Limits.Memory}, {"wall", s.Limits.Wall}} {
		if limit.value == "" {
			continue
		}
		if err := SetLimit(&command.Limits{}, limit.name, limit.value); err != nil {
			return s.at(limit.name, "", "limits: %s: %v", limit.name, err)
		}
	}
	if s.Limits.Files < 0 {
		return s.at("files", "", "limits: files cannot be negative")
	}
	return s.checkPrices()
}

func (s *source) checkSecrets() error {
	for _, name := range s.Secrets {
		switch {
		case !variable.MatchString(name):
			return s.at("secrets", name, "secrets: %q is no name of an environment variable", name)
		case ordinary(name):
			return s.at("secrets", name, "secrets: %s cannot be one: its value stands in ordinary texts, as in paths, which would all be replaced; take it out of the list", name)
		}
	}
	return nil
}

func (s *source) checkPrices() error {
	for model, p := range s.Prices {
		if provider, name, ok := strings.Cut(model, "/"); !ok || provider == "" || name == "" {
			return s.at(model, model, "prices: %q is no model: write [prices.\"PROVIDER/MODEL\"]", model)
		}
		if p.Input == nil || p.Output == nil {
			return s.at(model, model, "prices: %s needs input and output, in US dollars for a million tokens", model)
		}
		for name, usd := range map[string]*float64{"input": p.Input, "output": p.Output, "cache_read": p.CacheRead, "cache_write": p.CacheWrite} {
			if usd != nil && (math.IsNaN(*usd) || *usd < 0 || *usd > maxPrice) {
				return s.at(name, model, "prices: %s of %s must be a number of US dollars for a million tokens, 0 or more", name, model)
			}
		}
	}
	return nil
}

// CompactAtBounds says what compact_at may be.
var CompactAtBounds = fmt.Sprintf("a number from %g to %g, as in 0.8", session.CompactAtLeast/1000.0, session.CompactAtMost/1000.0)

// CompactAtFits reports whether the conversation may be compacted at this part of the window.
func CompactAtFits(at float64) bool {
	return at >= session.CompactAtLeast/1000.0 && at <= session.CompactAtMost/1000.0
}

// UnknownTool words a permission rule for a tool that there is none of, empty for any other rule. A slip is a name that
// differs from one that there is in a letter, in case or in the order of its letters: nobody means a rule by it that
// does nothing.
func UnknownTool(rule string) (told string, slip bool) {
	name := permission.RuleTool(rule)
	if slices.Contains(permission.Tools(), name) {
		return "", false
	}
	for _, t := range permission.Tools() {
		if plain.Distance(t, name) <= 1 || letters(t) == letters(name) {
			return fmt.Sprintf("no tool is called %s: did you mean %s?", name, t), true
		}
	}
	return fmt.Sprintf("no tool is called %s: the rule %s does nothing", name, rule), false
}

// letters are those of a name in their order in the alphabet, whatever their case.
func letters(name string) string {
	b := []byte(strings.ToLower(name))
	slices.Sort(b)
	return string(b)
}
