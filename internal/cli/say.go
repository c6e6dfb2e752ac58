package cli

import (
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/cli/display"
)

// note writes one line for the eyes. What others wrote in it is made safe for a terminal.
func (a *App) note(format string, args ...any) {
	_, _ = fmt.Fprintln(a.Stderr, "perdure: "+display.Safe(fmt.Sprintf(format, args...)))
}

// hint writes a line that says what to do.
func (a *App) hint(format string, args ...any) {
	_, _ = fmt.Fprintln(a.Stderr, "  "+display.Safe(fmt.Sprintf(format, args...)))
}

// json prints one value as one line.
func (a *App) json(v any) error { return display.Encoder(a.Stdout).Encode(v) }

// linef prints one line of a result.
func (a *App) linef(format string, args ...any) { _, _ = fmt.Fprintf(a.Stdout, format+"\n", args...) }

// table prints rows in aligned columns, as wide as the terminal; the first row are their heads.
func (a *App) table(rows [][]string) error {
	columns, _ := a.size()
	return display.Table(a.Stdout, columns, rows)
}

// quoteOutput shows what a command printed, each line marked as its own words.
func (a *App) quoteOutput(out string) {
	if out == "" {
		return
	}
	for line := range strings.Lines(out) {
		a.hint("  > %s", display.Line(line, 200))
	}
}

// command is a complete command line of this program for this home.
func (a *App) command(args ...string) string {
	words := []string{"perdure"}
	if v := a.getenv("PERDURE_HOME"); v != "" {
		words = []string{"PERDURE_HOME=" + display.Quote(v), "perdure"}
	}
	for _, w := range args {
		words = append(words, display.Quote(w))
	}
	return strings.Join(words, " ")
}
