package sqlite

import (
	"path/filepath"
	"testing"
)

// What is not there is no damaged database either.
func TestNothingIsNoDamagedDatabase(t *testing.T) {
	cfg, err := Config{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "none.db")} {
		if c, err := openDamaged(cfg, path); err == nil || c != nil {
			t.Errorf("%s: %v, %v", path, c, err)
		}
	}
}
