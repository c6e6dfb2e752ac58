//go:build unix

package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/tree"
)

// stagingPrefix begins the name of the directory in which contents wait. It lies in the root, so that they can be renamed
// to their places.
const stagingPrefix = ".perdure-restore-"

// Staging reports a name that a restore uses for itself in the root; no capture has it.
func Staging(name string) bool { return strings.HasPrefix(name, stagingPrefix) }

// work is one run over a journal's ops.
type work struct {
	ctx    context.Context //nolint:containedctx // of one call
	j      *Journal
	cfg    *Config
	root   *dir
	stage  *dir
	ops    []op // in this direction; the index names what is staged
	gap    map[int]bool
	staged []int
	stuck  map[string]bool // paths that could not become what they should; nothing is done below
	late   []Kept
	skip   map[string]bool // paths that stayed on the way there, on the way back
	undone map[string]bool // paths that stayed
	done   int             // parts of the work, of the number that parts gives
	of     int
	bytes  int64 // that were staged
}

// errKilled marks an error after which nothing more may be done, as after a kill.
var errKilled = errors.New("killed")

// step is where a test kills.
func (w *work) step(name, at string) error {
	if w.cfg.Fault != nil {
		if err := w.cfg.Fault(name, at); err != nil {
			return fmt.Errorf("%w at %s: %w", errKilled, name, err)
		}
	}
	return w.ctx.Err()
}

// work opens the directory and lays out the ops of the journal's direction.
func (j *Journal) work(ctx context.Context) (*work, error) {
	root, err := openRoot(j.root)
	if err != nil {
		return nil, err
	}
	at, err := root.look(".")
	if err == nil && (at.ino != j.rec.Ino || at.dev != j.rec.Dev) {
		err = ErrMoved
	}
	if err != nil {
		root.close()
		return nil, err
	}
	w := &work{ctx: ctx, j: j, cfg: &j.cfg, root: root, gap: map[int]bool{}, stuck: map[string]bool{}, skip: map[string]bool{}, undone: map[string]bool{}}
	w.ops = slices.Clone(j.Plan.ops)
	if j.undo {
		for i := range w.ops {
			w.ops[i] = w.ops[i].back()
		}
		for _, c := range j.before { // what stayed on the way there has nothing to be undone
			w.skip[string(c.Path)] = w.skip[string(c.Path)] || !c.Theirs
		}
		w.ops = append(w.ops, j.backCopies()...)
	}
	return w, nil
}

// backCopies are the ops that take away what was written beside files on the way there.
func (j *Journal) backCopies() []op {
	var ops []op
	for _, c := range j.before {
		i := slices.IndexFunc(j.Plan.ops, func(o op) bool { return o.Path == string(c.Path) })
		if i >= 0 && !c.Theirs && len(c.Copy) > 0 {
			ops = append(ops, op{Path: string(c.Copy), From: j.Plan.ops[i].To, Copy: true})
		}
	}
	return ops
}

func (w *work) close() {
	if w.stage != nil {
		w.stage.close()
	}
	w.root.close()
}

func (w *work) run() (Report, error) {
	if len(w.ops) > 0 {
		if err := w.prepare(); err != nil {
			if !errors.Is(err, errKilled) {
				w.tidy()
			}
			return Report{}, err
		}
		if err := w.apply(); err != nil {
			return Report{}, err
		}
	}
	r := w.report()
	if err := w.step("done", ""); err != nil {
		return Report{}, err
	}
	return r, w.j.note(frame{Done: r.record()})
}

// prepare gets everything ready; the tree of files is as before when it fails, unless an earlier run got further.
func (w *work) prepare() error {
	if err := w.open(); err != nil {
		return err
	}
	name := stagingPrefix + w.j.ID
	err := w.root.mkdir(name)
	fresh := err == nil
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return full(err)
	}
	if w.stage, err = w.root.sub(name); err != nil {
		return err
	}
	if !fresh {
		for i := range w.ops {
			if err := w.settle(i); err != nil {
				return err
			}
		}
	}
	return w.stageAll()
}

// open gives the user the rights on directories that are needed to work in them.
func (w *work) open() error {
	if w.j.rec.RootMode&0o700 != 0o700 {
		if err := unix.Fchmod(w.root.fd, w.j.rec.RootMode|0o700); err != nil {
			return w.root.fail("chmod", "", err)
		}
	}
	for i := range w.ops {
		o := &w.ops[i]
		if !o.Open {
			continue
		}
		if err := w.step("open", o.Path); err != nil {
			return err
		}
		if err := w.setMode(o.Path, 0o700, 0o700); err != nil && !vanished(err) {
			return err
		}
	}
	return nil
}

// setMode sets bits of a directory's mode.
func (w *work) setMode(p string, mode, bits uint32) error {
	d, name, err := w.at(p)
	if err != nil {
		return err
	}
	defer d.close()
	if s, err := d.look(name); err != nil || s.kind != tree.Dir {
		return errors.Join(err, d.fail("chmod", name, unix.ENOTDIR))
	}
	return d.chmod(name, mode, bits)
}

// at opens the directory of a path.
func (w *work) at(p string) (*dir, string, error) {
	up, name := split(p)
	d, err := w.root.down(up)
	return d, name, err
}

// vanished reports that a directory on the way is not there any more, or is something else.
func vanished(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

// tidy gives the room of staged contents back, and directories their modes, after a preparation that failed.
func (w *work) tidy() {
	if w.stage != nil {
		for _, i := range w.staged {
			_ = w.stage.unlink(strconv.Itoa(i))
		}
		_ = w.root.rmdir(stagingPrefix + w.j.ID)
	}
	for i, o := range slices.Backward(w.ops) {
		if o.Open && isDir(w.ops[i].From) {
			_ = w.setMode(o.Path, o.From.Mode, 0o700)
		}
	}
	w.closeRoot()
}

func (w *work) closeRoot() {
	if w.j.rec.RootMode&0o700 != 0o700 {
		_ = unix.Fchmod(w.root.fd, w.j.rec.RootMode)
	}
}

// apply does what was prepared: away with what goes, from the deepest on; directories from the highest on; files and
// links; modes of directories, from the deepest on.
func (w *work) apply() error {
	for i := range slices.Backward(w.ops) {
		if w.ops[i].leaves() {
			if err := w.each(i, "remove", w.remove); err != nil {
				return err
			}
		}
	}
	for i := range w.ops {
		if w.ops[i].makes() {
			if err := w.each(i, "mkdir", w.makeDir); err != nil {
				return err
			}
		}
	}
	for i := range w.ops {
		if o := &w.ops[i]; o.To != nil && !isDir(o.To) {
			do := w.put
			if o.onlyMode() {
				do = w.fileMode
			}
			if err := w.each(i, "put", do); err != nil {
				return err
			}
		}
	}
	for i := range slices.Backward(w.ops) {
		if isDir(w.ops[i].To) {
			if err := w.each(i, "mode", w.dirMode); err != nil {
				return err
			}
		}
	}
	return w.finish()
}

// each does one part of an op, with its directory open. A directory that is gone is a conflict of everything in it.
func (w *work) each(i int, name string, do func(i int, o *op, d *dir, name string) error) error {
	o := &w.ops[i]
	if w.isStuck(o.Path) || w.skip[o.Path] {
		return nil
	}
	if err := w.step(name, o.Path); err != nil {
		return err
	}
	err := w.within(i, o, do)
	for n := 1; n < tries && vanished(err); n++ { // it was moved away while it was worked in
		err = w.within(i, o, do)
	}
	if forbidden(err) {
		w.keep(o, Kept{Why: Forbidden})
		w.stuck[o.Path] = w.stuck[o.Path] || isDir(o.To) != isDir(o.From)
		err = nil
	}
	if err != nil {
		return full(err)
	}
	w.tell(1)
	return w.step(name+"-done", o.Path)
}

// forbidden reports what no second try will change: a mount point, a file that is marked as unchangeable, a place on a file
// system of its own. The path stays, and is named; the rest is restored.
func forbidden(err error) bool {
	for _, no := range []error{unix.EXDEV, unix.EBUSY, unix.EPERM, unix.EACCES, unix.EROFS, unix.ETXTBSY} {
		if errors.Is(err, no) {
			return !errors.Is(err, errKilled)
		}
	}
	return false
}

// within does one part of an op in its directory, if that is there.
func (w *work) within(i int, o *op, do func(i int, o *op, d *dir, name string) error) error {
	d, base, err := w.at(o.Path)
	if vanished(err) {
		if o.To != nil {
			w.keep(o, Kept{Why: Edited})
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer d.close()
	return do(i, o, d, base)
}

// tell counts parts of the work that are done, and tells how many of the paths that makes.
func (w *work) tell(parts int) {
	w.done += parts
	if w.cfg.Progress == nil {
		return
	}
	if w.of == 0 {
		for i := range w.ops {
			w.of += w.ops[i].parts()
		}
	}
	n := len(w.ops)
	w.cfg.Progress(Step{Done: min(w.done, w.of) * n / max(w.of, 1), Of: n, Bytes: w.bytes})
}

func (w *work) isStuck(p string) bool {
	for up := p; up != "" && len(w.stuck) > 0; up, _ = split(up) {
		if w.stuck[up] {
			return true
		}
	}
	return false
}

func (w *work) keep(o *op, k Kept) {
	k.Path, k.Late = o.Path, true
	w.undone[o.Path] = true
	if !slices.ContainsFunc(w.late, func(o Kept) bool { return o.Path == k.Path && (k.Copy == "" || k.Copy == o.Copy) }) {
		w.late = append(w.late, k)
	}
}
