package perdure

import (
	"context"
	"iter"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/view"
)

// Follow yields a session's events after a seq, first those in the log, then each as it becomes durable, whoever
// appends it; and the words of the model while they come, whichever process runs the session. No event is missing, none
// comes twice; deltas may be missing, and those of a call that has ended are. It ends when ctx ends, with ctx's error,
// or with the first error of the store.
func (h *Home) Follow(ctx context.Context, id string, after int64) iter.Seq2[Update, error] {
	return updatesOf(h.in.Watch(ctx, id, after))
}

// Output returns up to limit bytes of what the command of an act has printed, from an absolute offset on, whether it
// runs or has ended; at most 64 MiB, and 64 KiB if limit is not positive. Nobody's place in it moves. It is an error
// when the output is kept no more: then the log has what the model was told.
func (h *Home) Output(id, act string, from int64, limit int) (view.News, error) {
	return h.in.Output(id, act, from, limit)
}

func updatesOf(updates iter.Seq2[engine.Update, error]) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		for u, err := range updates {
			if err != nil {
				yield(Update{}, err)
				return
			}
			if !yield(updateOf(u), nil) {
				return
			}
		}
	}
}
