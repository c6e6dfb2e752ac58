package app

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/cli/display"
)

// Note writes one line for the eyes. What others wrote in it is made safe for a terminal.
func (a *App) Note(format string, args ...any) {
	a.apart(func() { a.note(fmt.Sprintf(format, args...)) })
}

func (a *App) note(text string) { _, _ = fmt.Fprintln(a.Stderr, "perdure: "+display.Safe(text)) }

// Hint writes a line that says what to do.
func (a *App) Hint(format string, args ...any) {
	a.apart(func() { _, _ = fmt.Fprintln(a.Stderr, "  "+display.Safe(fmt.Sprintf(format, args...))) })
}

// JSON prints one value as one line.
func (a *App) JSON(v any) (err error) {
	a.apart(func() { err = display.Encoder(a.Stdout).Encode(v) })
	return err
}

// Linef prints one line of a result.
func (a *App) Linef(format string, args ...any) {
	a.apart(func() { _, _ = fmt.Fprintf(a.Stdout, format+"\n", args...) })
}

// Table prints rows in aligned columns, as wide as the terminal; the first row are their heads.
func (a *App) Table(rows [][]string) error {
	return a.TableWith(rows, nil)
}

// TableWith is Table with colours: look gives that of a cell by the head of its column. Heads are bold.
func (a *App) TableWith(rows [][]string, look func(head, cell string) ansi.Style) error {
	columns, _ := a.Window()
	if !a.Coloured() {
		look = nil
	}
	return display.Table(a.Stdout, columns, rows, look)
}

// QuoteOutput shows what a command printed, each line marked as its own words.
func (a *App) QuoteOutput(out string) {
	if out == "" {
		return
	}
	for line := range strings.Lines(out) {
		a.Hint("  > %s", display.Line(line, 200))
	}
}

// Command is a complete command line of this program for this home.
func (a *App) Command(args ...string) string {
	words := []string{"perdure"}
	if v := a.Getenv("PERDURE_HOME"); v != "" {
		words = []string{"PERDURE_HOME=" + display.Quote(v), "perdure"}
	}
	for _, w := range args {
		words = append(words, display.Quote(w))
	}
	return strings.Join(words, " ")
}
