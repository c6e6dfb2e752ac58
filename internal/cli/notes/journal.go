package notes

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
)

// JournalCommand is perdure journal.
func JournalCommand(a *app.App) *cobra.Command {
	p, days := &place{}, 0
	c := &cobra.Command{
		Use: "journal", Short: "The project's journal, the newest day first; journal add TEXT writes to it",
		Long: `The journal of a project is append-only: one heading for each day, items below it. It lies beside the memory, see
perdure memory --help.`,
		Args: app.ExactArgs(0, "no arguments: journal shows, journal add TEXT writes"),
		RunE: func(*cobra.Command, []string) error { return showJournal(a, p, days) },
	}
	c.Flags().IntVar(&days, "days", 0, "the newest `N` days; 0 is all")
	c.Flags().BoolVar(&p.json, "json", false, "print one JSON object a line")
	c.PersistentFlags().StringVar(&p.cwd, "cwd", "", "the project of `DIR` instead of the current directory")
	c.AddCommand(&cobra.Command{
		Use: "add TEXT", Short: "Append an item to today's, such as \"Completed: the migration\"", Args: app.ExactArgs(1, "one text, in quotes; - reads stdin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := textOf(a, args[0])
			if err != nil {
				return err
			}
			m, err := a.Knowledge(p.cwd)
			if err != nil {
				return err
			}
			j := m.Journal()
			repaired, err := j.Add(cmd.Context(), text, a.Clock(a.Now().UnixMilli()))
			if repaired {
				a.Note("the last line of %s was torn: it was closed as it stood", j.File())
			}
			return refused(err)
		},
	})
	return c
}

func showJournal(a *app.App, p *place, n int) error {
	if n < 0 {
		return app.UsageError("days %d: want 1 or more, or 0 for all", n)
	}
	m, err := a.Knowledge(p.cwd)
	if err != nil {
		return err
	}
	days, err := m.Journal().Days(n)
	if err != nil {
		return err
	}
	if len(days) == 0 && !p.json {
		a.Note("nothing is in the journal yet: perdure journal add TEXT")
		return nil
	}
	for i, d := range days {
		if p.json {
			if err := a.JSON(d); err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			say(a, "")
		}
		for line := range strings.Lines(d.String()) {
			say(a, "%s", strings.TrimSuffix(line, "\n"))
		}
	}
	return nil
}
