package store_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/perdure/perdure/store"
)

// Goal: an id is one harmless path element, whatever the caller thought of.
func TestValidID(t *testing.T) {
	for _, id := range []string{
		"a", "z", "A", "Z", "0", "9", "my-session_1.2", "azAZ09", "01a200bb-be00-7366-bc58-639e3e950621", strings.Repeat("x", 128),
	} {
		if err := store.CheckID(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, id := range []string{
		"", ".", "..", ".hidden", "-flag", "_x", "../../escaped", "a/b", `a\b`, "a b", "a\x00", "a\n", "\x1b[2J", "é", "a:b", "a`", "a{", "a@", "a[", "a/", "`", "{", "@", "[",
		strings.Repeat("x", 129), strings.Repeat("x", 127) + " ",
	} {
		if err := store.CheckID(id); !errors.Is(err, store.ErrBadID) {
			t.Errorf("%q: %v", id, err)
		} else if shown := strings.Contains(err.Error(), strconv.Quote(id)); shown != (len(id) <= 128) || len(err.Error()) > 400 {
			t.Errorf("%q is told as %v", id, err)
		}
	}
	long := strings.Repeat("x", 128) + "y"
	if err := store.CheckID(long); !strings.Contains(err.Error(), long[:128]+"…") {
		t.Errorf("a long one is told as %v", err)
	}
}
