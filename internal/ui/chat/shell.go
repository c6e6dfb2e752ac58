package chat

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/composer"
	"github.com/perdure/perdure/internal/ui/transcript"
)

// maxRan bounds the lines of a shell whose output waits for the next message.
const maxRan = 20

// ranMsg tells that a line of a shell runs, and endedMsg that it has ended.
type (
	ranMsg struct {
		draft composer.Draft
		ran   Ran
		err   error
	}
	endedMsg struct {
		ran   Ran
		began time.Time
		err   error
	}
)

// shellOf is the line of a shell that a draft is: one that begins with an exclamation mark.
func shellOf(d composer.Draft) (line string, ok bool) {
	if len(d.Parts) != 1 {
		return "", false
	}
	text, ok := d.Parts[0].(composer.Text)
	line, bang := strings.CutPrefix(strings.TrimSpace(string(text)), "!")
	return strings.TrimSpace(line), ok && bang
}

// shell runs a line of a shell; an empty one forgets what was to go with the next message.
func (m *Model) shell(d composer.Draft, line string) tea.Cmd {
	if line == "" {
		if n := len(m.ran); n > 0 {
			m.ran = nil
			m.tell(false, "no output goes with the next message")
		} else {
			m.tell(false, "! and a command runs it here; what it prints goes with your next message")
		}
		return nil
	}
	link, ctx := m.cfg.Link, m.ctx
	m.tell(false, "starting…")
	return func() tea.Msg {
		ran, err := link.Shell(ctx, line)
		return ranMsg{d, ran, err}
	}
}

// shellItem is a line of a shell in the conversation.
func shellItem(r Ran) transcript.Item {
	return transcript.Item{ID: CallID(r.Act), Kind: transcript.Tool, Call: transcript.Call{Act: r.Act, Name: "!", About: r.Line, State: transcript.Background}}
}

func (m *Model) shellRuns(msg ranMsg) tea.Cmd {
	if msg.err != nil {
		m.in.TakeBack(msg.draft)
		m.say(transcript.Trouble, "not run, and written again below: "+msg.err.Error())
		m.talk.End()
		return m.keepSoon()
	}
	m.note = note{}
	it := shellItem(msg.ran)
	it.Call.Started, it.Call.Outcome = m.cfg.Now(), "runs as "+msg.ran.Task
	m.talk.Put(it)
	m.talk.End()
	link, ctx, began := m.cfg.Link, m.ctx, m.cfg.Now()
	return func() tea.Msg {
		ran, err := link.ShellEnd(ctx, msg.ran)
		return endedMsg{ran, began, err}
	}
}

func (m *Model) shellEnded(msg endedMsg) {
	r := msg.ran
	it := shellItem(r)
	it.Call.Started, it.Call.Took = msg.began, m.cfg.Now().Sub(msg.began)
	it.Call.State, it.Call.Output, it.Call.Omitted = transcript.Done, r.Output, r.Omitted
	switch {
	case msg.err != nil:
		it.Call.State, it.Call.Outcome = transcript.Unknown, msg.err.Error()
		m.talk.Put(it)
		return
	case r.How != "":
		it.Call.State = transcript.Failed
	}
	it.Call.Outcome = strings.TrimPrefix(r.How+", "+r.size(), ", ") + "; goes with your next message"
	m.talk.Put(it)
	if m.ran = append(m.ran, r); len(m.ran) > maxRan {
		m.ran = m.ran[1:]
	}
}

// size is how much was printed, in words.
func (r Ran) size() string {
	switch n := strings.Count(strings.TrimRight(r.Output, "\n"), "\n") + 1; {
	case strings.TrimSpace(r.Output) == "":
		return "nothing printed"
	case n == 1:
		return "1 line"
	default:
		return plain.Grouped(int64(n)) + " lines"
	}
}

// withRan puts what was run before a message, and forgets it.
func (m *Model) withRan(d composer.Draft) composer.Draft {
	if len(m.ran) == 0 {
		return d
	}
	var parts []composer.Part
	for _, r := range m.ran {
		how := r.How
		if how == "" {
			how = "it ended well"
		}
		text := fmt.Sprintf("I ran `%s` (%s)", r.Line, how)
		if strings.TrimSpace(r.Output) == "" {
			parts = append(parts, composer.Text(text+"; it printed nothing.\n"))
			continue
		}
		if r.Omitted > 0 {
			text += fmt.Sprintf("; of what it printed the end, without %s before it", plain.Size(r.Omitted))
		}
		out := plain.Text(plain.Redrawn(r.Output))
		parts = append(parts, composer.Text(text+": "), composer.Pasted{Text: out, Lines: strings.Count(strings.TrimRight(out, "\n"), "\n") + 1}, composer.Text("\n"))
	}
	m.ran = nil
	return composer.Draft{Parts: append(parts, d.Parts...)}
}
