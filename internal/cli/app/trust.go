package app

import (
	"path/filepath"

	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/settings"
)

// maxWould bounds the lines that say what a project's file would let hold.
const maxWould = 50

// TellWould says on stderr what a project's file lets hold once it is trusted.
func (a *App) TellWould(p settings.Project) {
	for i, text := range p.Would {
		if i == maxWould {
			a.Hint("and %s: read %s before you trust it", display.Count(int64(len(p.Would)-i), "more line"), display.Line(filepath.Join(p.Dir, ".perdure", "config.toml"), 500))
			return
		}
		a.Hint("%s", display.Shown(text, 300))
	}
}
