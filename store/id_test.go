package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/perdure/perdure/store"
)

// Goal: an id is one harmless path element, whatever the caller thought of.
func TestValidID(t *testing.T) {
	for _, id := range []string{"a", "0", "my-session_1.2", "01a200bb-be00-7366-bc58-639e3e950621", strings.Repeat("x", 128)} {
		if err := store.CheckID(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, id := range []string{
		"", ".", "..", ".hidden", "-flag", "_x", "../../escaped", "a/b", `a\b`, "a b", "a\x00", "a\n", "\x1b[2J", "é", "a:b",
		strings.Repeat("x", 129),
	} {
		if err := store.CheckID(id); !errors.Is(err, store.ErrBadID) {
			t.Errorf("%q: %v", id, err)
		}
	}
}
