package homes

import (
	"path/filepath"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
)

// A look at whether anything was written tells of what another opening of the home wrote, and nothing where nobody did.
func TestTouched(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	open := func() *Home {
		h, err := Open(t.Context(), dir, Config{Environ: []string{}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close() })
		return h
	}
	one, other := open(), open()
	cwd := t.TempDir()
	create := func(id string) {
		t.Helper()
		if _, err := other.Create(t.Context(), engine.Spec{ID: id, Cwd: cwd, Agent: session.Agent{Provider: "p", Model: "m", MaxTokens: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	was := one.Touched()
	create("a")
	made := one.Touched()
	create("b")
	again := one.Touched()
	if was == made || made == again || again != one.Touched() {
		t.Errorf("%q, %q, %q, %q", was, made, again, one.Touched())
	}
	if _, err := one.Send(t.Context(), "a", "", "hello"); err != nil {
		t.Fatal(err)
	}
	if other.Touched() == again {
		t.Error("a message does not show")
	}
}
