package homes

import (
	"context"

	"github.com/perdure/perdure/internal/engine"
)

// WithCaptures gives a config whose home keeps the files of its sessions by c.
func WithCaptures(cfg Config, c engine.Captures) Config {
	cfg.captures = c
	return cfg
}

// SweepAtEnd does what the end of a process does for blobs.
func (h *Home) SweepAtEnd(over int64) { h.sweepAtEnd(over) }

// WithCrash gives a config whose home calls crash between two steps of a deletion.
func WithCrash(cfg Config, crash func(step string)) Config {
	cfg.crash = crash
	return cfg
}

// WithFault gives a config whose home asks fault before each step of a change of what is known of a project.
func WithFault(cfg Config, fault func(step string) error) Config {
	cfg.fault = fault
	return cfg
}

// Captured is the store of captured files, as bundles need it.
type Captured = captured

// Capturing puts things into it.
type Capturing = capturing

// WithCaptured gives a config whose home has captured files.
func WithCaptured(cfg Config, c Captured) Config {
	cfg.captured = c
	return cfg
}

// OnSystem gives a config of a home on a system that refuses commands and captures with an error.
func OnSystem(cfg Config, refusal error) Config {
	cfg.elsewhere = refusal
	return cfg
}

// RoomOf is what is counted of what a session holds alone, and whether anything is.
func (h *Home) RoomOf(id string) (int64, bool) {
	r, known := h.readRoom(id)
	return r.bytes(), known
}

// HeldAlone is what it really holds.
func (h *Home) HeldAlone(ctx context.Context, id string) (int64, error) {
	all, err := h.heldAlone(ctx, id, []thinning{h.thinningOf(id)})
	if err != nil {
		return 0, err
	}
	return all[0], nil
}
