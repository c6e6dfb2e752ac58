package app

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
)

// Logger tells a person on stderr of what went wrong beside the work that was asked for: each warning as one line.
func (a *App) Logger() *slog.Logger { return slog.New(&warnings{app: a}) }

// warnings is a handler of log records of which only warnings and errors are shown.
type warnings struct {
	app   *App
	attrs []slog.Attr
}

func (*warnings) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

func (w *warnings) Handle(_ context.Context, r slog.Record) error {
	var more []string
	add := func(at slog.Attr) bool {
		more = append(more, fmt.Sprintf("%s %v", at.Key, at.Value))
		return true
	}
	for _, at := range w.attrs {
		add(at)
	}
	r.Attrs(add)
	text := r.Message
	if len(more) > 0 {
		text += " (" + strings.Join(more, ", ") + ")"
	}
	w.app.Note("%s", text)
	return nil
}

func (w *warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &warnings{app: w.app, attrs: append(append([]slog.Attr{}, w.attrs...), attrs...)}
}

func (w *warnings) WithGroup(string) slog.Handler { return w }
