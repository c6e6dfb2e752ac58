package homes

import "github.com/perdure/perdure/view"

// Output returns up to limit bytes of what the command of an act has printed, from an absolute offset on, whether it
// runs or has ended; at most 64 MiB, and 64 KiB if limit is not positive. Nobody's place in it moves. Known secrets are
// replaced, except one that the limit cuts in two. Errors: task.ErrMissing when the output is gone: then the log has
// what the model was told.
func (h *Home) Output(id, act string, from int64, limit int) (view.News, error) {
	b, next, gap, err := h.commands().Read(id, act, from, limit)
	if err != nil {
		return view.News{}, err
	}
	return view.News{Bytes: h.secret.Replace(b), Omitted: gap, From: from, To: next}, nil
}
