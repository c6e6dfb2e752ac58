package app

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/perdure/perdure/store"
)

// A fault of the disk that fails everything after it is told once; different errors are all told.
func TestSentences(t *testing.T) {
	full := fmt.Errorf("append: %w (4 KiB are left)", store.ErrFull)
	again := fmt.Errorf("release: %w (0 KiB are left)", store.ErrFull)
	other := errors.New("another thing")
	for _, c := range []struct {
		err  error
		want []string
	}{
		{other, []string{"another thing"}},
		{fmt.Errorf("session a: %w", errors.Join(full, again, other, full)), []string{"session a: " + full.Error(), "session a: another thing"}},
		{errors.Join(other, fmt.Errorf("x: %w", errors.Join(other, full)), again), []string{"another thing", "x: another thing", "x: " + full.Error()}},
		{fmt.Errorf("%w: %w", store.ErrFull, other), []string{store.ErrFull.Error() + ": another thing"}},
	} {
		if got := Sentences(c.err); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.err, got, c.want)
		}
	}
}
