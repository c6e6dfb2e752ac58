//go:build unix

package restore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/zeebo/blake3"

	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// In the staging directory an op with the number 7 has three names: "7" is its wanted version, whole, or for a moment
// what it was swapped with; "7.part" is being written; "7.old" was taken from its place and is looked at once more.
func partName(i int) string { return strconv.Itoa(i) + ".part" }
func oldName(i int) string  { return strconv.Itoa(i) + ".old" }

// stageAll writes every wanted content that is not in its place yet.
func (w *work) stageAll() error {
	w.tell(0)
	var todo []int
	need := int64(0)
	for i := range w.ops {
		o := &w.ops[i]
		if !o.stages() || w.skip[o.Path] {
			continue
		}
		if there, err := w.there(o); err != nil {
			return err
		} else if there {
			continue
		}
		if s, err := w.stage.look(strconv.Itoa(i)); err != nil {
			return err
		} else if s.kind == 0 {
			todo = append(todo, i)
			need += o.To.Size + perFile
		}
	}
	if err := w.room(need); err != nil {
		return err
	}
	for some := range slices.Chunk(todo, atOnce) {
		if err := w.stageSome(some); err != nil {
			return err
		}
		for _, i := range some {
			w.bytes += w.ops[i].To.Size
		}
		w.tell(len(some))
	}
	return w.step("staged", "") // what is not there after a loss of power is staged anew: only the contents are synced
}

// there reports whether an op's path is what is wanted.
func (w *work) there(o *op) (bool, error) {
	d, name, err := w.at(o.Path)
	if vanished(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer d.close()
	return d.is(name, o.To)
}

// room refuses a disk on which the contents would not fit.
func (w *work) room(need int64) error {
	return w.cfg.enough(w.j.root, need)
}

// leastSpare is what stays free on a disk at least, in bytes, where little is written.
const leastSpare = 1 << 20

// enough refuses a disk on which so many bytes would not fit with as many again to spare, at most Spare.
func (c *Config) enough(at string, need int64) error {
	if c.Free == nil || need == 0 {
		return nil
	}
	want := need + min(c.Spare, max(need, leastSpare))
	if free := c.Free(at); free >= 0 && free < want {
		return fmt.Errorf("%d bytes are needed and %d are free: %w", want, free, ErrNoSpace)
	}
	return nil
}

// atOnce is how many contents are written before they are synced: a disk takes many syncs for little more than one.
const atOnce = 64

// stageSome writes the wanted versions of ops, verified and synced, under the ops' numbers.
func (w *work) stageSome(some []int) error {
	files := make([]*os.File, 0, len(some))
	defer func() {
		for _, f := range files {
			_ = f.Close()
		}
	}()
	for _, i := range some {
		o := &w.ops[i]
		if err := w.step("stage", o.Path); err != nil {
			return err
		}
		f, err := w.cfg.write(w.ctx, w.stage, partName(i), o.To, nil)
		if err != nil {
			w.unstage(some)
			return full(fmt.Errorf("%.500q: %w", o.Path, err))
		}
		if f != nil {
			files = append(files, f)
		}
	}
	if err := together(len(files), func(i int) error { return w.cfg.sync("content", files[i].Sync) }); err != nil {
		w.unstage(some)
		return err
	}
	for _, i := range some {
		if err := w.step("stage-written", w.ops[i].Path); err != nil {
			return err
		}
		if err := w.cfg.mover.over(w.stage, partName(i), w.stage, strconv.Itoa(i)); err != nil {
			return err
		}
		w.staged = append(w.staged, i)
	}
	return nil
}

// unstage gives back the room of what was written and is not relied on.
func (w *work) unstage(some []int) {
	for _, i := range some {
		_ = w.stage.unlink(partName(i))
	}
}

// write makes a file or a link that is not there yet, whole. A file is given open, for whoever makes it durable. With
// clone it is tried first whether that can fill the file.
func (c *Config) write(ctx context.Context, d *dir, name string, e *tree.Entry, clone func(*os.File) (bool, error)) (*os.File, error) {
	if e.Kind == tree.Link {
		err := d.symlink(e.Target, name)
		if err == nil && e.MTime != 0 { // 0: it was captured before times of links were
			err = d.touch(name, e.MTime)
		}
		return nil, err
	}
	f, err := d.create(name)
	if err != nil {
		return nil, err
	}
	filled := false
	if clone != nil {
		filled, err = clone(f)
	}
	if err == nil && !filled {
		err = fill(ctx, f, e, c.Content)
	}
	if err == nil {
		err = f.Chmod(os.FileMode(e.Mode & fileBits))
	}
	if err == nil {
		err = d.touch(name, e.MTime)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// fill writes a content and verifies it. What is wrong with the content is ErrContent; ctx ends it within a content.
func fill(ctx context.Context, f *os.File, e *tree.Entry, from Content) error {
	r, size, err := from.Open(e.Digest)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrContent, err)
	}
	defer r.Close()
	if size != e.Size {
		return fmt.Errorf("%d bytes are stored, %d are wanted: %w", size, e.Size, ErrContent)
	}
	h := blake3.New()
	in := &reading{ctx: ctx, r: io.LimitReader(r, size+1)}
	n, err := io.Copy(io.MultiWriter(f, h), in)
	if in.err != nil {
		return fmt.Errorf("%w: %w", ErrContent, in.err)
	}
	if err != nil {
		return err
	}
	if n != size || store.Digest(h.Sum(nil)) != e.Digest {
		return fmt.Errorf("%d bytes of another content: %w", n, ErrContent)
	}
	return nil
}

// reading remembers whether it was the reader that failed.
type reading struct {
	ctx context.Context //nolint:containedctx // of one call
	r   io.Reader
	err error
}

func (r *reading) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// settle makes order among what an earlier run left under an op's names, so that "N" is the wanted version or nothing.
func (w *work) settle(i int) error {
	o, n := &w.ops[i], strconv.Itoa(i)
	if err := w.stage.unlink(partName(i)); err != nil {
		return err
	}
	if err := w.settleOld(i, true); err != nil {
		return err
	}
	s, err := w.stage.look(n)
	if err != nil || s.kind == 0 {
		return err
	}
	if wanted, err := w.stage.is(n, o.To); err != nil || wanted && o.stages() {
		return err
	}
	if err := w.cfg.mover.over(w.stage, n, w.stage, oldName(i)); err != nil {
		return err
	}
	return w.settleOld(i, false)
}

// settleOld decides about what was taken from an op's place: one of its own two versions goes, anything else is somebody's
// and comes back. A place that was cleared for what did not come yet is a gap, and no deletion of somebody's.
func (w *work) settleOld(i int, cleared bool) error {
	o, old := &w.ops[i], oldName(i)
	s, err := w.stage.look(old)
	if err != nil || s.kind == 0 {
		return err
	}
	d, name, err := w.at(o.Path)
	if err != nil && !vanished(err) {
		return err
	}
	if err == nil {
		defer d.close()
	}
	from, err := w.stage.is(old, o.From)
	if err != nil {
		return err
	}
	to, err := w.stage.is(old, o.To)
	if err != nil {
		return err
	}
	if !from && !to || s.kind == tree.Dir {
		return w.bringBack(i, d, name)
	}
	if cleared && d != nil {
		now, err := d.look(name)
		if err != nil {
			return err
		}
		w.gap[i] = now.kind == 0
	}
	return w.stage.unlink(old)
}
