package restore

import (
	"errors"
	"fmt"
	"io"
	"os"
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
	for n, i := range todo {
		if err := w.stageOne(i); err != nil {
			return err
		}
		if w.cfg.Progress != nil {
			w.cfg.Progress(n+1, w.total())
		}
	}
	w.done = len(todo)
	if err := w.step("staged", ""); err != nil {
		return err
	}
	return w.cfg.sync("staging", w.stage.sync)
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
	if w.cfg.Free == nil || need == 0 {
		return nil
	}
	if free := w.cfg.Free(w.j.root); free >= 0 && free < need+w.cfg.Spare {
		return fmt.Errorf("%d bytes are needed and %d are free: %w", need+w.cfg.Spare, free, ErrNoSpace)
	}
	return nil
}

// stageOne writes the wanted version of an op, verified and synced, under the op's number.
func (w *work) stageOne(i int) error {
	o, part := &w.ops[i], partName(i)
	if err := w.step("stage", o.Path); err != nil {
		return err
	}
	if err := w.cfg.write(w.stage, part, o.To); err != nil {
		_ = w.stage.unlink(part)
		return full(fmt.Errorf("%.500q: %w", o.Path, err))
	}
	if err := w.step("stage-written", o.Path); err != nil {
		return err
	}
	if err := w.cfg.mover.over(w.stage, part, w.stage, strconv.Itoa(i)); err != nil {
		return err
	}
	w.staged = append(w.staged, i)
	return nil
}

// write makes a file or a link that is not there yet, whole and durable.
func (c *Config) write(d *dir, name string, e *tree.Entry) error {
	if e.Kind == tree.Link {
		if err := d.symlink(e.Target, name); err != nil {
			return err
		}
		return d.touch(name, e.MTime)
	}
	f, err := d.create(name)
	if err != nil {
		return err
	}
	err = fill(f, e, c.Content)
	if err == nil {
		err = f.Chmod(os.FileMode(e.Mode & fileBits))
	}
	if err == nil {
		err = d.touch(name, e.MTime)
	}
	if err == nil {
		err = c.sync("content", f.Sync)
	}
	return errors.Join(err, f.Close())
}

// fill writes a content and verifies it. What is wrong with the content is ErrContent.
func fill(f *os.File, e *tree.Entry, from Content) error {
	r, size, err := from.Open(e.Digest)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrContent, err)
	}
	defer r.Close()
	if size != e.Size {
		return fmt.Errorf("%d bytes are stored, %d are wanted: %w", size, e.Size, ErrContent)
	}
	h := blake3.New()
	in := &reading{r: io.LimitReader(r, size+1)}
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
	r   io.Reader
	err error
}

func (r *reading) Read(b []byte) (int, error) {
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
