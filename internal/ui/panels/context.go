package panels

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// Part is a part of what the next request holds.
type Part struct {
	Name   string
	Tokens int64
}

// Context is what the next request holds.
type Context struct {
	Model     string
	Window    int64 // tokens; 0: unknown
	CompactAt int64 // tokens from which on the conversation is compacted; 0: unknown, or it is not
	Tokens    int64 // of the request, estimated
	Parts     []Part
	Cached    int64     // tokens of the last request that its provider had or has now in its cache; 0: none
	CachedAt  time.Time // when that was
}

// ContextSource says what the next request holds. It may block, and is called from other goroutines.
type ContextSource interface {
	Context(ctx context.Context) (Context, error)
}

// cacheLife is how long providers keep what they cached, at least.
const cacheLife = 5 * time.Minute

// NewContext is the page of what the next request holds.
func NewContext(cfg Config, src ContextSource) *Page {
	p := &Page{cfg: cfg, title: "Context"}
	p.load = func(ctx context.Context) (filled, error) {
		c, err := src.Context(ctx)
		if err != nil {
			return filled{}, err
		}
		return contextRows(cfg, c), nil
	}
	return p
}

func contextRows(cfg Config, c Context) filled {
	s := cfg.Styles
	f := filled{sum: plain.Shown(c.Model, 40)}
	f.rows = append(f.rows, still(func(width int) string { return theme.Cut(s.Bold.Styled(contextSum(c)), width) }))
	if c.Window > 0 {
		mark := -1.0
		if c.CompactAt > 0 {
			mark = float64(c.CompactAt) / float64(c.Window)
		}
		f.rows = append(f.rows, still(func(width int) string {
			return bar(s, float64(c.Tokens)/float64(c.Window), mark, min(width, 72))
		}))
	}
	for _, text := range []string{compactWords(c), cacheWords(cfg, c)} {
		f.rows = append(f.rows, still(func(width int) string { return s.Quiet.Styled(theme.Cut(text, width)) }))
	}
	f.rows = append(f.rows, blank())
	name := 4
	for _, part := range c.Parts {
		name = min(max(name, len(partName(part.Name))), 24)
	}
	for i, part := range c.Parts {
		share := 0.0
		if c.Tokens > 0 {
			share = float64(part.Tokens) / float64(c.Tokens)
		}
		draw := func(width int) string {
			line := theme.Fit(partName(part.Name), name) + theme.FitRight(plain.Grouped(part.Tokens), 10) + theme.FitRight(fmt.Sprintf("%.0f %%", 100*share), 6) + "  "
			return theme.Cut(line+bar(s, share, -1, max(min(width-name-18, 40), 0)), width)
		}
		f.rows = append(f.rows, row{key: fmt.Sprint(i+1, " ", part.Name), find: part.Name, draw: draw})
	}
	return f
}

// partName is a part's name in words.
func partName(name string) string { return strings.ReplaceAll(plain.Shown(name, 40), "_", " ") }

func contextSum(c Context) string {
	if c.Window <= 0 {
		return plain.Grouped(c.Tokens) + " tokens; how large the window is, is not known"
	}
	return fmt.Sprintf("%s of %s tokens (%d %%)", plain.Grouped(c.Tokens), plain.Grouped(c.Window), 100*c.Tokens/c.Window)
}

func compactWords(c Context) string {
	switch {
	case c.CompactAt <= 0:
		return "not compacted by itself; /compact makes room"
	case c.Tokens >= c.CompactAt:
		return fmt.Sprintf("over %s tokens: compacted before the next request", plain.Grouped(c.CompactAt))
	}
	return fmt.Sprintf("compacted from %s tokens on: room for %s more", plain.Grouped(c.CompactAt), plain.Grouped(c.CompactAt-c.Tokens))
}

// cacheWords say what the next request is likely to find in the cache.
func cacheWords(cfg Config, c Context) string {
	if c.Cached <= 0 {
		return "nothing is cached"
	}
	ago := cfg.Now().Sub(c.CachedAt)
	if ago > cacheLife {
		return fmt.Sprintf("%s tokens were cached %s ago: most likely gone by now", plain.Grouped(c.Cached), plain.Span(ago))
	}
	return fmt.Sprintf("%s tokens are cached, since %s", plain.Grouped(c.Cached), plain.Span(ago))
}
