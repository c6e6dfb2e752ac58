package chat

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/composer"
	"github.com/perdure/perdure/internal/ui/transcript"
)

// maxMine bounds how many messages of this screen are kept as they were written.
const maxMine = 64

// submit takes what a person has sent: a command, or a message.
func (m *Model) submit(d composer.Draft) tea.Cmd {
	if d.Empty() {
		return nil
	}
	if name, args, ok := commandOf(d); ok {
		if m.commandNamed(name) == nil {
			m.in.TakeBack(d)
		}
		return m.command(name, args)
	}
	if m.gone != nil {
		m.in.TakeBack(d)
		m.tell(true, m.gone.Text)
		return nil
	}
	text := strings.ToLower(strings.TrimSpace(d.String()))
	switch {
	case m.stand.Waits > 0 && slices.Contains(answers[:], text):
		m.in.TakeBack(d)
		m.tell(true, "this would be a message; ctrl+o answers what waits")
		return nil
	case strings.HasPrefix(text, "!") && len(text) > 1:
		m.tell(false, "! runs nothing here: the model is told the words as they are")
	case strings.HasPrefix(text, "#") && len(text) > 1 && text[1] != ' ' && text[1] != '#':
		m.tell(false, "# remembers nothing here: /memory add TEXT does; the model is told the words as they are")
	}
	m.talk.Browse(false)
	m.talk.End()
	return m.send(d)
}

// answers are words that somebody types who takes the composer for the question that waits.
var answers = [...]string{"y", "n", "yes", "no", "s", "1", "2", "3"}

// commandOf finds a command: a draft of text alone that begins with a slash and a word without another one.
func commandOf(d composer.Draft) (name, args string, ok bool) {
	if len(d.Parts) != 1 {
		return "", "", false
	}
	text, ok := d.Parts[0].(composer.Text)
	if !ok || !strings.HasPrefix(string(text), "/") {
		return "", "", false
	}
	name, args, _ = strings.Cut(strings.TrimSpace(string(text[1:])), " ")
	if name == "" || strings.ContainsAny(name, "/\n") {
		return "", "", false // a path
	}
	return name, strings.TrimSpace(args), true
}

// send brings a message to the session. It is shown as queued at once, and comes back into the composer if it fails.
func (m *Model) send(d composer.Draft) tea.Cmd {
	key := m.cfg.NewKey()
	if len(m.mine) >= maxMine {
		clear(m.mine)
	}
	m.mine[key] = d
	m.queue = append(m.queue, Queued{Key: key, Text: firstLine(d.String())})
	link, ctx := m.cfg.Link, m.ctx
	return func() tea.Msg { return sentMsg{key, d, link.Send(ctx, key, d)} }
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// sent hears how a message went. One that was not taken is not lost: it is written again.
func (m *Model) sent(msg sentMsg) tea.Cmd {
	if msg.err == nil {
		if m.stand.Nobody { // who sends a message wants it read
			return m.goOn()
		}
		return nil
	}
	for i, q := range m.queue {
		if q.Key == msg.key {
			m.queue = append(m.queue[:i:i], m.queue[i+1:]...)
			break
		}
	}
	delete(m.mine, msg.key)
	m.in.TakeBack(msg.draft)
	m.say(transcript.Trouble, "not sent, and written again below: "+msg.err.Error())
	m.talk.End()
	return nil
}

// find looks for words in the conversation, upwards if back, and brings older items until there are none.
func (m *Model) find(words string, back bool) tea.Cmd {
	m.older.find = ""
	if words == "" {
		return nil
	}
	m.search.last = words
	if m.talk.Find(words, back) {
		return nil
	}
	if back && !m.older.done {
		m.older.find = words
		m.tell(false, "looking in what was said before…")
		return m.loadOlder()
	}
	m.tell(false, fmt.Sprintf("%q is found no further", plain.Line(words, 100)))
	return nil
}

// search is a line of words that are looked for in the conversation.
type search struct {
	on   bool
	text string
	last string
}

func (m *Model) searchKey(k tea.KeyPressMsg, name string) tea.Cmd {
	s := &m.search
	switch name {
	case "esc":
		s.on, s.text = false, ""
	case "enter", "up", "down":
		words := s.text
		if words == "" {
			words = s.last
		}
		s.on, s.text = false, ""
		return m.find(words, name != "down")
	case "backspace":
		if r := []rune(s.text); len(r) > 0 {
			s.text = string(r[:len(r)-1])
		}
	default:
		s.add(k.Text)
	}
	return nil
}

// maxSearch bounds the words that are looked for, in bytes.
const maxSearch = 200

func (s *search) add(text string) {
	text = plain.Joined(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == '\r' {
			return ' '
		}
		return r
	}, text))
	if len(s.text)+len(text) <= maxSearch {
		s.text += text
	}
}

// note items.

// say puts a line of the screen's own into the conversation.
func (m *Model) say(kind transcript.Kind, text string) {
	m.talk.Put(transcript.Item{ID: "screen " + m.cfg.NewKey(), Kind: kind, Text: text})
}
