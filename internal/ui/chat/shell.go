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

// maxRan bounds the lines of a shell whose output waits for the next message.
const maxRan = 20

// ranMsg tells that a line of a shell runs, and endedMsg that it has ended; leftMsg what was run before.
type (
	ranMsg struct {
		draft composer.Draft
		ran   Ran
		err   error
	}
	endedMsg struct {
		ran Ran
		err error
	}
	leftMsg struct {
		ran []Ran
		err error
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
	link, ctx := m.cfg.Link, m.ctx
	if line == "" {
		ran := m.ran
		if len(ran) == 0 {
			m.tell(false, "! and a command runs it here; what it prints goes with your next message")
			return nil
		}
		m.ran = nil
		return func() tea.Msg {
			return doneMsg{note: "no output goes with the next message", err: link.ShellForget(ctx, ran)}
		}
	}
	m.tell(false, "starting…")
	return func() tea.Msg {
		ran, err := link.Shell(ctx, line)
		return ranMsg{d, ran, err}
	}
}

// shellLeft looks for what was run here before this screen was opened, and is in no message yet.
func (m *Model) shellLeft() tea.Cmd {
	link, ctx := m.cfg.Link, m.ctx
	return func() tea.Msg {
		ran, err := link.ShellLeft(ctx)
		return leftMsg{ran, err}
	}
}

// shellThere shows it, as if it had been run now.
func (m *Model) shellThere(msg leftMsg) tea.Cmd {
	if msg.err != nil {
		m.tell(true, "what was run here before cannot be looked for: "+msg.err.Error())
	}
	var cmds []tea.Cmd
	for _, r := range msg.ran {
		cmds = append(cmds, m.shellGoes(r))
	}
	return tea.Batch(cmds...)
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
	msg.ran.Began = m.cfg.Now()
	cmd := m.shellGoes(msg.ran)
	m.talk.End()
	return cmd
}

// shellGoes shows that a line runs, and waits for its end.
func (m *Model) shellGoes(r Ran) tea.Cmd {
	it := shellItem(r)
	it.Call.Started, it.Call.Outcome = r.Began, "runs as "+r.Task
	m.talk.Put(it)
	link, ctx := m.cfg.Link, m.ctx
	return func() tea.Msg {
		ran, err := link.ShellEnd(ctx, r)
		return endedMsg{ran, err}
	}
}

func (m *Model) shellEnded(msg endedMsg) {
	r := msg.ran
	it := shellItem(r)
	it.Call.Started, it.Call.Took = r.Began, r.Took
	if r.Took == 0 && !r.Began.IsZero() {
		it.Call.Took = m.cfg.Now().Sub(r.Began)
	}
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
	m.goes(r)
}

// goes has what was run go with the next message, each once, in the order in which it was run.
func (m *Model) goes(ran ...Ran) {
	for _, r := range ran {
		if !slices.ContainsFunc(m.ran, func(was Ran) bool { return was.Act == r.Act }) {
			m.ran = append(m.ran, r)
		}
	}
	slices.SortStableFunc(m.ran, func(a, b Ran) int { return a.Began.Compare(b.Began) })
	m.ran = m.ran[max(len(m.ran)-maxRan, 0):]
}

// told hears what is in a message by now, whoever has sent it: it goes with no other one.
func (m *Model) told(acts []string) {
	m.ran = slices.DeleteFunc(m.ran, func(r Ran) bool { return slices.Contains(acts, r.Act) })
}

// tells parts the key of a message from the acts of what is told by it.
const tells = " tells "

// Tells is the key of a message that says what was run, so that whoever reads the log knows what was told, whatever
// became of the screen that had sent it.
func Tells(key string, ran []Ran) string {
	if len(ran) == 0 {
		return key
	}
	acts := make([]string, len(ran))
	for i, r := range ran {
		acts[i] = r.Act
	}
	return key + tells + strings.Join(acts, ",")
}

// Told are the acts of what is told by the message of a key.
func Told(key string) []string {
	if _, acts, ok := strings.Cut(key, tells); ok {
		return strings.Split(acts, ",")
	}
	return nil
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

// withRan has what was run go with a message, and forgets it.
func (m *Model) withRan(d composer.Draft) written {
	w := written{d, m.ran}
	m.ran = nil
	return w
}

// whole is a message after what was run.
func (w written) whole() composer.Draft {
	if len(w.ran) == 0 {
		return w.Draft
	}
	var parts []composer.Part
	for _, r := range w.ran {
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
	return composer.Draft{Parts: append(parts, w.Parts...)}
}
