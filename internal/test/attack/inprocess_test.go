package attack_test

import (
	"fmt"

	"github.com/perdure/perdure/internal/homes"
)

// open opens the world's home in this process.
func (w *world) open(cfg homes.Config) *homes.Home {
	w.t.Helper()
	cfg.Environ = w.environ()
	h, err := homes.Open(w.t.Context(), w.home, cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := h.Close(); err != nil {
			w.t.Error(err)
		}
	})
	return h
}

// send puts messages into a session's inbox and returns how many were accepted.
func (w *world) send(id string, n int) (accepted int) {
	w.t.Helper()
	h := w.open(homes.Config{})
	for i := range n {
		if _, err := h.Send(w.t.Context(), id, "", fmt.Sprintf("message %d", i)); err == nil {
			accepted++
		}
	}
	return accepted
}
