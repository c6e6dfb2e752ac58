package asks

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/ui/list"
)

// Update takes a message. Those that are not the list's are ignored, and keys while it has no focus.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case listMsg:
		if msg.of == m {
			return m.gotList(msg)
		}
	case showMsg:
		if msg.of == m {
			return m.gotShow(msg)
		}
	case becameMsg:
		if msg.of == m && m.shown.some && m.shown.ask.ID == msg.ask.ID && m.shown.gone != "" && msg.what != "" {
			m.shown.gone = "answered meanwhile: " + msg.what
		}
	case doneMsg:
		if msg.of == m {
			return m.gotDone(msg)
		}
	case beatMsg:
		if msg.of == m && msg.n == m.beat {
			return m.Refresh()
		}
	case readyMsg:
		if msg.of == m {
			m.shown.armed(m.cfg.Now(), m.cfg.Quiet) // its keys are drawn as such
		}
	case tea.PasteMsg:
		if m.Typing() {
			m.input.insert(msg.Content)
		}
	case tea.KeyPressMsg:
		if m.focused {
			return m.key(msg)
		}
	}
	return nil
}

// key takes a key. Whether it may answer is known before it counts as a key.
func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	s, now := &m.shown, m.cfg.Now()
	armed := s.armed(now, m.cfg.Quiet)
	s.lastKey = now
	var wait tea.Cmd
	if !armed && s.detail != nil {
		wait = m.soon()
	}
	press := msg.String()
	switch {
	case s.gone != "":
		return m.leaveGone(press)
	case m.typing:
		return m.typed(msg, armed)
	}
	if cmd, ok := m.move(press); ok {
		return tea.Batch(cmd, wait)
	}
	if !s.some || m.busy[s.ask.ID] {
		return nil
	}
	cmd := m.pressed(press, armed)
	return tea.Batch(cmd, wait)
}

// leaveGone goes on from an ask that does not wait any more: by keys that answer nothing.
func (m *Model) leaveGone(press string) tea.Cmd {
	switch press {
	case "esc", "enter", "tab", "space", "up", "down":
		i := m.place()
		if i < 0 {
			i = 0
		}
		return m.next(i)
	}
	return nil
}

// move moves about, and reports whether that was what the key meant.
func (m *Model) move(press string) (tea.Cmd, bool) {
	s := &m.shown
	page := max(m.layout().rows-1, 1)
	i := max(m.place(), 0)
	switch press {
	case "esc":
		if !m.Back() {
			m.Blur()
		}
	case "tab":
		return m.turn(i + 1), true
	case "shift+tab":
		return m.turn(i - 1), true
	case "up", "k", "down", "j":
		by := 1
		if press == "up" || press == "k" {
			by = -1
		}
		switch {
		case m.cfg.Page:
			return m.turn(i + by), true
		case s.detail != nil && len(s.detail.Options) > 0:
			m.choose(by)
		default:
			m.scroll(by)
		}
	case "shift+up", "[":
		m.scroll(-1)
	case "shift+down", "]":
		m.scroll(1)
	case "left":
		m.choose(-1)
	case "right":
		m.choose(1)
	case "?":
		m.help = !m.help
	default:
		by, ok := list.Step(press, page, false)
		if !ok {
			return nil, false
		}
		m.scroll(by)
	}
	return nil, true
}

// turn shows another ask, around the ends.
func (m *Model) turn(i int) tea.Cmd {
	if n := len(m.asks); n > 1 {
		m.note = note{}
		return m.sel((i + n) % n)
	}
	return nil
}

func (m *Model) scroll(by int) {
	s := &m.shown
	s.scroll = min(max(s.scroll+by, 0), max(len(s.lines)-m.layout().rows, 0))
}

// choose selects the next of the answers.
func (m *Model) choose(by int) {
	n := len(m.answers())
	if n == 0 {
		return
	}
	if m.choice < 0 && by < 0 {
		m.choice = 0
	}
	m.choice = (m.choice + by + n) % n
}

// reply is one answer that can be given: its key, what it does, and the answer.
type reply struct {
	press, does string
	said        string
	ans         Answer
	words       bool // it wants words first
}

// answers are those that fit what is shown.
func (m *Model) answers() []reply {
	s := &m.shown
	if !s.some || s.detail == nil || s.gone != "" {
		return nil
	}
	d := s.detail
	switch s.ask.Kind {
	case Question:
		var out []reply
		for i, o := range d.Options {
			key := ""
			if i < 9 {
				key = fmt.Sprint(i + 1)
			}
			out = append(out, reply{press: key, does: o, said: "answered", ans: Answer{Text: o}})
		}
		if d.Closed {
			return out
		}
		return append(out, reply{press: "w", does: "own words", said: "answered", words: true})
	case Approval:
		out := []reply{{press: "y", does: "once", said: "allowed once", ans: Answer{Verdict: Once}}}
		if rule := s.rule(); rule.Text != "" {
			out = append(out, reply{press: "s", does: "session", said: "allowed for the session", ans: Answer{Verdict: ForSession, Wider: s.wider}})
			if d.Project != "" {
				out = append(out, reply{press: "p", does: "project", said: "allowed for the project", ans: Answer{Verdict: ForProject, Wider: s.wider}})
			}
			out = append(out, reply{press: "u", does: "user", said: "allowed everywhere", ans: Answer{Verdict: ForUser, Wider: s.wider}})
		}
		return append(out, reply{press: "n", does: "no", said: "denied"}, reply{press: "w", does: "no, because", said: "denied", words: true})
	case Notice:
	}
	return nil
}

// rule is the one that an answer for longer than once gives.
func (s *shown) rule() Rule {
	if s.wider && s.detail.Wider.Text != "" {
		return s.detail.Wider
	}
	return s.detail.Exact
}

// pressed takes a key that may answer.
func (m *Model) pressed(press string, armed bool) tea.Cmd {
	s := &m.shown
	switch press {
	case "r":
		if s.detail != nil && s.detail.Wider.Text != "" {
			s.wider = !s.wider
			s.ready, s.drawn = false, time.Time{} // the rule is another one: it is read before it is given
			return m.soon()
		}
		return nil
	case "o":
		if m.cfg.Open != nil {
			return m.cfg.Open(s.ask.Session)
		}
		return nil
	case "N", "i":
		press = "w"
	}
	all := m.answers()
	if press == "enter" && m.choice >= 0 && m.choice < len(all) {
		return m.give(all[m.choice], armed)
	}
	for _, r := range all {
		if r.press != "" && r.press == press {
			return m.give(r, armed)
		}
	}
	return nil
}

// give answers, if that counts yet.
func (m *Model) give(r reply, armed bool) tea.Cmd {
	s := &m.shown
	switch {
	case !armed:
		m.tell(false, "that came before it could be read: press it again")
	case r.words:
		m.typing = true
	case s.ask.Kind == Approval && r.ans.Verdict != No && !s.whole():
		m.tell(true, "there is more below: space shows it, then it can be allowed")
	case s.ask.Kind == Approval && r.ans.Verdict != No && s.detail.Part:
		m.tell(true, "not all of it can be shown here: %s", orElse(s.detail.Hint, "perdure approvals list --json has it"))
	default:
		return m.answer(r.ans, r.said)
	}
	return nil
}

// typed takes a key of an answer in words.
func (m *Model) typed(msg tea.KeyPressMsg, armed bool) tea.Cmd {
	switch press := msg.String(); {
	case press == "esc":
		m.typing = false
	case press != "enter":
		m.input.key(msg)
	case strings.TrimSpace(m.input.text) == "":
		m.tell(true, "there are no words yet; esc goes back")
	case armed:
		said := "answered"
		if m.shown.ask.Kind == Approval {
			said = "denied"
		}
		return m.answer(Answer{Text: strings.TrimSpace(m.input.text)}, said)
	}
	return nil
}
