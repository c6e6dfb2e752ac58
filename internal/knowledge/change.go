package knowledge

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Source says who a fact comes from, from the most trusted to the least.
type Source string

// The sources.
const (
	SourceUser   Source = "user"
	SourceModel  Source = "model"
	SourceTool   Source = "tool"
	SourceImport Source = "import"
)

// By is who makes a change.
type By struct {
	Session string `json:"session,omitempty"`
	Seq     int64  `json:"seq,omitzero"` // of the session's log
	Source  Source `json:"source,omitempty"`
	Key     string `json:"key,omitempty"` // the same change asked for again is not made again; empty: no key
}

// Change is one change of a scope, with what it replaced.
type Change struct {
	N      int64  `json:"n"`
	Time   int64  `json:"time"` // ms UTC
	By     By     `json:"by"`
	What   string `json:"what"`             // for people
	Result string `json:"result,omitempty"` // for who asked
	Undoes int64  `json:"undoes,omitzero"`
	Files  []Part `json:"files"`
	// Foreign are files that stayed as somebody else had made them meanwhile.
	Foreign []string `json:"foreign,omitempty"`
}

// Part is what a change does to one file. Pre and Post are digests; empty: there is no file.
type Part struct {
	Name   string `json:"name"`
	Pre    string `json:"pre"`
	Post   string `json:"post"`
	Before []byte `json:"before,omitempty"`
	After  []byte `json:"after,omitempty"`
}

// ErrUnfinished says that a change failed when it was written down already: whoever changes this memory next makes it.
var ErrUnfinished = errors.New("it is written down, and the next change of this memory finishes it; undo takes it back then")

// ErrChanged says that a file is no longer what a change was made for.
var ErrChanged = errors.New("the file changed meanwhile")

func digest(b []byte) string {
	if b == nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// part is the change of a file from before to after; nil is no file.
func part(name string, before, after []byte) Part {
	return Part{Name: name, Pre: digest(before), Post: digest(after), Before: before, After: after}
}

const (
	pendingName = "pending.json"
	tempName    = ".perdure.tmp" // one is enough: whoever writes has the lock
)

// commit makes a change: written down whole, made, closed. After an error it has not begun, or, with [ErrUnfinished],
// will be finished by whoever takes the lock next.
func (f *files) commit(c *Change) error {
	list, err := f.history()
	if err != nil {
		return err
	}
	c.N = 1
	if len(list) > 0 {
		c.N = list[len(list)-1].n + 1
	}
	c.Time = f.s.cfg.Now().UnixMilli()
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := f.s.step("intent"); err != nil {
		return err
	}
	if err := f.put(f.changes, pendingName, b, 0o600); err != nil {
		return err
	}
	err = f.finish(c)
	if err != nil && !errors.Is(err, ErrChanged) {
		if _, there := f.changes.Lstat(pendingName); there == nil {
			err = fmt.Errorf("%w: %w", err, ErrUnfinished)
		}
	}
	return err
}

// recover finishes the change that a crash left open.
func (f *files) recover() error {
	for _, root := range []*os.Root{f.base, f.top, f.changes} {
		_ = root.Remove(tempName)
	}
	b, err := f.changes.ReadFile(pendingName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var c Change
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err == nil {
		err = f.finish(&c)
	}
	if errors.Is(err, ErrChanged) {
		return nil // that file stays as somebody else made it
	}
	return err
}

// finish makes what of a change is not made yet, and closes it. A file that is neither as before nor as after belongs to
// somebody else and stays: ErrChanged, with everything else made.
func (f *files) finish(c *Change) error {
	known := len(c.Foreign)
	for _, p := range c.Files {
		err := f.apply(p)
		if errors.Is(err, ErrChanged) {
			if !slices.Contains(c.Foreign, p.Name) {
				c.Foreign = append(c.Foreign, p.Name)
			}
			continue
		}
		if err != nil {
			return err
		}
	}
	if len(c.Foreign) > known {
		b, err := json.Marshal(c)
		if err == nil {
			err = f.put(f.changes, pendingName, b, 0o600)
		}
		if err != nil {
			return err
		}
	}
	if err := f.s.step("close"); err != nil {
		return err
	}
	if err := f.changes.Rename(pendingName, recordName(c)); err != nil {
		return err
	}
	if err := syncDir(f.changes, "."); err != nil {
		return err
	}
	f.prune()
	return errors.Join(c.stayed(), f.s.step("closed"))
}

// stayed is ErrChanged for a change that was not made whole.
func (c *Change) stayed() error {
	if len(c.Foreign) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", strings.Join(c.Foreign, ", "), ErrChanged)
}

func recordName(c *Change) string { return fmt.Sprintf("%012d.%s.json", c.N, keyMark(c.By.Key)) }

// keyMark is a key as it stands in a record's name.
func keyMark(key string) string {
	if key == "" {
		return "none"
	}
	return digest([]byte(key))[:16]
}

// apply makes one file what the change wants it to be.
func (f *files) apply(p Part) error { return f.s.placed(f.applied(p)) }

func (f *files) applied(p Part) error {
	now, err := f.read(p.Name)
	switch d := digest(now); {
	case err != nil:
		return err
	case d == p.Post:
		return nil
	case d != p.Pre:
		return ErrChanged
	}
	if err := f.s.step("apply " + p.Name); err != nil {
		return err
	}
	root, rel := f.at(p.Name)
	if p.Post == "" {
		if err := root.Remove(rel); err != nil {
			return err
		}
		if err := syncDir(root, path.Dir(rel)); err != nil {
			return err
		}
		for dir := path.Dir(rel); dir != "." && removed(root, dir); {
			dir = path.Dir(dir)
		}
		return nil
	}
	if err := f.makeDirs(root, rel); err != nil {
		return err
	}
	after := p.After
	if after == nil {
		after = []byte{}
	}
	_, perm := f.s.modes()
	return f.put(root, rel, after, perm)
}

// removed removes a directory, if there is nothing in it.
func removed(root *os.Root, dir string) bool { return root.Remove(dir) == nil }

// put replaces a file by a rename, which is on the disk when it returns.
func (f *files) put(root *os.Root, rel string, b []byte, perm fs.FileMode) error {
	if err := f.lay(root, rel, b, perm, true); err != nil {
		return err
	}
	return syncDir(root, path.Dir(rel))
}

// lay is put, but that after a power loss the file may be the old one. What is laid or put next in the directory is not
// there without it: a file system keeps the order of renames. Without sync the file may also be empty then.
func (f *files) lay(root *os.Root, rel string, b []byte, perm fs.FileMode, sync bool) error {
	temp := path.Join(path.Dir(rel), tempName)
	_ = root.Remove(temp)
	file, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	if _, err = file.Write(b); err == nil {
		err = f.s.step("written " + path.Base(rel))
	}
	if err == nil && sync {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = root.Rename(temp, rel)
	}
	if err == nil {
		err = f.s.step("renamed " + path.Base(rel))
	}
	if err != nil {
		_ = root.Remove(temp)
	}
	return err
}
