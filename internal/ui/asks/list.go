package asks

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// strip says what waits and which key opens it.
func (m *Model) strip() []string {
	st := m.cfg.Style
	n := m.Waiting()
	if n == 0 {
		return nil
	}
	verb := "wait"
	if n == 1 {
		verb = "waits"
	}
	what, opens := " ▲ "+counted(m.asks), "  "+m.cfg.Key
	if long := " " + verb + " for you"; ansi.StringWidth(what+long+opens) <= m.width {
		what += long
	}
	first := st.Bold.Styled(theme.Cut(what, m.width-ansi.StringWidth(opens))) + st.Accent.Styled(opens) + st.Quiet.Styled(" looks and answers")
	lines := []string{first}
	for _, a := range m.asks {
		if a.Kind == Notice || len(lines) == m.height {
			continue
		}
		lines = append(lines, "   "+plain.Shown(a.Line, 500))
	}
	if more := n - (len(lines) - 1); more > 0 && len(lines) > 1 {
		end := st.Quiet.Styled(fmt.Sprintf("  and %d more", more))
		last := len(lines) - 1
		lines[last] = theme.Cut(lines[last], m.width-ansi.StringWidth(end)) + end
	}
	return lines
}

// counted words how many of each kind there are.
func counted(asks []Ask) string {
	n := [3]int{}
	for _, a := range asks {
		n[a.Kind]++
	}
	var words []string
	for kind, name := range []string{"approval", "question"} {
		switch {
		case n[kind] == 1:
			words = append(words, "1 "+name)
		case n[kind] > 1:
			words = append(words, fmt.Sprint(n[kind], " ", name, "s"))
		}
	}
	return strings.Join(words, ", ")
}

// listLines are the asks of a page, around the shown one.
func (m *Model) listLines(height int) []string {
	st := m.cfg.Style
	if len(m.asks) == 0 {
		return nil
	}
	m.list.Room(height)
	m.list.Set(len(m.asks), func(i int) (string, bool) { return m.asks[i].ID, true })
	m.list.Move(max(m.place(), 0) - m.list.At())
	var out []string
	for i, to := m.list.Visible(); i < to; i++ {
		a := m.asks[i]
		sign := map[Kind]string{Approval: "▲", Question: "?", Notice: "·"}[a.Kind]
		age := ""
		if !a.Asked.IsZero() {
			age = plain.Span(m.cfg.Now().Sub(a.Asked))
		}
		name := max(min(m.width/4, 24), 6)
		at := " "
		if a.ID == m.shown.ask.ID {
			at = "▸"
		}
		line := at + theme.FitRight(age, 4) + " " + sign + " " + theme.Fit(plain.Shown(a.Title, 60), name) + " " + plain.Shown(a.Line, 500)
		switch {
		case a.ID == m.shown.ask.ID:
			line = st.Selected.Styled(theme.Fit(line, m.width))
		case a.Kind == Notice:
			line = st.Quiet.Styled(theme.Cut(line, m.width))
		}
		out = append(out, line)
	}
	return out
}

// helpLines explain the keys.
func (m *Model) helpLines() []string {
	st := m.cfg.Style
	var out []string
	for _, k := range []theme.Key{
		{Press: "y", Does: "allow this call, once"},
		{Press: "s p u", Does: "allow it and remember the rule: session, project, user"},
		{Press: "r", Does: "the wider rule, or the exact one"},
		{Press: "n", Does: "deny it"},
		{Press: "w N", Does: "deny it with words; answer in your own words"},
		{Press: "1-9", Does: "answer with an option"},
		{Press: "← →", Does: "select an answer; enter gives it"},
		{Press: "tab", Does: "the next that waits"},
		{Press: "space b", Does: "scroll (also [ ] pgup pgdn)"},
		{Press: "esc", Does: "back; nothing is answered"},
	} {
		out = append(out, " "+st.Accent.Styled(theme.Fit(k.Press, 8))+" "+k.Does)
	}
	return append(out, st.Quiet.Styled(" Keys answer only what was drawn, after a moment without keys."))
}
