package homes

import (
	"path/filepath"

	"github.com/perdure/perdure/internal/instructions"
	"github.com/perdure/perdure/internal/knowledge"
)

// reader reads the files that people keep for agents.
func (h *Home) reader() instructions.Reader {
	config := h.getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		if config = h.getenv("HOME"); filepath.IsAbs(config) {
			config = filepath.Join(config, ".config")
		}
	}
	if !filepath.IsAbs(config) {
		return instructions.Reader{}
	}
	return instructions.Reader{User: filepath.Join(config, "perdure", "AGENTS.md")}
}

// instructed gives the engine instructions.
type instructed struct{ r instructions.Reader }

func (i instructed) Start(dir string) []instructions.File {
	return i.r.Start(knowledge.Root(dir), dir)
}

func (i instructed) Below(dir, at string) (instructions.File, bool) {
	f, err := instructions.Below(knowledge.Root(dir), at)
	return f, err == nil && f.Text != ""
}

func (i instructed) Told(dir string) []string { return instructions.Linked(knowledge.Root(dir)) }

func (i instructed) Gone(path string) bool { return instructions.Gone(path) }
