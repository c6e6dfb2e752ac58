package asks

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// The least room in which an ask can be judged, in cells.
const (
	minWidth  = 24
	minHeight = 6
	maxStrip  = 3 // lines without the focus
	narrow    = 60
)

// layout is how the height is shared out: a title, a page's list with a rule below it, the ask, what rule it would give,
// what can be answered, and a line of help.
type layout struct{ list, rows, rule, answers int }

func (m *Model) layout() layout {
	l := layout{rule: len(m.ruleLines()), answers: len(m.answerLines())}
	const fixed = 2 // title and foot
	left := max(m.height-fixed, 0)
	if m.cfg.Page {
		l.list = min(max(len(m.asks), 1), max(left/4, 1))
		left -= l.list + 1
	}
	const enough = 6 // lines of the ask that come before the rule's text
	if left-l.rule-l.answers < min(len(m.shown.lines), enough) {
		l.rule = min(l.rule, 1)
	}
	l.answers = min(l.answers, max(left-l.rule-1, 1))
	l.rows = max(left-l.rule-l.answers, 0)
	return l
}

// Height is how many lines the list wants of those that there are at most, at its present width.
func (m *Model) Height(most int) int {
	switch {
	case m.cfg.Page:
		return most
	case !m.focused:
		n := m.Waiting()
		if n == 0 {
			return 0
		}
		return min(1+min(n, maxStrip-1), most)
	}
	want := 2 + len(m.shown.lines) + len(m.ruleLines()) + len(m.answerLines())
	return min(max(want, minHeight), most)
}

// View draws the list: exactly its height in lines, each of exactly its width. What is drawn of an ask counts as seen.
func (m *Model) View() string {
	if m.height < 1 || m.width < 1 {
		return ""
	}
	var lines []string
	switch {
	case !m.focused:
		lines = m.strip()
	case m.width < minWidth || m.height < minHeight:
		lines = []string{fmt.Sprintf("too small: %d×%d", m.width, m.height)}
	case m.help:
		lines = append([]string{m.title()}, m.helpLines()...)
	default:
		lines = m.frame()
	}
	return strings.Join(theme.Block(lines, m.width, m.height), "\n")
}

func (m *Model) frame() []string {
	l, st, s := m.layout(), m.cfg.Style, &m.shown
	lines := []string{m.title()}
	if m.cfg.Page {
		lines = append(lines, m.listLines(l.list)...)
		lines = append(lines, m.divider())
	}
	body := m.body(l.rows)
	for len(body) < l.rows {
		body = append(body, "")
	}
	lines = append(lines, body[:l.rows]...)
	lines = append(lines, m.ruleLines()[:l.rule]...)
	answers := m.answerLines()
	lines = append(lines, answers[:min(l.answers, len(answers))]...)
	if s.some && s.gone == "" {
		s.see(l.rows, m.cfg.Now())
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	lines = append(lines[:m.height-1], m.foot(st))
	return lines
}

// title says what is asked, how many wait, and since when.
func (m *Model) title() string {
	st, s := m.cfg.Style, &m.shown
	left := "Waits for you"
	right := ""
	if s.some {
		left = map[Kind]string{Approval: "Approval", Question: "Question", Notice: "Notice"}[s.ask.Kind]
		if i := m.place(); i >= 0 && len(m.asks) > 1 {
			left += fmt.Sprintf(" %d of %d", i+1, len(m.asks))
		}
		if s.ask.Title != "" {
			left += " · " + plain.Shown(s.ask.Title, 60)
		}
		if !s.ask.Asked.IsZero() {
			right = " " + plain.Span(m.cfg.Now().Sub(s.ask.Asked)) + " ago "
		}
	}
	room := m.width - 6 - ansi.StringWidth(right)
	left = " " + theme.Cut(left, max(room, 0)) + " "
	rule := max(m.width-2-ansi.StringWidth(left)-ansi.StringWidth(right)-1, 0)
	return st.Warn.Styled("──") + st.Title.Styled(left) + st.Quiet.Styled(strings.Repeat("─", rule)+right+"─")
}

func (m *Model) divider() string { return m.cfg.Style.Quiet.Styled(strings.Repeat("─", m.width)) }

// body is the ask itself.
func (m *Model) body(height int) []string {
	s, st := &m.shown, m.cfg.Style
	switch {
	case !s.some && m.failure != "":
		return []string{st.Bad.Styled(" " + plain.Shown(m.failure, 500))}
	case !s.some && m.listed:
		return []string{st.Quiet.Styled(" nothing waits")}
	case s.gone != "":
		out := []string{}
		for _, l := range wrapped(s.gone, max(m.width-2, 1)) {
			out = append(out, st.Bold.Styled(" "+l))
		}
		return append(out, st.Quiet.Styled(" "+plain.Shown(s.ask.Line, 500)))
	case s.failed != "":
		return []string{st.Bad.Styled(" it cannot be shown: " + plain.Shown(s.failed, 500))}
	case s.detail == nil:
		return []string{st.Quiet.Styled(" …")}
	}
	s.scroll = min(s.scroll, max(len(s.lines)-height, 0))
	var out []string
	for _, r := range s.lines[s.scroll:min(len(s.lines), s.scroll+height)] {
		out = append(out, " "+m.styled(r))
	}
	return out
}

func (m *Model) styled(r Row) string {
	st := m.cfg.Style
	switch r.Look {
	case About, Aside:
		return st.Quiet.Styled(r.Text)
	case Step:
		return st.Code.Styled(r.Text)
	case Added:
		return theme.Signed(st.Added, r.Text)
	case Removed:
		return theme.Signed(st.Removed, r.Text)
	case Warning:
		return st.Bold.Styled(r.Text)
	case Text:
		return r.Text
	}
	if m.choice >= 0 && r.Look == option(m.choice) {
		return st.Selected.Styled("▸" + strings.TrimPrefix(r.Text, " "))
	}
	return r.Text
}

// ruleLines say what an answer for longer than once would allow.
func (m *Model) ruleLines() []string {
	s, st := &m.shown, m.cfg.Style
	if !s.some || s.detail == nil || s.ask.Kind != Approval || s.gone != "" || m.typing {
		return nil
	}
	rule := s.rule()
	if rule.Text == "" {
		return []string{st.Quiet.Styled(" " + plain.Shown(orElse(rule.Allows, "no rule can cover it: it can be allowed once"), 300))}
	}
	other := ""
	if s.detail.Wider.Text != "" {
		other = "  " + st.Accent.Styled("r") + st.Quiet.Styled(map[bool]string{true: " narrower", false: " wider"}[s.wider])
	}
	keys := "s p u"
	if s.detail.Project == "" {
		keys = "s u"
	}
	head := " " + keys + " also allow: "
	if m.width < narrow {
		head = " also: "
	}
	words := theme.Cut(plain.Shown(rule.Allows, 500), max(m.width-len(head)-ansi.StringWidth(other), 8))
	if s.wider {
		words = st.Bold.Styled(words)
	}
	return []string{st.Quiet.Styled(head) + words + other, st.Quiet.Styled("   rule ") + st.Code.Styled(plain.Shown(rule.Text, 500))}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// answerLines are the answers, as many lines of them as it takes; while words are typed, those.
func (m *Model) answerLines() []string {
	s, st := &m.shown, m.cfg.Style
	if !s.some || s.gone != "" {
		return nil
	}
	if m.typing {
		head := m.inputHead()
		text, _ := m.input.view(max(m.width-ansi.StringWidth(head)-1, 1))
		return []string{st.Accent.Styled(head) + text}
	}
	if m.busy[s.ask.ID] {
		return []string{st.Quiet.Styled(" answering …")}
	}
	if s.ask.Kind == Notice {
		if s.detail == nil || s.detail.Hint == "" {
			return nil
		}
		return []string{" " + st.Accent.Styled(plain.Shown(s.detail.Hint, 500))}
	}
	var items []string
	for i, r := range m.answers() {
		if r.ans.Text != "" { // an option: it stands above
			continue
		}
		item := st.Accent.Styled(r.press) + " " + r.does
		switch {
		case i == m.choice:
			item = st.Selected.Styled("▸" + r.press + " " + r.does)
		case !s.ready:
			item = st.Quiet.Styled(r.press + " " + r.does)
		}
		items = append(items, item)
	}
	if n := len(items); n > 0 && s.detail != nil && len(s.detail.Options) > 0 {
		items = append([]string{st.Accent.Styled("1-"+fmt.Sprint(min(len(s.detail.Options), 9))) + " answer"}, items...)
	}
	return flow(items, m.width)
}

// flow lays items out in lines.
func flow(items []string, width int) []string {
	var lines []string
	line := ""
	for _, item := range items {
		if line != "" && ansi.StringWidth(line)+2+ansi.StringWidth(item) > width {
			lines = append(lines, line)
			line = ""
		}
		if line == "" {
			line = " " + item
		} else {
			line += "  " + item
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

func (m *Model) inputHead() string {
	if m.shown.ask.Kind == Approval {
		return " no, because: "
	}
	return " answer: "
}

// Cursor is where the text cursor stands, relative to the list's top left; nil: there is none.
func (m *Model) Cursor() *tea.Cursor {
	if !m.Typing() || m.width < minWidth || m.height < minHeight {
		return nil
	}
	head := ansi.StringWidth(m.inputHead())
	_, x := m.input.view(max(m.width-head-1, 1))
	return theme.Cursor(head+x, m.height-2)
}

// foot is what else keys do, or what has just happened.
func (m *Model) foot(st theme.Styles) string {
	s := &m.shown
	switch {
	case m.note.text != "" && m.cfg.Now().Before(m.note.until):
		if m.note.wrong {
			return st.Bad.Styled(" " + plain.Shown(m.note.text, 500))
		}
		return st.Good.Styled(" " + plain.Shown(m.note.text, 500))
	case m.typing:
		return st.Keys([]theme.Key{{Press: "enter", Does: "answers"}, {Press: "esc", Does: "back"}}, m.width)
	case s.gone != "":
		return st.Keys([]theme.Key{{Press: "enter", Does: "goes on"}}, m.width)
	}
	var keys []theme.Key
	if below := len(s.lines) - s.scroll - m.layout().rows; s.detail != nil && below > 0 {
		keys = append(keys, theme.Key{Press: "space", Does: fmt.Sprintf("%d more below", below)})
	}
	if len(m.asks) > 1 {
		keys = append(keys, theme.Key{Press: "tab", Does: "next"})
	}
	keys = append(keys, theme.Key{Press: "esc", Does: "back"})
	if m.cfg.Open != nil && s.some {
		keys = append(keys, theme.Key{Press: "o", Does: "open"})
	}
	return st.Keys(append(keys, theme.Key{Press: "?", Does: "help"}), m.width)
}
