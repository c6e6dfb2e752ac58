package knowledge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/realdir"

	"github.com/perdure/perdure/internal/sys"
)

// Scope is one memory: its index, its files, its changes.
type Scope struct {
	Name string // project or user

	cfg        Config
	root       string   // of the project
	anchor     string   // the directory that is there already
	path       []string // of the scope's directory, below the anchor
	changes    []string // of the directory of its changes, below the home
	shared     bool     // it lies in a project, for others to read
	indexAbove bool     // the index is that of the project's root
}

// Dir is where the scope's files lie.
func (s *Scope) Dir() string { return filepath.Join(append([]string{s.anchor}, s.path...)...) }

// IndexFile is where its index lies.
func (s *Scope) IndexFile() string {
	if s.indexAbove {
		return filepath.Join(s.root, indexName)
	}
	return filepath.Join(s.Dir(), indexName)
}

func (s *Scope) modes() (dir, file fs.FileMode) {
	if s.shared {
		return 0o755, 0o644
	}
	return 0o700, 0o600
}

func (s *Scope) step(name string) error {
	if s.cfg.Fault == nil {
		return nil
	}
	return s.cfg.Fault(name)
}

// files is a scope as it is open: for reading, or under its lock for changing.
type files struct {
	s       *Scope
	base    *os.Root // nil: there is nothing yet
	top     *os.Root // where the index is
	changes *os.Root // nil: it is only read
	lock    *os.File
}

// look opens a scope for reading. A scope that is not there is empty.
func (s *Scope) look() (*files, error) {
	f := &files{s: s}
	base, err := openAt(s.anchor, s.path, false, 0)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil {
		f.base, f.top = base, base
	}
	if err := f.openTop(); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *files) openTop() error {
	if !f.s.indexAbove {
		return nil
	}
	top, err := os.OpenRoot(f.s.root)
	if err == nil {
		f.top = top
	}
	return err
}

// hold opens a scope for changing it, makes its directories, takes its lock and finishes what a crash left.
func (s *Scope) hold(ctx context.Context) (*files, error) {
	f := &files{s: s}
	if err := f.take(ctx); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *files) take(ctx context.Context) (err error) {
	s := f.s
	perm, _ := s.modes()
	if f.base, err = openAt(s.anchor, s.path, true, perm); err != nil {
		return s.placed(err)
	}
	f.top = f.base
	if f.lock, err = lockDir(ctx, f.base); err != nil {
		return s.placed(fmt.Errorf("lock %s: %w", s.Dir(), err))
	}
	if f.changes, err = openAt(s.cfg.Home, s.changes, true, 0o700); err != nil {
		return err
	}
	if err = f.openTop(); err != nil {
		return err
	}
	return f.recover()
}

func (f *files) close() {
	if f.top != nil && f.top != f.base {
		f.top.Close()
	}
	for _, r := range []*os.Root{f.changes, f.base} {
		if r != nil {
			r.Close()
		}
	}
	if f.lock != nil {
		f.lock.Close() // and with it the lock
	}
}

// at is where a file of the scope lies: the index, the metadata, else a file of details.
func (f *files) at(name string) (*os.Root, string) {
	switch name {
	case indexName:
		return f.top, indexName
	case metaName:
		return f.base, metaName
	}
	return f.base, detailDir + "/" + name
}

// maxRead bounds what is read of one file, which a person may have written, in bytes.
const maxRead = 1 << 20

// read gives a file's bytes; one that is not there is nil.
func (f *files) read(name string) ([]byte, error) {
	root, rel := f.at(name)
	if root == nil {
		return nil, nil
	}
	file, err := openFile(root, rel, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.s.shown(name), err)
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxRead+1))
	if err == nil && len(b) > maxRead {
		err = fmt.Errorf("over %d bytes", maxRead)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.s.shown(name), err)
	}
	if b == nil {
		b = []byte{}
	}
	return b, nil
}

// ErrNames says that a file that is written in its place has another name: there, something else may obey it.
var ErrNames = errors.New("it has a second name (a hard link), under which it would be changed too")

// openFile opens a regular file that no link leads to, and to write one that has no other name.
func openFile(root *os.Root, rel string, flag int, perm fs.FileMode) (*os.File, error) {
	for i := range len(rel) {
		if rel[i] != '/' {
			continue
		}
		if info, err := root.Lstat(rel[:i]); err != nil {
			return nil, err
		} else if !info.IsDir() {
			return nil, ErrLink
		}
	}
	if info, err := root.Lstat(rel); err == nil && !info.Mode().IsRegular() {
		return nil, ErrLink
	} else if err != nil && (flag&os.O_CREATE == 0 || !errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	file, err := root.OpenFile(rel, flag|sys.NonBlock|sys.NoFollow, perm)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, errors.Join(ErrLink, err)
	}
	dir, err := root.Stat(path.Dir(rel))
	if err == nil {
		err = realdir.Stranger(info, dir)
	}
	if n, e := sys.Names(file); err == nil && e == nil && n > 1 && flag&(os.O_WRONLY|os.O_RDWR) != 0 {
		err = ErrNames
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// Kept is a file of details.
type Kept struct {
	Name string
	Size int64
}

// maxListed bounds the files and directories that are looked at.
const maxListed = 4096

// list gives the files of details, by name. Hidden ones, links and node_modules are left out.
func (f *files) list() ([]Kept, error) {
	if f.base == nil {
		return nil, nil
	}
	switch info, err := f.base.Lstat(detailDir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s: %w", filepath.Join(f.s.Dir(), detailDir), ErrLink)
	}
	var out []Kept
	seen := 0
	err := fs.WalkDir(f.base.FS(), detailDir, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if seen++; seen > maxListed {
			return fs.SkipAll // more than a memory may have by far
		}
		name, below := strings.CutPrefix(at, detailDir+"/")
		switch shows := below && checkName(name) == nil; {
		case below && !shows && d.IsDir():
			return fs.SkipDir
		case !shows || name == indexName || !d.Type().IsRegular():
			return nil
		}
		size, err := sizeOf(d)
		if size >= 0 {
			out = append(out, Kept{Name: name, Size: size})
		}
		return err
	})
	slices.SortFunc(out, func(a, b Kept) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}

// sizeOf is the size of a file, negative if it has just gone.
func sizeOf(d fs.DirEntry) (int64, error) {
	info, err := d.Info()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return -1, nil
	case err != nil:
		return -1, err
	}
	return info.Size(), nil
}

// makeDirs makes the directories of a file of details.
func (f *files) makeDirs(root *os.Root, rel string) error {
	perm, _ := f.s.modes()
	for i := range len(rel) {
		if rel[i] != '/' {
			continue
		}
		info, err := root.Lstat(rel[:i])
		if errors.Is(err, fs.ErrNotExist) {
			if err = root.Mkdir(rel[:i], perm); err == nil {
				err = syncDir(root, path.Dir(rel[:i]))
			}
		} else if err == nil && !info.IsDir() {
			err = ErrLink
		}
		if err != nil {
			return err
		}
	}
	return nil
}
