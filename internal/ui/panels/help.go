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
			draw := func(width int) string {
				return theme.Cut(s.Accent.Styled(theme.Fit(plain.Shown(k.Press, 100), min(press, width/2)))+"  "+plain.Shown(k.Does, 500), width)
			}
			f.rows = append(f.rows, row{key: k.Press, find: k.Press + " " + k.Does + " " + sec.Title, draw: draw, text: words(k.Press + "\n\n" + k.Does)})
		}
	}
	return f
}
