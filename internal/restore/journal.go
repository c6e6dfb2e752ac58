//go:build unix

package restore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// sync makes something durable.
func (c *Config) sync(what string, do func() error) error {
	if c.Sync != nil {
		return full(c.Sync(what, do))
	}
	return full(do())
}

const (
	journalEnd = ".restore"
	maxPending = 1000
)

// Journal is a restore that was begun. One process at a time has it open; it is used by one goroutine.
type Journal struct {
	ID     string
	Plan   *Plan
	cfg    Config
	dir    string
	root   string
	file   *os.File
	rec    *record
	undo   bool
	copies []besideFrame // in this direction
	before []besideFrame // on the way there, while it goes back
	done   *Report
}

// Begin writes a plan to a new journal in dir, durably. Nothing else is touched. An earlier one there that is not
// forgotten is ErrPending. The caller closes the journal.
func Begin(dir, root string, p *Plan, cfg Config) (*Journal, error) {
	if earlier, err := Pending(dir); err != nil || len(earlier) > 0 {
		return nil, fmt.Errorf("begin a restore of %s: %w", root, errors.Join(err, pendingErr(earlier)))
	}
	j, err := begin(dir, root, p, cfg)
	if err != nil {
		return nil, fmt.Errorf("begin a restore of %s: %w", root, err)
	}
	return j, nil
}

func pendingErr(ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return ErrPending
}

func begin(dir, root string, p *Plan, cfg Config) (*Journal, error) {
	d, err := openRoot(root)
	if err != nil {
		return nil, err
	}
	defer d.close()
	at, err := d.look(".")
	if err != nil {
		return nil, err
	}
	rec, err := p.record(root, at)
	if err != nil {
		return nil, err
	}
	b, err := encodeFrame(frame{Plan: rec})
	if err != nil {
		return nil, err
	}
	if cfg.ID == "" {
		var id [8]byte
		_, _ = rand.Read(id[:])
		cfg.ID = hex.EncodeToString(id[:])
	}
	j := &Journal{ID: cfg.ID, Plan: p, cfg: cfg, dir: dir, root: root, rec: rec}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	j.file, err = os.OpenFile(j.path(), os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := j.write(b); err != nil {
		_ = j.file.Close()
		_ = os.Remove(j.path())
		return nil, err
	}
	return j, nil
}

func (j *Journal) path() string { return filepath.Join(j.dir, j.ID+journalEnd) }

// write locks a new journal and makes its first frame durable.
func (j *Journal) write(b []byte) error {
	if err := lock(j.file); err != nil {
		return err
	}
	if _, err := j.file.Write(b); err != nil {
		return full(err)
	}
	if err := j.cfg.sync("journal", j.file.Sync); err != nil {
		return full(err)
	}
	return j.syncDir()
}

func (j *Journal) syncDir() error {
	return j.cfg.sync("journals", func() error { return syncDir(j.dir) })
}

// Pending lists the ids of the journals in a directory, those that are done and not forgotten among them. A directory
// that is missing has none.
func Pending(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for restores: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), journalEnd); ok && len(ids) < maxPending && validID(id) {
			ids = append(ids, id)
		}
	}
	return slices.Clip(ids), nil
}

func validID(id string) bool {
	b, err := hex.DecodeString(id)
	return err == nil && len(b) == 8 && strings.ToLower(id) == id
}

// Open takes up a journal that was begun. Errors: fs.ErrNotExist, ErrBusy, ErrJournal. A journal whose plan was never
// wholly written is ErrJournal, too: nothing was done by it, and [Discard] takes it away.
func Open(dir, id string, cfg Config) (*Journal, error) {
	if !validID(id) {
		return nil, fmt.Errorf("restore %.40q: %w", id, fs.ErrNotExist)
	}
	j := &Journal{ID: id, cfg: cfg, dir: dir}
	f, err := os.OpenFile(j.path(), os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("restore %s: %w", id, err)
	}
	j.file = f
	if err := j.load(); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("restore %s: %w", id, err)
	}
	return j, nil
}

func (j *Journal) load() error {
	if err := lock(j.file); err != nil {
		return err
	}
	if _, err := os.Lstat(j.path()); err != nil { // whoever had it open was done with it
		return err
	}
	frames, end, err := readFrames(j.file)
	if err != nil {
		return err
	}
	j.rec = frames[0].Plan
	j.root = string(j.rec.Root)
	if j.Plan, err = j.rec.plan(); err != nil {
		return err
	}
	for _, f := range frames[1:] {
		switch {
		case f.Turn != nil:
			j.turn(f.Turn.Undo)
		case f.Copy != nil:
			j.copies = append(j.copies, *f.Copy)
		case f.Done != nil:
			r := f.Done.report()
			j.done = &r
		}
	}
	if err := j.file.Truncate(end); err != nil {
		return err
	}
	_, err = j.file.Seek(end, io.SeekStart)
	return err
}

// note appends a frame, durably, before what it says is done.
func (j *Journal) note(f frame) error {
	b, err := encodeFrame(f)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(b); err != nil {
		return full(fmt.Errorf("journal of the restore: %w", err))
	}
	return full(j.cfg.sync("note", j.file.Sync))
}

// Root is the directory that the restore is for.
func (j *Journal) Root() string { return j.root }

// Undoing reports that the restore is on its way back.
func (j *Journal) Undoing() bool { return j.undo }

// Done gives the report if everything was done.
func (j *Journal) Done() (Report, bool) {
	if j.done == nil {
		return Report{}, false
	}
	return *j.done, true
}

// Forget takes away the journal of a restore that is done, and closes it. One that is not done is ErrPending.
func (j *Journal) Forget() error {
	if j.done == nil {
		return fmt.Errorf("restore %s: %w", j.ID, ErrPending)
	}
	return j.remove()
}

// GiveUp takes away the journal of a restore, and closes it, whose directory is not the one that it was planned for any
// more: it can be neither finished nor undone here, and what it has done is wherever that directory is. While the
// directory is there, and on any other error, the journal stays: ErrPending, or that error.
func (j *Journal) GiveUp(ctx context.Context) error {
	w, err := j.work(ctx)
	if err == nil {
		w.close()
		return fmt.Errorf("restore %s: %w", j.ID, ErrPending)
	}
	if !errors.Is(err, ErrMoved) {
		return fmt.Errorf("restore %s: %w", j.root, err)
	}
	return j.remove()
}

func (j *Journal) remove() error {
	if err := os.Remove(j.path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("restore %s: %w", j.ID, err)
	}
	return errors.Join(j.syncDir(), j.Close())
}

// Close gives the journal free for another process. It takes nothing back.
func (j *Journal) Close() error {
	if j.file == nil {
		return nil
	}
	f := j.file
	j.file = nil
	return f.Close()
}

// Discard takes away a journal that ends within its plan, which a kill within [Begin] leaves: nothing was done by it.
// One that can be opened is ErrPending; one that is damaged stays, with the error of [Open].
func Discard(dir, id string) error {
	j, err := Open(dir, id, Config{})
	if err == nil {
		_ = j.Close()
		return fmt.Errorf("restore %s: %w", id, ErrPending)
	}
	if !errors.Is(err, errTorn) {
		return err
	}
	return os.Remove((&Journal{ID: id, dir: dir}).path())
}

func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrBusy
	}
	return err
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// full gives the errors of a full disk their name.
func full(err error) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	return err
}

// Run does what is left of a restore, or of its undoing, and marks the journal done. Errors: ErrMoved, ErrContent,
// ErrNoSpace, the context's and the file system's. After any of them nothing is lost: it can be run again, or undone.
// What was done already is said again by the report.
func (j *Journal) Run(ctx context.Context) (Report, error) {
	if j.done != nil {
		return *j.done, nil
	}
	w, err := j.work(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("restore %s: %w", j.root, err)
	}
	defer w.close()
	report, err := w.run()
	if err != nil {
		return Report{}, fmt.Errorf("restore %s: %w", j.root, err)
	}
	j.done = &report
	return report, nil
}

// Undo turns a restore round, whether it is done or not, and runs it back: every path becomes what it was before, except
// where somebody else changed it since.
func (j *Journal) Undo(ctx context.Context) (Report, error) {
	if !j.undo {
		if err := j.note(frame{Turn: &turn{Undo: true}}); err != nil {
			return Report{}, fmt.Errorf("undo the restore of %s: %w", j.root, err)
		}
		j.turn(true)
	}
	return j.Run(ctx)
}

func (j *Journal) turn(undo bool) {
	j.undo, j.done = undo, nil
	j.before, j.copies = j.copies, nil
}
