package sessions

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/theme"
	"github.com/perdure/perdure/store"
)

// logFlags are what log is asked to print.
type logFlags struct {
	follow, json, ancestors bool
	from, tail              int64
}

// LogCommand is perdure log.
func LogCommand(a *app.App) *cobra.Command {
	f := &logFlags{}
	c := &cobra.Command{
		Use: "log ID", Short: "Print a session's events", Args: app.ExactArgs(1, "a session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.from < 1:
				return app.UsageError("--from %d: events are numbered from 1", f.from)
			case f.tail < 0 || f.tail == 0 && cmd.Flags().Changed("tail"):
				return app.UsageError("--tail %d: want at least 1 event", f.tail)
			case f.tail > 0 && cmd.Flags().Changed("from"):
				return app.UsageError("--tail and --from both say where to begin: give one")
			}
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				if f.follow {
					return a.WhileRead(ctx, func(ctx context.Context) error { return log(ctx, a, h, id, f) })
				}
				if f.json {
					return log(ctx, a, h, id, f)
				}
				return a.Paged(func() error { return log(ctx, a, h, id, f) })
			})
		},
	}
	fs := c.Flags()
	fs.BoolVarP(&f.follow, "follow", "f", false, "go on with each event as it becomes durable, until interrupted")
	fs.BoolVar(&f.json, "json", false, "print one JSON object a line")
	fs.Int64Var(&f.from, "from", 1, "begin with this `SEQ` of the session's own events")
	fs.Int64VarP(&f.tail, "tail", "n", 0, "only the newest `N` of the session's own events")
	fs.BoolVar(&f.ancestors, "ancestors", false, "of a fork, the events that it began with before its own")
	return c
}

// maxAncestors bounds a chain of forks, as the engine does.
const maxAncestors = 1000

func log(ctx context.Context, a *app.App, h *homes.Home, id string, f *logFlags) (err error) {
	p := &logPrinter{app: a, out: bufio.NewWriterSize(a.Stdout, 64<<10), json: f.json, named: f.ancestors}
	from := f.from
	if f.tail > 0 {
		info, err := h.Store().Get(ctx, id)
		if err != nil {
			return err
		}
		from = max(1, info.Head.Seq-f.tail+1)
	}
	defer func() {
		if ferr := p.out.Flush(); err == nil {
			err = ferr
		}
	}()
	if f.ancestors {
		past, err := Ancestors(ctx, h, id)
		if err != nil {
			return err
		}
		for _, r := range past {
			if err := p.print(r.Session, h.Events(ctx, r.Session, 1, r.To)); err != nil {
				return err
			}
		}
	}
	if f.follow {
		p.live = true
		return p.print(id, h.Follow(ctx, id, from))
	}
	return p.print(id, h.Events(ctx, id, from, 0))
}

// Ancestors are the ranges that a fork began with, the oldest first.
func Ancestors(ctx context.Context, h *homes.Home, id string) ([]session.Range, error) {
	var out []session.Range
	for range maxAncestors {
		info, err := h.Store().Get(ctx, id)
		if err != nil {
			return nil, err
		}
		if info.Parent == nil {
			return out, nil
		}
		id = info.Parent.Session
		out = append([]session.Range{{Session: id, From: 1, To: info.Parent.Seq}}, out...)
	}
	return nil, fmt.Errorf("session %s has more than %d ancestors", id, maxAncestors)
}

// logPrinter prints events.
type logPrinter struct {
	app   *app.App
	out   *bufio.Writer
	json  bool
	named bool   // each line names its session
	live  bool   // each event is shown at once
	day   string // that was shown last
}

func (p *logPrinter) print(id string, events iter.Seq2[store.Event, error]) error {
	for ev, err := range events {
		if err != nil {
			return err
		}
		if err := p.event(id, ev); err != nil {
			return err
		}
		if p.live {
			if err := p.out.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *logPrinter) event(id string, ev store.Event) error {
	if p.json {
		line := session.EventView(ev, nil)
		if p.named {
			line.Session = id
		}
		return display.Encoder(p.out).Encode(line)
	}
	if p.named {
		if _, err := io.WriteString(p.out, id+"  "); err != nil {
			return err
		}
	}
	if columns, _ := p.app.Window(); columns > 0 && !p.named {
		return p.onScreen(ev, columns)
	}
	at := p.app.Clock(ev.Time).Format("2006-01-02 15:04:05.000Z07:00")
	_, err := fmt.Fprintf(p.out, "%5d  %s  %-19s  %-6s  %s\n", ev.Seq, at, display.Line(string(ev.Kind), 40), ev.Actor.Type, display.Line(session.Summary(ev), 160))
	return err
}

// onScreen prints an event as wide as the screen: its day once, when another one begins, and what has no room is cut off.
func (p *logPrinter) onScreen(ev store.Event, columns int) error {
	look := p.app.Styles()
	at := p.app.Clock(ev.Time)
	if day := at.Format("Mon 2 Jan 2006, -07:00"); day != p.day {
		p.day = day
		if _, err := fmt.Fprintf(p.out, "%s\n", look.Title.Styled(day)); err != nil {
			return err
		}
	}
	clock, kind, actor := at.Format("15:04:05.000"), 19, 6
	switch {
	case columns < 60: // the words have a line of their own
		line := look.Quiet.Styled(fmt.Sprintf("%5d  %s", ev.Seq, at.Format("15:04:05"))) + "  " + p.kindStyle(ev).Styled(display.Line(string(ev.Kind), 40))
		_, err := fmt.Fprintf(p.out, "%s\n%s\n", theme.Cut(line, columns), theme.Cut("       "+display.Line(session.Summary(ev), 160), columns))
		return err
	case columns < 90:
		clock, actor = at.Format("15:04:05"), 0
	}
	line := look.Quiet.Styled(fmt.Sprintf("%5d  %s", ev.Seq, clock)) + "  " + p.kindStyle(ev).Styled(theme.Fit(display.Line(string(ev.Kind), 40), kind)) + "  "
	if actor > 0 {
		line += look.Quiet.Styled(theme.Fit(string(ev.Actor.Type), actor)) + "  "
	}
	line += display.Line(session.Summary(ev), max(160, columns))
	_, err := fmt.Fprintln(p.out, strings.TrimRight(theme.Cut(line, columns), " "))
	return err
}

// kindStyle makes seen what people look for: their own words, what waits for them, what went wrong.
func (p *logPrinter) kindStyle(ev store.Event) ansi.Style {
	look := p.app.Styles()
	switch ev.Kind {
	case session.KindMessageReceived, session.KindTurnStarted, session.KindTurnEnded:
		return look.Bold
	case session.KindApprovalRequested, session.KindQuestionAsked:
		return look.Warn
	case session.KindModelFailed, session.KindModelLost, session.KindToolUnknown:
		return look.Bad
	}
	return look.Accent
}
