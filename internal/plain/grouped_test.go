package plain

import (
	"testing"
)

// Goal: one of a thing is one, and more have their plural and digits in groups.
func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"1 directory": Count(1, "directory"), "2 directories": Count(2, "directory"), "0 lines": Count(0, "line"),
		"1,234 lines": Count(1234, "line"), "1 process": Count(1, "process"), "3 processes": Count(3, "process"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
