package homes

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/perdure/perdure/internal/realdir"
)

// Drafts are what people have written at a screen and not sent. They lie in files for their owner alone, in a directory for
// each session, which goes with it; those of sessions that are not made yet lie in unmade. They are not synced: a kill
// loses none, a power cut may.
const (
	draftsDir = "drafts"
	unmade    = ".new" // no id begins with a dot
	maxDraft  = 8 << 20
)

// errDraftSize is about a draft that is too large to be kept.
var errDraftSize = errors.New("it is too large to be kept")

// KeepDraft keeps a draft of a session under a name, in the place of the one before; nothing removes that. An empty id
// is that of a session that is not made yet. Errors: ErrSecret for one that holds a known secret; that is not kept, and
// the one before is gone.
func (h *Home) KeepDraft(id, name string, draft []byte) error {
	secret, large := h.Hides(draft), len(draft) > maxDraft
	if secret || large || len(draft) == 0 {
		root, err := realdir.Open(h.dir, draftsDir, draftOf(id))
		if err == nil {
			err = root.Remove(name)
			_ = root.Close()
		}
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		case secret:
			return ErrSecret
		case large:
			return errDraftSize
		}
		return nil
	}
	root, err := realdir.Make(h.dir, draftsDir, draftOf(id))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	_ = root.Remove(name + ".tmp") // of a process that died, or whatever stands there
	f, err := root.OpenFile(name+".tmp", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(draft)
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(name+".tmp", name)
	}
	if err != nil {
		_ = root.Remove(name + ".tmp")
	}
	return err
}

// Draft is what KeepDraft has kept; nil: nothing.
func (h *Home) Draft(id, name string) ([]byte, error) {
	root, err := realdir.Open(h.dir, draftsDir, draftOf(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxDraft:
		return nil, nil // it is not one of ours
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, maxDraft))
}

func draftOf(id string) string {
	if id == "" {
		return unmade
	}
	return id
}
