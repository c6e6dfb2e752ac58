//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/perdure/perdure/store"
)

// TestStoppedHolder: a holder that was stopped is alive and keeps its session; taken over by force, it is fenced when
// it wakes.
func TestStoppedHolder(t *testing.T) {
	home := t.TempDir()
	s := mustOpen(t, home, Config{})
	defer func() { _ = s.Close() }()
	if err := s.Create(t.Context(), store.NewSession{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	p := start(t, "held:a", home)
	if got := p.line(); got != "ready 0" {
		t.Fatalf("child says %q", got)
	}
	if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	_, err := s.Acquire(t.Context(), "a")
	var held *store.HeldError
	if !errors.As(err, &held) || held.Holder.PID != p.Process.Pid || held.Holder.Alive != store.Alive {
		t.Fatalf("acquire: %v", err)
	}
	l, err := s.Takeover(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	mine := &log{t: t, s: s, lease: l, head: l.Info.Head}
	mine.must(1)
	if err := p.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(p.in, "append")
	if got := p.line(); got != "fenced true" {
		t.Errorf("child says %q", got)
	}
	mine.must(1)
	if got, err := readAll(s, "a"); err != nil || !same(got, mine.acked) {
		t.Errorf("%d events, %v", len(got), err)
	}
}
