package engine_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/modelapi"
)

// Goal: a session that nobody holds any more leaves no empty directory for its streams; one with something in it stays.
func TestNoEmptyDirectoryOfStreamsStays(t *testing.T) {
	for _, other := range []bool{false, true} {
		dir := t.TempDir()
		s := newStage(t, reply(modelapi.StopEndTurn, text("hello")))
		s.config = func(c *engine.Config) { c.SideDir = dir }
		_, se := s.start("go")
		run(t, se)
		mine := filepath.Join(dir, "s")
		if info, err := os.Stat(mine); err != nil || !info.IsDir() {
			t.Fatalf("no stream was kept: %v", err)
		}
		if other {
			if err := os.WriteFile(filepath.Join(mine, "t9.s1.a1.stream"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(mine); (err == nil) != other {
			t.Errorf("with a stream left: %v; the directory: %v", other, err)
		}
	}
}
