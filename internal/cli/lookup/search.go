// Package lookup is perdure search: words, found in all that a home knows.
package lookup

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/search"
	"github.com/perdure/perdure/internal/settings"
)

// flags are what search is asked.
type flags struct {
	in            []string
	cwd           string
	limit         int
	json, rebuild bool
}

// Command is perdure search.
func Command(a *app.App) *cobra.Command {
	f := &flags{}
	c := &cobra.Command{
		Use: "search WORDS...", Short: "Find words in all sessions, memories, journals and handoffs",
		Long: `Find the texts in which all the words stand: what you and agents said, tool calls with their results, names of
sessions, memory, journal and handoffs. Case and accents do not matter, the beginning is enough of the last word, and
what is in double quotes stands as it is. The best come first, and of those that are as good the newest.`,
		Example: "  perdure search flaky date parser\n" +
			"  perdure search '\"connection refused\"' --cwd .\n" +
			"  perdure search postgres --in memory,journal\n" +
			"  perdure search deploy --json | jq -r .session_id",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.options(a, args)
			if err != nil {
				return err
			}
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error { return run(ctx, a, h, o, f.json) })
		},
	}
	fs := c.Flags()
	fs.StringSliceVar(&f.in, "in", nil, "only in `KINDS`: sessions, memory, journal, handoffs; may be repeated")
	fs.StringVar(&f.cwd, "cwd", "", "only what is about `DIR`, or a directory below it")
	fs.IntVar(&f.limit, "limit", 20, "at most `N` hits, up to 1000")
	fs.BoolVar(&f.json, "json", false, "print one JSON object a line")
	fs.BoolVar(&f.rebuild, "rebuild", false, "make the index of words anew first; needs no WORDS")
	return c
}

// options checks what was asked for.
func (f *flags) options(a *app.App, args []string) (o homes.SearchOptions, err error) {
	o = homes.SearchOptions{Query: strings.TrimSpace(strings.Join(args, " ")), Limit: f.limit, In: f.in, Rebuild: f.rebuild}
	switch {
	case o.Query == "" && !f.rebuild:
		return o, &app.ExitError{Code: app.ExitUsage, Text: "want words to search for", Hint: "perdure search WORDS"}
	case f.limit < 1 || f.limit > search.MaxHits:
		return o, app.UsageError("limit %d: want 1 to %d", f.limit, search.MaxHits)
	}
	for _, kind := range f.in {
		if !slices.Contains(search.Kinds(), kind) {
			return o, app.UsageError("in %q: want one of %s", kind, strings.Join(search.Kinds(), ", "))
		}
	}
	if f.cwd != "" {
		if o.Cwd, err = a.Directory(f.cwd); err != nil {
			return o, err
		}
	}
	set, err := settings.Load(settings.UserFile(a.Getenv), "")
	o.InProject = err == nil && (set.Knowledge.InProject() || set.Knowledge.Asks()) // a file that cannot be read has been told of
	return o, nil
}

func run(ctx context.Context, a *app.App, h *homes.Home, o homes.SearchOptions, asJSON bool) error {
	o.Progress = progress(a)
	found, err := h.Search(ctx, o)
	switch {
	case errors.Is(err, search.ErrNoWords):
		return &app.ExitError{Code: app.ExitUsage, Text: "there is no word in " + display.Quote(o.Query), Hint: "a word has letters or digits"}
	case errors.Is(err, search.ErrTooLong):
		return app.UsageError("%v", search.ErrTooLong)
	case ctx.Err() != nil:
		a.Note("interrupted; what was read is kept, and the next search goes on there")
		return ctx.Err()
	case err != nil:
		return err
	}
	tell(a, found)
	if o.Query == "" {
		a.Note("the index of words is up to date")
		return nil
	}
	if len(found.Hits) == 0 && !asJSON {
		a.Note("nothing has these words: %s", display.Line(o.Query, display.MaxCell))
		if strings.ContainsAny(o.Query, " ") {
			a.Hint("all of them have to stand in one text; fewer words find more")
		}
	}
	if asJSON {
		for _, hit := range found.Hits {
			if err := a.JSON(lineOf(hit)); err != nil {
				return err
			}
		}
	} else if err := a.Paged(func() error { return showAll(a, found.Hits) }); err != nil {
		return err
	}
	if len(found.Hits) == o.Limit && o.Limit < search.MaxHits {
		a.Note("there may be more: --limit %d", min(o.Limit*5, search.MaxHits))
	}
	return nil
}

// How long the reading of new texts may take in silence, and how often it is told of then.
const (
	silence   = 2 * time.Second
	tellEvery = 5 * time.Second
)

// progress tells of a reading that takes long.
func progress(a *app.App) func(search.Progress) {
	next, told := time.Now().Add(silence), false
	return func(p search.Progress) {
		now := time.Now() // how long somebody has waited, whatever the clock of the home says
		switch {
		case now.Before(next):
		case !p.Waiting:
			next = now.Add(tellEvery)
			a.Note("reading what is new: %s of %s", display.Grouped(p.Done), display.Grouped(p.Total))
		case !told:
			told = true
			a.Note("another search reads what is new: this one waits for it")
		}
	}
}

// tell says what the answer does not have.
func tell(a *app.App, found search.Found) {
	if found.Why != nil {
		a.Note("the index of words cannot be kept, so that all texts were read for this search: %v", found.Why)
		a.Hint("make %s writable, with some room on its disk: the next search is quick then", homeDir(a))
	}
	if found.Left > 0 {
		a.Note("there was no room for %s, those that changed least recently: they were not searched", display.Count(int64(found.Left), "session or file"))
	}
	const most = 5
	for i, err := range found.Unread {
		if i == most {
			a.Note("%d more could not be read", len(found.Unread)-most)
			break
		}
		a.Note("not all was searched: %v", err)
	}
}

func homeDir(a *app.App) string {
	dir, err := a.HomeDir()
	if err != nil {
		return "the home"
	}
	return display.Quote(dir)
}
