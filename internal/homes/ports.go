package homes

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/ports"
	"github.com/perdure/perdure/store"
)

// portTable is where the ranges of ports of this home's sessions are kept.
func (h *Home) portTable() ports.Table {
	now := h.cfg.Now
	if now == nil {
		now = time.Now
	}
	return ports.Table{Dir: filepath.Join(h.dir, "ports"), Live: h.lives, Now: now}
}

// ports are a session's: a hint for its servers, which no other session of this home gets.
func (h *Home) ports(sessionID string, idle bool) (first, last int, err error) {
	r, err := h.portTable().Take(sessionID, idle)
	return r.First, r.Last, err
}

// FreePorts gives back a session's range of ports, when it is closed or deleted.
func (h *Home) FreePorts(sessionID string) error { return h.portTable().Drop(sessionID) }

// lives reports whether a session has a holder or a command that runs. In doubt it has.
func (h *Home) lives(sessionID string) bool {
	info, err := h.store.Get(context.Background(), sessionID)
	if errors.Is(err, store.ErrNotFound) {
		return false
	}
	if err != nil || info.Holder != nil && info.Holder.Alive != store.Dead || h.runner == nil {
		return true
	}
	acts, err := h.runner.List(sessionID)
	for _, act := range acts {
		st, stErr := h.runner.State(sessionID, act)
		if stErr != nil || st.Status == command.Running || st.Stragglers > 0 {
			return true
		}
	}
	return err != nil
}
