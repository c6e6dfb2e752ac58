package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/perdure/perdure/store"
)

// Goal: a refusal names the holder, and says of one whose machine is another that nobody here can see whether it lives.
func TestHeldError(t *testing.T) {
	for life, doubt := range map[store.Life]bool{store.Alive: false, store.Dead: false, store.Unknown: true} {
		held := &store.HeldError{Session: "s", Holder: store.Holder{PID: 42, Host: "there", Since: 1_700_000_000_000, Alive: life}}
		text := held.Error()
		if !strings.Contains(text, "session s is held by pid 42 on there since 2023-11-14T22:13:20Z") || strings.Contains(text, "cannot be seen") != doubt {
			t.Errorf("%s: %s", life, text)
		}
		if err := fmt.Errorf("acquire: %w", held); !errors.Is(err, store.ErrHeld) || errors.Is(err, store.ErrFenced) {
			t.Errorf("%s: matches the wrong errors", life)
		}
	}
}

// Goal: errors say whom they are about, and a damaged event why.
func TestErrorTexts(t *testing.T) {
	cause := errors.New("it is missing")
	for text, err := range map[string]error{
		"session s has forks: a, b":                    &store.ChildrenError{Session: "s", Children: []string{"a", "b"}},
		"session s: event 3 is damaged: it is missing": &store.CorruptError{Session: "s", Seq: 3, Cause: cause},
	} {
		if err.Error() != text {
			t.Errorf("%q, want %q", err, text)
		}
	}
	if !errors.Is(&store.CorruptError{Cause: cause}, cause) {
		t.Error("the cause of a damage is not in it")
	}
}
