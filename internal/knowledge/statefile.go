package knowledge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Desk is the place of a project's state files, under the lock of its memory. Beside each file lies a copy of what was
// written last, so that it is seen when somebody else has changed it.
type Desk struct{ f *files }

// Desk takes the lock. What a crash left half written is finished or taken back.
func (s *Scope) Desk(ctx context.Context) (*Desk, error) {
	f, err := s.hold(ctx)
	if err != nil {
		return nil, err
	}
	return &Desk{f: f}, nil
}

// Close releases the lock.
func (d *Desk) Close() { d.f.close() }

// The names of the copies that lie beside a state file.
func lastName(name string) string { return "." + name + ".last" }
func nextName(name string) string { return "." + name + ".next" }

// checkDesk refuses what is no name of a state file.
func checkDesk(name string) error {
	if checkName(name) != nil || strings.Contains(name, "/") || name == indexName || name == journalName || path.Ext(name) != ".json" {
		return fmt.Errorf("%q is no name of a state file", clip(name))
	}
	return nil
}

// Read gives a state file as it is, and as Perdure wrote it last. Nil: there is none.
func (d *Desk) Read(name string) (now, last []byte, err error) {
	if err := checkDesk(name); err != nil {
		return nil, nil, err
	}
	return d.f.state(name)
}

// Look is Read without the lock: what lies there at the moment.
func (s *Scope) Look(name string) (now, last []byte, err error) {
	if err := checkDesk(name); err != nil {
		return nil, nil, err
	}
	f, err := s.look()
	if err != nil {
		return nil, nil, err
	}
	defer f.close()
	return f.state(name)
}

// state reads a file and its copy. A next copy that is what the file holds is the last one: only its renaming is missing.
func (f *files) state(name string) (now, last []byte, err error) {
	if now, err = f.plain(name); err != nil {
		return nil, nil, err
	}
	next, err := f.plain(nextName(name))
	if err == nil && next != nil && now != nil && bytes.Equal(next, now) {
		return now, next, nil
	}
	if err == nil {
		last, err = f.plain(lastName(name))
	}
	return now, last, err
}

// plain reads a file of the scope's own directory; one that is not there is nil, and so is one that a power loss left
// without a word.
func (f *files) plain(name string) ([]byte, error) {
	if f.base == nil {
		return nil, nil
	}
	b, err := readRegular(f.base, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(f.s.Dir(), name), err)
	}
	if len(bytes.Trim(b, "\x00")) == 0 {
		return nil, nil
	}
	return b, nil
}

// readRegular reads a file that no link leads to, at most maxRead bytes; one that is not there is nil.
func readRegular(root *os.Root, rel string) ([]byte, error) {
	file, err := openFile(root, rel, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxRead+1))
	if err == nil && len(b) > maxRead {
		err = fmt.Errorf("over %d bytes", maxRead)
	}
	if err == nil && b == nil {
		b = []byte{}
	}
	return b, err
}

// Put replaces a state file by a rename, if it still holds what is expected: nil is no file. ErrChanged says that it
// does not. After a kill at any step the file is whole, old or new, and known as written by Perdure. After a power loss
// it may be the old one, or none, although Put has returned: it says again what the session's log says. Only the copy
// is synced, so that whatever is left of the file is not taken for a person's.
func (d *Desk) Put(name string, expect, b []byte) error {
	if err := checkDesk(name); err != nil {
		return err
	}
	if err := d.expects(name, expect); err != nil {
		return err
	}
	if expect != nil { // what is replaced is the last one from here on, so that the next copy can be another
		if err := d.keep(lastName(name), expect); err != nil {
			return err
		}
	}
	_, perm := d.f.s.modes()
	if d.f.s.shared {
		d.ignore(perm)
	}
	if err := d.f.s.step("copy"); err != nil {
		return err
	}
	if err := d.f.lay(d.f.base, nextName(name), b, perm, true); err != nil {
		return err
	}
	if err := d.f.s.step("replace"); err != nil {
		return err
	}
	if err := d.expects(name, expect); err != nil {
		return errors.Join(err, d.f.base.Remove(nextName(name)))
	}
	if err := d.f.lay(d.f.base, name, b, perm, false); err != nil {
		return err
	}
	if err := d.f.s.step("close"); err != nil {
		return err
	}
	if err := d.f.base.Rename(nextName(name), lastName(name)); err != nil {
		return err
	}
	return d.f.s.step("closed")
}

// ignored are the files of a project's directory that are this machine's alone.
const ignored = `# What Perdure keeps beside these files for itself; the rest is worth a commit.
.gitignore
.*.last
.*.next
`

// ignore keeps these files out of commits. It is a courtesy: without it they are only seen.
func (d *Desk) ignore(perm os.FileMode) {
	const name = ".gitignore"
	if _, err := d.f.base.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		_ = d.f.put(d.f.base, name, []byte(ignored), perm)
	}
}

// expects compares a file with what somebody has read of it.
func (d *Desk) expects(name string, want []byte) error {
	now, err := d.f.plain(name)
	if err == nil && digest(now) != digest(want) {
		err = fmt.Errorf("%s: %w", filepath.Join(d.f.s.Dir(), name), ErrChanged)
	}
	return err
}

// keep makes a copy what it should be.
func (d *Desk) keep(name string, b []byte) error {
	if now, err := d.f.plain(name); err != nil || now != nil && bytes.Equal(now, b) {
		return err
	}
	_, perm := d.f.s.modes()
	return d.f.put(d.f.base, name, b, perm)
}

// Settle takes a file as it is for one that Perdure wrote: what somebody changed in it was judged. ErrChanged says that
// it holds something else by now.
func (d *Desk) Settle(name string, now []byte) error {
	if err := checkDesk(name); err != nil {
		return err
	}
	if err := d.expects(name, now); err != nil {
		return err
	}
	return d.keep(lastName(name), now)
}

// Drop removes a file that nobody but Perdure wrote, with its copies. Another one stays: ErrChanged.
func (d *Desk) Drop(name string) error {
	now, last, err := d.Read(name)
	switch {
	case err != nil:
		return err
	case now == nil:
		return nil
	case last == nil || !bytes.Equal(now, last):
		return fmt.Errorf("%s: %w", filepath.Join(d.f.s.Dir(), name), ErrChanged)
	}
	if err := d.f.s.step("drop"); err != nil {
		return err
	}
	for _, n := range []string{name, nextName(name), lastName(name)} {
		if err := d.f.base.Remove(n); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return syncDir(d.f.base, ".")
}

// ReadBelow reads a file below a directory, such as a project's root, name by name: no link is followed. One that is not
// there is nil; of one that is over limit bytes an error is given. Changed is when it was last written.
func ReadBelow(dir, rel string, limit int) (b []byte, changed time.Time, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, changed, err
	}
	defer root.Close()
	b, err = readRegular(root, rel)
	if err == nil && b != nil {
		var info fs.FileInfo
		if info, err = root.Lstat(rel); err == nil {
			changed = info.ModTime()
		}
	}
	if err == nil && len(b) > limit {
		err = fmt.Errorf("it has %d bytes, at most %d are read", len(b), limit)
	}
	if err != nil {
		return nil, changed, err
	}
	return b, changed, nil
}

// maxBeside bounds the files that Beside names.
const maxBeside = 16

// Beside names the state files of sessions that may not write the main one.
func (s *Scope) Beside() ([]string, error) {
	f, err := s.look()
	if err != nil {
		return nil, err
	}
	defer f.close()
	if f.base == nil {
		return nil, nil
	}
	entries, err := fs.ReadDir(f.base.FS(), ".")
	var out []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "state-") && checkDesk(e.Name()) == nil && e.Type().IsRegular() && len(out) < maxBeside {
			out = append(out, e.Name())
		}
	}
	return out, err
}
