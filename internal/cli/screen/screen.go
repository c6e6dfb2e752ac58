package screen

import (
	"context"
	"errors"
	"io"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/inbox"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/internal/ui/chat"
	"github.com/perdure/perdure/internal/ui/composer"
	"github.com/perdure/perdure/internal/ui/diffview"
	"github.com/perdure/perdure/internal/ui/markdown"
	"github.com/perdure/perdure/internal/ui/notify"
	"github.com/perdure/perdure/internal/ui/transcript"
)

// Config is what a screen is opened with.
type Config struct {
	App  *app.App
	Home *homes.Home
	Set  settings.Loaded
	// ID is the session; empty: a new one, which is made when its first message is sent.
	ID string
	// Create makes a session for a first message.
	Create func(ctx context.Context, prompt string) (id string, err error)
	// Options are what a session is held with; made says that it was just created.
	Options func(ctx context.Context, id string, made bool) (homes.Options, error)
	// Want sets the mode or the model of a session that is not made yet, and gives how it stands then.
	Want func(ctx context.Context, mode, model string) (chat.Stand, error)
	// Prompt is sent at once; empty: nothing is.
	Prompt string
	// New is how a session that is not made yet stands: its model and mode.
	New    chat.Stand
	Inline bool
	Attach bool // another process holds it, and keeps it
	Answer bool // what waits has the keys at first
	Nested bool // it was opened from another page, to which esc goes back
	On     bool // what is halted goes on at once: its person has said so
	// Notes are what is to be said at the beginning, in words.
	Notes func() []string
	// Run runs a command line of perdure and gives what it prints; ok is false when it failed.
	Run func(ctx context.Context, args ...string) (out string, ok bool)
}

// Open shows one session until its person leaves it, and says where to.
func Open(ctx context.Context, cfg Config) (chat.Result, string, error) {
	l := newLink(ctx, cfg)
	ctx = l.ctx
	var over func()
	l.thrift, over = thrifty()
	defer over()
	defer l.close() // whose feed is the last to tell how the session stands
	began := beginning{}
	if cfg.ID != "" {
		var err error
		if began, err = l.open(ctx); err != nil {
			return chat.Result{}, cfg.ID, err
		}
	}
	m, err := l.model(ctx, began)
	if err != nil {
		return chat.Result{}, cfg.ID, err
	}
	p := cfg.App.Program(ctx, m)
	l.start(p.Send)
	if cfg.Inline {
		// With blank rows below it a terminal that is made narrower may put what is live into the scrollback.
		_, _ = io.WriteString(cfg.App.Stdout, ansi.CursorDown(lowest))
	}
	disturbed := cfg.App.Undisturbed() // the screen says it itself
	err = cfg.App.Draw(ctx, p)
	disturbed()
	l.bye(m)
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		err = ctx.Err()
	}
	r := m.Result()
	if r.Goal != nil {
		r.Err = nil // the session is gone, and its person has read why and goes on
	}
	return r, l.session(), errors.Join(err, r.Err)
}

// lowest is further down than any terminal has rows: it stops at its last one.
const lowest = 9999

// beginning is what a screen begins with.
type beginning struct {
	items []transcript.Item
	more  bool
	queue []chat.Queued
	stand chat.Stand
}

// model makes the screen.
func (l *link) model(ctx context.Context, b beginning) (*chat.Model, error) {
	a, style := l.app, l.app.Styles()
	dir := l.dir
	if dir == "" {
		var err error
		if dir, err = a.Workdir(); err != nil {
			return nil, err
		}
		l.dir = dir
	}
	if l.id == "" {
		b.stand = l.cfg.New
		b.stand.Branch = l.branch()
	}
	draw, diff := markdown.New(style), diffview.New(style)
	talk := transcript.New(transcript.Config{
		Style: style, Prose: prose{draw}, Now: a.Now,
		Diff: func(d transcript.Diff, width int) []string {
			if d.Part {
				return diff.ComparePart(d.Old, d.New, d.Name).Lines(width)
			}
			return diff.Lines(d.Old, d.New, d.Name, width)
		},
	})
	talk.Prepend(b.items)
	for _, text := range l.cfg.Notes() {
		talk.Put(transcript.Item{ID: "note at the start " + text, Kind: transcript.Note, Text: text})
	}
	in := composer.New(composer.Config{
		Source: NewWriting(l.home, dir, a.Getenv("HOME"), a.Now), Now: a.Now, Styles: style, Commands: offered(l.commands()),
		Hint:   "what is to be done?  enter sends, / commands, @ files, ? help",
		Editor: Editor(a.Getenv), Temp: Temp(""),
	})
	sw := l.cfg.Set.UI.Switches()
	l.notifier = notify.New(notify.Config{
		Title: sw.Title, Bell: sw.Bell, Notify: sw.Notify, Status: sw.Status, Passthrough: sw.Passthrough, Getenv: a.Getenv, Now: a.Now,
	})
	if l.id != "" {
		l.waits = l.asks()
	}
	draft, send := draftOf(l.cfg.Prompt), true
	if draft.Empty() {
		draft, send = l.written(), false
	}
	return chat.New(chat.Config{
		Style: style, Link: l, Composer: in, Transcript: talk, Asks: l.waits, Notify: l.notifier, Commands: l.commands(),
		Queue: b.queue, Stand: b.stand, Inline: l.cfg.Inline, More: b.more, Answer: l.cfg.Answer, On: l.cfg.On, Nested: l.cfg.Nested, Draft: draft, Send: send, Rewind: sw.Rewind, NewKey: newKey, Now: a.Now, Context: ctx,
	}), nil
}

// prose draws what the model writes.
type prose struct{ r *markdown.Renderer }

func (p prose) Lines(text string, width int) []string { return p.r.Lines(text, width) }

func (p prose) Stream(width int) transcript.Stream { return markdown.NewStream(p.r, width) }

// CanDraw reports whether the terminal can show a screen.
func CanDraw(a *app.App) bool { return inbox.CanDraw(a) }

// offered are the commands as the composer completes them.
func offered(list []chat.Command) []composer.Command {
	out := make([]composer.Command, len(list))
	for i, c := range list {
		out[i] = composer.Command{Name: c.Name, Args: c.Args, Help: c.Help}
	}
	return out
}

// Halted says in words that nothing goes on before a person says so.
func halted(st *session.State, still bool) string {
	open := st.Turn != nil || len(st.Queue) > 0
	switch stop, why := st.Halt(); {
	case st.Lifecycle == session.LifecyclePaused && open:
		return "the session is paused: enter opens it again and goes on"
	case st.Lifecycle == session.LifecyclePaused:
		return "the session is paused: a message opens it again"
	case stop != "":
		return why + "; enter tries again"
	case still && st.Turn != nil && session.ActivityOf(st) == session.Running:
		return "the turn was left open: enter goes on with it, esc ends it"
	case still && len(st.Queue) > 0:
		return "messages wait: enter goes on with them"
	}
	return ""
}

// draftOf is a text as a message; empty: none.
func draftOf(text string) composer.Draft {
	if text == "" {
		return composer.Draft{}
	}
	return composer.Draft{Parts: []composer.Part{composer.Text(text)}}
}
