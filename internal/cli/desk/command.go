// Package desk is perdure board: all sessions of a home by what they need, live on a terminal, once as text or JSON
// elsewhere.
package desk

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/ui/board"
	"github.com/perdure/perdure/internal/ui/theme"
)

// Opener opens a session that was chosen on the board, or what waits in it, over the home that is open. The terminal is
// an ordinary one while it runs; the board comes back when it returns.
type Opener func(ctx context.Context, a *app.App, h *homes.Home, id string, answer bool) error

// Command is perdure board. Without an opener it says what to type.
func Command(a *app.App, open Opener) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "board", Short: "Show all sessions by what they need: live on a terminal, else once", Args: app.ExactArgs(0, "no arguments"),
		Long: `Shows the sessions of this home: those that wait for you, those that work, those that have ended since the board
was left last, and the others, with the newest words of the selected one. ? shows the keys. Without a terminal it prints
them once, by groups; --json prints one object a line.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error {
				s := newSource(a, h)
				switch {
				case asJSON:
					return printJSON(ctx, a, s)
				case !a.Terminal || !a.Screen || a.Getenv("TERM") == "dumb":
					return print(ctx, a, s)
				}
				defer s.seenNow()
				return live(ctx, a, h, s, open)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return c
}

// live shows the board until a person leaves it.
func live(ctx context.Context, a *app.App, h *homes.Home, s *source, open Opener) error {
	for {
		sc := &screen{page: board.New(board.Config{Source: s, Now: a.Now, Styles: theme.Colours()})}
		err := a.Show(ctx, sc)
		sc.page.Close()
		switch {
		case err != nil || sc.open == "":
			return err
		case open == nil && sc.answer:
			a.Hint("perdure approvals list %s shows what waits, perdure approvals allow %s or perdure answer %s answers it", sc.open, sc.open, sc.open)
			return nil
		case open == nil:
			a.Hint("perdure attach %s looks on; perdure -r %s goes on with it", sc.open, sc.open)
			return nil
		}
		if err := open(ctx, a, h, sc.open, sc.answer); err != nil {
			return err
		}
	}
}

// screen gives the page a whole terminal.
type screen struct {
	page   *board.Model
	open   string // the session that was chosen; empty: a person leaves
	answer bool
}

func (s *screen) Init() tea.Cmd { return s.page.Init() }

func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.page.SetSize(msg.Width, msg.Height)
		return s, nil
	case board.OpenMsg:
		s.open = msg.ID
		return s, tea.Quit
	case board.AnswerMsg:
		s.open, s.answer = msg.ID, true
		return s, tea.Quit
	case board.LeaveMsg:
		return s, tea.Quit
	case tea.KeyPressMsg:
		switch msg.String() {
		case "ctrl+c":
			return s, tea.Quit
		case "ctrl+z":
			return s, tea.Suspend
		}
	}
	return s, s.page.Update(msg)
}

func (s *screen) View() tea.View {
	v := tea.NewView(s.page.View())
	v.AltScreen = true
	v.Cursor = s.page.Cursor()
	return v
}

// print prints the board once.
func print(ctx context.Context, a *app.App, s *source) error {
	rows, _, err := s.List(ctx)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		a.Note("no sessions")
		a.Hint("perdure start \"PROMPT\" lets one run in the background")
		return nil
	}
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	short := a.ShortIDs(ids)
	table := [][]string{{"NEEDS", "ID", "NAME", "STATUS", "UPDATED", "COST", "DIRECTORY", "ABOUT"}}
	more := 0
	for i, r := range inGroups(rows) {
		if r.Group == board.Rests && i >= mostPrinted {
			more++
			continue
		}
		table = append(table, []string{
			r.Group.String(), short(r.ID), r.Title, r.Status, a.Age(r.Since.UnixMilli()), r.Cost, r.Dir, r.About,
		})
	}
	columns, _ := a.Window()
	if err := a.Table(display.Narrow(table, columns, "COST", "DIRECTORY", "ABOUT")); err != nil {
		return err
	}
	if more > 0 {
		a.Note("and %d more that are idle: perdure list", more)
	}
	return nil
}

// mostPrinted bounds the rows that are printed if idle sessions are among them.
const mostPrinted = 50

// item is a line of board --json.
type item struct {
	ID         string `json:"id"`
	Group      string `json:"group"` // waits, works, news or rests
	Title      string `json:"title"`
	Cwd        string `json:"cwd"`
	Status     string `json:"status"`
	About      string `json:"about,omitempty"`
	Background bool   `json:"background"`
	Updated    string `json:"updated_at"`
}

func printJSON(ctx context.Context, a *app.App, s *source) error {
	s.tilde = func(dir string) string { return dir }
	rows, _, err := s.List(ctx)
	if err != nil {
		return err
	}
	names := map[board.Group]string{board.Waits: "waits", board.Works: "works", board.News: "news", board.Rests: "rests"}
	for _, r := range inGroups(rows) {
		err := a.JSON(item{
			ID: r.ID, Group: names[r.Group], Title: r.Title, Cwd: r.Dir, Status: r.Status, About: r.About, Background: r.Background,
			Updated: r.Since.UTC().Format("2006-01-02T15:04:05.000Z"),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// since is a time of the store.
func since(ms int64) time.Time { return time.UnixMilli(ms) }
