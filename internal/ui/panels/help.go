package panels

import (
	"context"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// Section is a part of the help: keys or commands that belong together.
type Section struct {
	Title string
	Keys  []theme.Key
}

// NewHelp is the page of the keys and commands.
func NewHelp(cfg Config, sections []Section) *Page {
	p := &Page{cfg: cfg, title: "Help", opens: "whole"}
	p.load = func(context.Context) (filled, error) { return helpRows(cfg.Styles, sections), nil }
	p.take(loadedMsg{got: helpRows(cfg.Styles, sections)})
	return p
}

func helpRows(s theme.Styles, sections []Section) filled {
	f := filled{none: "nothing to press"}
	const narrowest, widest = 8, 24
	press := narrowest
	for _, sec := range sections {
		for _, k := range sec.Keys {
			press = min(max(press, ansi.StringWidth(k.Press)), widest)
		}
	}
	for _, sec := range sections {
		if len(f.rows) > 0 {
			f.rows = append(f.rows, blank())
		}
		f.rows = append(f.rows, heading(s, plain.Shown(sec.Title, 60)))
		for _, k := range sec.Keys {
			f.rows = append(f.rows, helpRow(s, k, press, sec.Title))
		}
	}
	return f
}

// helpRow is a key and what it does, in as many lines as that takes.
func helpRow(s theme.Styles, k theme.Key, press int, section string) row {
	lines := func(width int) []string {
		left := min(press, width/2)
		does := theme.Wrap(plain.Shown(k.Does, 500), max(width-left-2, 1))
		for i, l := range does {
			if i == 0 {
				does[i] = s.Accent.Styled(theme.Fit(plain.Shown(k.Press, 100), left)) + "  " + l
			} else {
				does[i] = theme.Fit("", left) + "  " + l
			}
		}
		return does
	}
	return row{
		key: k.Press, find: k.Press + " " + k.Does + " " + section, text: words(k.Press + "\n\n" + k.Does),
		draw: func(width int) string { return lines(width)[0] },
		rest: func(width int) []string { return lines(width)[1:] },
	}
}
