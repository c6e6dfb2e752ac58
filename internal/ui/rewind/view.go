package rewind

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// The least room in which the page makes sense, in cells.
const (
	minWidth  = 24
	minHeight = 8
	narrow    = 60 // below it counts have signs in place of words
)

// head is how many lines stand above the paths of a plan.
const head = 3

// body is how many lines the paths of a plan have.
func (p *Page) body() int { return max(p.height-1-head, 1) }

// View draws the page: exactly its height in lines, none wider than it is.
func (p *Page) View() string {
	if p.width < minWidth || p.height < minHeight {
		return strings.Join(theme.Block([]string{theme.Cut(fmt.Sprintf("too small: %d×%d", p.width, p.height), p.width)}, p.width, p.height), "\n")
	}
	if p.drawn.IsZero() {
		p.drawn = p.cfg.Now()
	}
	var lines []string
	switch p.stage {
	case turns:
		lines = p.turnLines()
	case ways:
		lines = p.wayLines()
	case plan:
		lines = p.planLines()
	case working:
		lines = p.workLines()
	}
	lines = theme.Block(lines, p.width, p.height-1)
	return strings.Join(append(lines, theme.Fit(p.foot(), p.width)), "\n")
}

func (p *Page) title(text string) string {
	return p.cfg.Styles.Title.Styled(theme.Cut(" "+plain.Shown(text, 1000), p.width))
}

func (p *Page) quiet(text string) string {
	return p.cfg.Styles.Quiet.Styled(theme.Cut("  "+plain.Shown(text, 1000), p.width))
}

func (p *Page) mark(on bool) string {
	if on {
		return p.cfg.Styles.Accent.Styled("▌") + " "
	}
	return "  "
}

func (p *Page) turnLines() []string {
	lines := []string{p.title("Go back to before…")}
	switch {
	case p.failed != "":
		return append(lines, p.cfg.Styles.Bad.Styled(theme.Cut("  "+plain.Line(p.failed, 1000), p.width)))
	case !p.looked:
		return append(lines, p.quiet("looking…"))
	case len(p.all) == 0:
		return append(lines, p.quiet("there is no turn to go back to"))
	}
	for i, to := p.list.Visible(); i < to; i++ {
		t := p.all[i]
		about := plain.Span(p.cfg.Now().Sub(t.At)) + " ago, " + t.changed()
		lines = append(lines, p.mark(i == p.list.At())+theme.Cut(plain.Shown(t.Words, 1000), p.width-2), p.quiet("  "+about))
	}
	return lines
}

// changed says what a turn did to files.
func (t Turn) changed() string {
	switch {
	case t.Undone:
		return "what it changed was undone"
	case t.Changed < 0 && t.Why != "":
		return t.Why
	case t.Changed < 0:
		return "nobody knows which files it changed"
	case t.Changed == 0:
		return "changed no file"
	}
	return plain.Count(int64(t.Changed), "file") + " changed"
}

func (p *Page) wayLines() []string {
	files := "what would become of them is shown first"
	if p.turn.Why != "" {
		files = "not possible: " + p.turn.Why
	}
	lines := []string{p.title("Before: " + p.turn.Words), ""}
	for i, w := range []struct{ line, about string }{
		{"the conversation only", "it goes on in a fork; files stay as they are"},
		{"the files only", files},
		{"the conversation and the files", files},
	} {
		line := w.line
		if on := Way(i) == p.way; on {
			line = p.cfg.Styles.Bold.Styled(theme.Cut(line, p.width-2))
		}
		lines = append(lines, p.mark(Way(i) == p.way)+theme.Cut(line, p.width-2), p.quiet("  "+w.about))
	}
	return lines
}

func (p *Page) planLines() []string {
	s := p.cfg.Styles
	switch {
	case p.waits:
		return []string{p.title("Files"), p.quiet("looking what would become of them…")}
	case p.failed != "":
		lines := []string{p.title("Files"), s.Bad.Styled(theme.Cut("  not possible now, and nothing was changed:", p.width))}
		for _, l := range theme.Wrap(plain.Text(p.failed), max(p.width-2, 1)) {
			lines = append(lines, theme.Cut("  "+l, p.width))
		}
		return lines
	}
	as := p.plan.As
	what := cmp.Or(as.Title, "the files go back to "+p.plan.To)
	if p.way == Both {
		what += ", then the conversation"
	}
	counts := p.quiet(cmp.Or(as.Nothing, "all is as it was then: no file is touched"))
	if !p.plan.nothing() || p.plan.Kept > 0 {
		words := fmt.Sprintf("%d come back, %d change, %d go away, %d stay", p.plan.Added, p.plan.Modified, p.plan.Deleted, p.plan.Kept)
		if words = cmp.Or(as.Counts, words); p.width < narrow && !as.Always {
			words = fmt.Sprintf("+%d ~%d -%d, %d stay", p.plan.Added, p.plan.Modified, p.plan.Deleted, p.plan.Kept)
		}
		counts = "  " + theme.Cut(plain.Shown(words, 1000), p.width-2)
	}
	lines := []string{p.title(what), counts, ""}
	if p.force {
		lines[2] = s.Alert("  ! ", "forced: "+cmp.Or(as.Forced, "what somebody else changed goes, too"), p.width)
	}
	for i := p.top; i < len(p.plan.Paths) && len(lines) < p.height-1; i++ {
		lines = append(lines, p.pathLine(p.plan.Paths[i]))
	}
	if p.plan.More > 0 && len(lines) < p.height-1 {
		lines = append(lines, p.quiet(fmt.Sprintf("… and %s more", plain.Grouped(int64(p.plan.More)))))
	}
	return lines
}

func (p *Page) pathLine(path Path) string {
	s := p.cfg.Styles
	look := s.Quiet
	switch path.Sign {
	case '+':
		look = s.Added
	case '-':
		look = s.Removed
	case '~':
		look = s.Warn
	}
	name := theme.End(plain.Shown(path.Name, 1000), max(p.width-4, 1))
	line := "  " + look.Styled(string(path.Sign)) + " " + name
	switch {
	case path.Why != "":
		line += s.Quiet.Styled(" stays: " + plain.Shown(path.Why, 300))
	case path.Both:
		line += s.Quiet.Styled(": changed by both in different lines, has both now")
	}
	return theme.Cut(line, p.width)
}

func (p *Page) workLines() []string {
	if p.way == Conversation {
		return []string{p.title("Going back…")}
	}
	n := p.plan.Added + p.plan.Modified + p.plan.Deleted
	return []string{
		p.title(cmp.Or(p.plan.As.Doing, "Restoring") + " " + plain.Count(int64(n), "path") + "…"), "",
		p.quiet("esc goes back to the conversation: this goes on"), p.quiet("and what you send waits for it"),
	}
}

func (p *Page) foot() string {
	s := p.cfg.Styles
	esc := theme.Key{Press: "esc", Does: "back"}
	switch {
	case p.note != "":
		return s.Alert(" ! ", plain.Line(p.note, 1000), p.width)
	case p.stage == working:
		return s.Keys([]theme.Key{{Press: "esc", Does: "write meanwhile"}}, p.width)
	case p.stage != plan:
		return s.Keys([]theme.Key{{Press: "↑↓", Does: "select"}, {Press: "enter", Does: "takes it"}, esc}, p.width)
	case p.waits:
		return s.Keys([]theme.Key{esc}, p.width)
	case p.failed != "":
		return s.Keys([]theme.Key{{Press: "r", Does: "look again"}, esc}, p.width)
	case p.sure:
		return s.Bold.Styled(theme.Cut(" sure? y overwrites what somebody else changed", p.width))
	}
	keys := []theme.Key{{Press: "y", Does: "do it"}, esc}
	if p.plan.nothing() && p.way == Files {
		keys = []theme.Key{esc}
	}
	if p.plan.canForce() && !p.force {
		keys = append(keys, theme.Key{Press: "f", Does: "force what stays"})
	}
	return s.Keys(append(keys, theme.Key{Press: "↑↓", Does: "scroll"}), p.width)
}
