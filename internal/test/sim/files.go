package sim

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/store"
)

// file is a file of the world.
type file struct {
	data []byte
	mode uint32
}

// files is the world's filesystem as a process sees it. Directories exist by what is in them.
type files struct{ p *process }

var (
	_ tools.Files = files{}
	_ tools.Tree  = files{}
)

func (f files) Resolve(name string) (string, error) {
	return filepath.Clean(name), f.p.check()
}

// look finds a file under the world's lock; nil with a true says directory.
func (w *World) look(name string) (*file, bool) {
	if f := w.files[name]; f != nil {
		return f, false
	}
	for other := range w.files {
		if strings.HasPrefix(other, strings.TrimSuffix(name, "/")+"/") {
			return nil, true
		}
	}
	return nil, false
}

func (f files) Read(name string, limit int64) ([]byte, tools.FileInfo, error) {
	w := f.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := f.p.pointLocked("file.read"); err != nil {
		return nil, tools.FileInfo{}, err
	}
	got, dir := w.look(name)
	switch {
	case dir:
		return nil, tools.FileInfo{Exists: true, Dir: true, Mode: 0o755}, nil
	case got == nil:
		return nil, tools.FileInfo{Mode: 0o644}, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	b := got.data
	if limit > 0 && int64(len(b)) > limit {
		b = b[:limit]
	}
	return bytes.Clone(b), infoOf(got), nil
}

func infoOf(f *file) tools.FileInfo {
	return tools.FileInfo{Exists: true, Size: int64(len(f.data)), Mode: f.mode, Links: 1}
}

func (f files) Digest(name string) (store.Digest, tools.FileInfo, error) {
	w := f.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := f.p.pointLocked("file.digest"); err != nil {
		return store.Digest{}, tools.FileInfo{}, err
	}
	got, dir := w.look(name)
	switch {
	case dir:
		return store.Digest{}, tools.FileInfo{Exists: true, Dir: true, Mode: 0o755}, nil
	case got == nil:
		return store.Digest{}, tools.FileInfo{Mode: 0o644}, nil
	}
	return store.Sum(got.data), infoOf(got), nil
}

func (f files) Replace(e session.Edit, content []byte) error {
	w := f.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := f.p.pointLocked("file.replace.before"); err != nil {
		return err
	}
	var now store.Digest
	if got, _ := w.look(e.Path); got != nil {
		now = store.Sum(got.data)
	}
	switch now {
	case e.Post: // only synced
	case e.Pre:
		w.intended("", session.KindToolStarted, `"post":"`+e.Post.String()+`"`)
		w.files[e.Path] = &file{data: bytes.Clone(content), mode: e.Mode}
		w.changes[e.Path+" "+e.Post.String()]++
	default:
		return tools.ErrChanged
	}
	return f.p.pointLocked("file.replace.after")
}

func (f files) Open(name string) (io.ReadCloser, tools.FileInfo, error) {
	b, info, err := f.Read(name, 0)
	if err == nil && info.Dir {
		err = tools.ErrNotRegular
	}
	return io.NopCloser(bytes.NewReader(b)), info, err
}

func (f files) List(dir string, limit int) ([]fs.DirEntry, error) {
	w := f.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := f.p.pointLocked("file.list"); err != nil {
		return nil, err
	}
	prefix := strings.TrimSuffix(dir, "/") + "/"
	seen := map[string]bool{}
	var out []fs.DirEntry
	for name, got := range w.files {
		rel, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		first, _, deeper := strings.Cut(rel, "/")
		if seen[first] || len(out) >= limit {
			continue
		}
		seen[first] = true
		out = append(out, entry{name: first, dir: deeper, file: got})
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out, nil
}

// entry is a directory entry, and its own fs.FileInfo.
type entry struct {
	name string
	dir  bool
	file *file
}

func (e entry) Name() string               { return path.Base(e.name) }
func (e entry) IsDir() bool                { return e.dir }
func (e entry) Info() (fs.FileInfo, error) { return e, nil }
func (e entry) Size() int64                { return int64(len(e.file.data)) }
func (e entry) ModTime() time.Time         { return time.Unix(1, 0) }
func (e entry) Sys() any                   { return nil }
func (e entry) Type() fs.FileMode          { return e.Mode().Type() }

func (e entry) Mode() fs.FileMode {
	if e.dir {
		return fs.ModeDir | 0o755
	}
	return fs.FileMode(e.file.mode)
}
