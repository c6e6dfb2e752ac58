package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/linemerge"
	"github.com/perdure/perdure/internal/restore"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// Bounds of what is joined: larger files, and more of them, are conflicts.
const (
	maxJoined    = 4 << 20  // bytes of one version
	maxLines     = 200_000  // of one version: comparing takes some 200 bytes for each
	maxJoinedAll = 64 << 20 // bytes of all results of a plan
)

// joiner brings versions of text files together by their lines, and holds the results until they are to be kept.
type joiner struct {
	blobs   *blob.Store
	now     func() time.Time
	results map[store.Digest][]byte
	size    int
}

// join is for [restore.Input]. A mode that one side alone has changed is taken, too.
func (j *joiner) join(base, mine, theirs *tree.Entry) (*tree.Entry, error) {
	if j.size >= maxJoinedAll || mine.Mode != base.Mode && theirs.Mode != base.Mode && mine.Mode != theirs.Mode {
		return nil, nil //nolint:nilnil // it is a conflict
	}
	texts, err := j.texts(base, mine, theirs)
	if texts == nil {
		return nil, err
	}
	merged, ok := linemerge.Merge(texts[0], texts[1], texts[2])
	if !ok || j.size+len(merged) > maxJoinedAll {
		return nil, nil //nolint:nilnil // it is a conflict
	}
	out := *mine
	if mine.Mode == base.Mode {
		out.Mode = theirs.Mode
	}
	out.Digest, out.Size, out.MTime = store.Sum([]byte(merged)), int64(len(merged)), j.now().UnixNano()
	if j.results[out.Digest] == nil {
		j.results[out.Digest], j.size = []byte(merged), j.size+len(merged)
	}
	return &out, nil
}

// texts reads the versions of a file; nil: they are not kept, or no texts that are compared.
func (j *joiner) texts(versions ...*tree.Entry) (texts []string, err error) {
	for _, e := range versions {
		if e.Size > maxJoined {
			return nil, nil
		}
		b, err := j.blobs.Get(e.Digest)
		if errors.Is(err, blob.ErrMissing) || errors.Is(err, blob.ErrTooLarge) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if bytes.IndexByte(b, 0) >= 0 || bytes.Count(b, []byte("\n")) > maxLines {
			return nil, nil
		}
		texts = append(texts, string(b))
	}
	return texts, nil
}

// keep makes the results durable. They are kept from sweeps until release is called.
func (j *joiner) keep(ctx context.Context) (release func(), err error) {
	if len(j.results) == 0 {
		return func() {}, nil
	}
	b, err := j.blobs.Batch(ctx)
	if err != nil {
		return nil, err
	}
	for _, content := range j.results {
		if _, err := b.Put(content); err != nil {
			return nil, errors.Join(err, b.Close())
		}
	}
	if err := b.Commit(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return func() { _ = b.Close() }, nil
}

// has reports whether a content is there, or will be.
func (j *joiner) has(d store.Digest) (bool, error) {
	if j.results[d] != nil {
		return true, nil
	}
	return j.blobs.Has(d)
}

// Needs lists the contents that restores in the workspaces below a home's directory need and no tree has, see
// [restore.Needs].
func Needs(dir string) (need []store.Digest, err error) {
	places, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, p := range places {
		if !p.IsDir() { // such as what a file manager leaves
			continue
		}
		sessions, err := os.ReadDir(filepath.Join(dir, p.Name(), restoresDir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, s := range sessions {
			if !s.IsDir() {
				continue
			}
			more, err := restore.Needs(filepath.Join(dir, p.Name(), restoresDir, s.Name()))
			if err != nil {
				return nil, err
			}
			need = append(need, more...)
		}
	}
	return need, nil
}
