package homes

import (
	"context"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/instructions"
	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/window"
	"github.com/perdure/perdure/store"
)

// opening adds what a session begins with to its first events: the instructions of its directory, and what was noted in
// earlier sessions.
func (h *Home) opening(_ context.Context, spec *Spec) {
	if spec.Cwd == "" {
		return
	}
	var files []instructions.File
	if h.cfg.Instructions {
		files = instructed{h.reader()}.Start(spec.Cwd)
	}
	var noted []session.GivenText
	if h.cfg.Memory != "" {
		noted = append(noted, h.remembered(spec.Cwd))
	}
	if given := engine.GivenAtStart(files, noted...); given != nil {
		spec.Events = append([]session.Body{given}, spec.Events...)
	}
}

// remembered is what the memory holds of a directory.
func (h *Home) remembered(dir string) session.GivenText {
	b, err := knowledge.Brief(h.knows(dir))
	if err != nil {
		h.cfg.Log.Warn("the memory could not be read", "directory", dir, "error", err)
	}
	if b.Text == "" {
		return session.GivenText{}
	}
	return window.Give(window.PartMemory, "", b.Text, store.Digest{})
}
