package restore

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// vast is a content of very many zeros, during which somebody loses patience.
type vast struct {
	stop func()
	read int64
}

const vastSize = 1 << 40

func (v *vast) Open(store.Digest) (io.ReadCloser, int64, error) {
	return io.NopCloser(v), vastSize, nil
}

func (v *vast) Read(p []byte) (int, error) {
	if v.read += int64(len(p)); v.read > 1<<20 {
		v.stop()
	}
	if v.read > 64<<20 {
		return 0, errors.New("nobody stopped")
	}
	copy(p, make([]byte, len(p)))
	return len(p), nil
}

// Goal: who stops it waits for no content to be whole, and is not told that the content is damaged; nothing is left.
func TestAVeryLargeFileCanBeStopped(t *testing.T) {
	w := newWorld(t)
	object, err := tree.Encode([]tree.Entry{{Name: "f", Kind: tree.File, Mode: 0o644, Size: vastSize, Digest: store.Sum([]byte("?"))}})
	w.must(err)
	w.base = w.capture()
	target := w.keep(object)
	for name, do := range map[string]func(ctx context.Context, cfg Config) error{
		"made": func(ctx context.Context, cfg Config) error {
			_, err := Materialise(ctx, filepath.Join(filepath.Dir(w.root), "to"), w, target, cfg)
			return err
		},
		"restored": func(ctx context.Context, cfg Config) error {
			j, err := Begin(w.dir, w.root, w.plan(target), cfg)
			w.must(err)
			_, err = j.Run(ctx)
			return err
		},
	} {
		ctx, stop := context.WithCancel(t.Context())
		cfg, v := w.config(mover{}), &vast{stop: stop}
		cfg.Content = v
		if err := do(ctx, cfg); !errors.Is(err, context.Canceled) || errors.Is(err, ErrContent) || v.read > 32<<20 {
			t.Errorf("%s: %v after %d bytes", name, err, v.read)
		}
		stop()
	}
	alone(t, filepath.Dir(w.root), "journals", "root")
}
