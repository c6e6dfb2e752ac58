package app

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/cli/display"
	safe "github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// Coloured reports whether colours may be printed: stdout is a screen, and neither NO_COLOR nor TERM=dumb is set.
func (a *App) Coloured() bool {
	return a.Screen && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
}

// Styles are the colours of stdout; none where it takes none.
func (a *App) Styles() theme.Styles {
	if a.Coloured() {
		return theme.Colours()
	}
	return theme.Plain()
}

// When is a time in ms UTC as a person at this screen reads it: today 14:03, yesterday 14:03, Mon 12 Nov 14:03, and with
// its year if that is another one. Off a screen, where it may be read another day, it is Local.
func (a *App) When(ms int64) string {
	if !a.Screen {
		return a.Local(ms)
	}
	at, now := a.Clock(ms), a.Clock(a.Now().UnixMilli())
	switch midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location()); {
	case ms == 0:
		return "-"
	case !at.Before(midnight) && at.Before(midnight.AddDate(0, 0, 1)):
		return at.Format("today 15:04")
	case !at.Before(midnight.AddDate(0, 0, -1)) && at.Before(midnight):
		return at.Format("yesterday 15:04")
	case at.Year() == now.Year():
		return at.Format("Mon 2 Jan 15:04")
	}
	return at.Format("2 Jan 2006 15:04")
}

// minText is the room, in cells, below which a text beside a name is not wrapped: there the terminal does it.
const minText = 12

// Beside prints a text beside what stands before it, wrapped at the width of the screen, so that the lines after the
// first begin where the text began. before is taken to be width cells wide. The text is shown on one line otherwise.
func (a *App) Beside(before string, width int, text string) {
	columns, _ := a.Window()
	if columns == 0 || columns-width < minText {
		a.Linef("%s%s", before, text)
		return
	}
	for i, line := range strings.Split(ansi.Wrap(text, columns-width, " /"), "\n") {
		if i > 0 {
			before = strings.Repeat(" ", width)
		}
		a.Linef("%s%s", before, strings.TrimRight(line, " "))
	}
}

// Block prints a text of others line by line behind so many blanks, wrapped at the width of the screen, so that none of
// its lines can pass for one of ours.
func (a *App) Block(text string, blanks int) {
	before := strings.Repeat(" ", blanks)
	for line := range strings.Lines(display.Safe(safe.LineEnds(text))) {
		a.Beside(before, blanks, strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    "))
	}
}
