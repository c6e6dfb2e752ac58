package tasks

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/ui/taskpanel"
)

func watchCommand(a *app.App) *cobra.Command {
	var reader string
	c := &cobra.Command{
		Use: "watch [SESSION]", Short: "Watch tasks live, see what they print, end and restart them", Args: app.RangeArgs(0, 1, "at most one session"),
		Long: "Shows the tasks of a session, or of all, as they are now: state, age, processor, memory, ports, what they printed\n" +
			"since it was looked at here, and the newest output of the selected one. ? shows the keys.\n\n" +
			"What was looked at is remembered for --reader, and is apart from what task output --new has shown. CPU is of\n" +
			"one processor over the last look. NO_COLOR is heeded.",
		Example: "  perdure task watch\n  perdure task watch web",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !a.Terminal || !a.Screen || a.Getenv("TERM") == "dumb" {
				return &app.ExitError{
					Code: app.ExitUsage, Text: "task watch needs a terminal that it can draw on",
					Hint: "perdure task list shows the same once, --json for programs",
				}
			}
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error { return watchTasks(ctx, a, h, reader, args) })
		},
	}
	c.Flags().StringVar(&reader, "reader", "watch", "whose unread output is counted")
	return c
}

func watchTasks(ctx context.Context, a *app.App, h *homes.Home, reader string, args []string) error {
	source := newWatchSource(a, h, reader)
	title := ""
	if len(args) > 0 {
		id, err := a.Resolve(ctx, h, args[0])
		if err != nil {
			return err
		}
		source.session, title = id, args[0]
	}
	screen := &watchScreen{panel: taskpanel.New(taskpanel.Config{Source: source, Title: title, Now: a.Now})}
	return errors.Join(a.Show(ctx, screen), source.close(context.WithoutCancel(ctx)))
}

// watchScreen gives the panel a whole terminal.
type watchScreen struct{ panel *taskpanel.Model }

func (s *watchScreen) Init() tea.Cmd { return s.panel.Init() }

func (s *watchScreen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.panel.SetSize(msg.Width, msg.Height)
		return s, nil
	case tea.KeyPressMsg:
		switch key := msg.String(); {
		case key == "ctrl+c", key == "q" && !s.panel.Typing():
			return s, tea.Quit
		case key == "ctrl+z":
			return s, tea.Suspend
		}
	}
	return s, s.panel.Update(msg)
}

func (s *watchScreen) View() tea.View {
	v := tea.NewView(s.panel.View())
	v.AltScreen = true
	v.Cursor = s.panel.Cursor()
	return v
}
