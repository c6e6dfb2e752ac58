package knowledge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Names of handoffs as they lie in a scope's directory, or in the project's root.
const (
	handoffName    = "HANDOFF.md"
	handoffHistory = "handoff-history"
	rootMark       = "handoff-in-root" // in the home: the project's handoff belongs into its root
)

// desk is where a project's handoffs lie, as it is open: for reading, or under the scope's lock.
type desk struct {
	*files
	project *os.Root // the project's root; nil: there is none
	agent   *os.Root // its .agent, where that is not the scope's own
}

// spot is a place of a handoff.
type spot struct {
	root    *os.Root
	dir     string // of the root, absolute
	name    string
	foreign bool
}

func (p spot) path() string { return filepath.Join(p.dir, p.name) }

func (s *Scope) lookDesk() (*desk, error) {
	base, err := openAt(s.anchor, s.path, false, 0)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	d := &desk{files: &files{s: s, base: base}}
	if err := d.openProject(); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

func (s *Scope) holdDesk(ctx context.Context) (*desk, error) {
	perm, _ := s.modes()
	base, err := openAt(s.anchor, s.path, true, perm)
	if err != nil {
		return nil, err
	}
	d := &desk{files: &files{s: s, base: base}}
	if d.lock, err = lockDir(ctx, base); err != nil {
		err = fmt.Errorf("lock %s: %w", s.Dir(), err)
	} else {
		err = d.openProject()
	}
	if err != nil {
		d.close()
		return nil, err
	}
	d.sweep()
	return d, nil
}

// openProject opens where handoffs may lie beside the scope's directory. What is not there, or a link, has none.
func (d *desk) openProject() error {
	project, err := os.OpenRoot(d.s.root)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if d.project = project; err == nil && !d.s.shared {
		d.agent, err = enter(project, agentDir, false, 0)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrLink) || errors.Is(err, fs.ErrPermission) {
			err = nil
		}
	}
	return err
}

func (d *desk) close() {
	for _, r := range []*os.Root{d.project, d.agent} {
		if r != nil {
			r.Close()
		}
	}
	d.files.close()
}

// sweep takes away what a kill left: half-written files, and names in the history that nothing was moved to.
func (d *desk) sweep() {
	_ = d.base.Remove(tempName)
	if d.s.shared && d.project != nil {
		_ = d.project.Remove(tempName)
	}
	_ = d.base.Remove(path.Join(handoffHistory, tempName))
	for _, name := range d.pastNames() {
		at := path.Join(handoffHistory, name)
		if info, err := d.base.Lstat(at); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			_ = d.base.Remove(at)
		}
	}
}

// slot is where the newest handoff belongs: where one lies; else in the project's root if the last one lay there.
func (d *desk) slot() spot {
	base := spot{root: d.base, dir: d.s.Dir(), name: handoffName}
	if !d.s.shared || d.project == nil {
		return base
	}
	top := spot{root: d.project, dir: d.s.root, name: handoffName}
	switch {
	case regular(top):
		return top
	case regular(base):
		return base
	}
	home, err := openAt(d.s.cfg.Home, d.markPath(), false, 0)
	if err != nil {
		return base
	}
	defer home.Close()
	if _, err := home.Lstat(rootMark); err == nil {
		return top
	}
	return base
}

func (d *desk) markPath() []string { return []string{homeDir, Key(d.s.root)} }

func regular(p spot) bool {
	if p.root == nil {
		return false
	}
	info, err := p.root.Lstat(p.name)
	return err == nil && info.Mode().IsRegular()
}

// markRoot remembers that the project's handoff lies in its root.
func (d *desk) markRoot() error {
	home, err := openAt(d.s.cfg.Home, d.markPath(), true, 0o700)
	if err != nil {
		return err
	}
	defer home.Close()
	if _, err := home.Lstat(rootMark); err == nil {
		return nil
	}
	return d.put(home, rootMark, []byte("handoffs lie in the root of "+d.s.root+"\n"), 0o600)
}
