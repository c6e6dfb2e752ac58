package homes

import (
	"errors"
	"io"
	"os"

	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/view"
)

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

// Kept returns the end of the file in which the output of an act was kept that its result only quotes, at most limit bytes,
// and the size of the file. Secrets were replaced when it was written. Errors: os.ErrNotExist when there is none: then the
// result has all, or the act's command still has its output.
func (h *Home) Kept(id, act string, limit int64) (end []byte, size int64, err error) {
	root, err := realdir.Open(h.dir, "outputs", id)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = root.Close() }()
	f, err := root.Open(act + ".out")
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, os.ErrNotExist
	}
	end = make([]byte, min(info.Size(), limit))
	_, err = f.ReadAt(end, info.Size()-int64(len(end)))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return end, info.Size(), err
}
