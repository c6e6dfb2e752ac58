// Package instructions reads the files that people keep for agents: AGENTS.md, or CLAUDE.md where there is none, of the
// user and of a project. What they say is text for the model. It is never a permission.
package instructions

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/store"

	"github.com/perdure/perdure/internal/sys"
)

// names are looked for in each directory; the first one that is there counts.
var names = []string{"AGENTS.md", "CLAUDE.md"}

// Bounds of what is read, in bytes. What is left out is said in the text.
const (
	MaxFile  = 64 << 10
	MaxTotal = 128 << 10 // of what a session begins with
)

// File is a file with instructions.
type File struct {
	Path   string
	Digest store.Digest // of the bytes that were read
	Text   string       // valid UTF-8
}

// Reader reads them.
type Reader struct {
	User string // the user's own file, absolute; empty: none
}

// Start reads what a session in dir begins with: the user's file, then those of the directories from root down to dir,
// which lies in it. What is not there is left out; of what cannot be read, or is too much, the text says so.
func (r Reader) Start(root, dir string) []File {
	var out []File
	room := MaxTotal
	add := func(f File, err error) {
		switch {
		case errors.Is(err, fs.ErrNotExist) || err == nil && f.Text == "":
			return
		case err != nil:
			f = File{Path: f.Path, Text: fmt.Sprintf("[This file could not be read: %v]", err)}
		case len(f.Text) > room:
			f = File{Path: f.Path, Text: "[This file is left out here, since those before it fill the room for instructions. Read reads it.]"}
		}
		room -= len(f.Text)
		out = append(out, f)
	}
	if r.User != "" {
		add(openUser(r.User))
	}
	for _, d := range Between(root, dir) {
		add(Of(root, d))
	}
	return out
}

// Between lists the directories from root down to dir, both included; only root if dir is not in it.
func Between(root, dir string) []string {
	rel, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return []string{root}
	}
	out := []string{root}
	for _, name := range strings.Split(rel, string(filepath.Separator)) {
		if name != "." {
			out = append(out, filepath.Join(out[len(out)-1], name))
		}
	}
	return out
}

// Of reads the file of one directory. Links are followed as long as they stay below root, and below root itself only to
// files of these names. A file that cannot be read has its path all the same. Errors: fs.ErrNotExist.
func Of(root, dir string) (File, error) {
	at, err := os.OpenRoot(root)
	if err != nil {
		return File{}, err
	}
	defer at.Close()
	rel, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return File{}, fmt.Errorf("%s is not in %s", dir, root)
	}
	for _, name := range names {
		f, err := at.OpenFile(filepath.Join(rel, name), os.O_RDONLY|sys.NonBlock, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return File{Path: filepath.Join(dir, name)}, err
		}
		if rel != "." && slices.ContainsFunc(linked(at, filepath.Join(rel, name)), func(to string) bool { return !slices.Contains(names, filepath.Base(to)) }) {
			f.Close()
			return File{Path: filepath.Join(dir, name)}, ErrLinked
		}
		return readIn(at, rel, filepath.Join(dir, name), f)
	}
	return File{}, fmt.Errorf("%s: no instructions: %w", dir, fs.ErrNotExist)
}

// openUser reads the user's own file, wherever links lead to it.
func openUser(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|sys.NonBlock, 0)
	if err != nil {
		return File{Path: path}, err
	}
	return read(path, f)
}

// readIn reads and closes a file of a directory. What another user put there, or where a link to it leads, is not the
// project's.
func readIn(at *os.Root, rel, path string, f *os.File) (File, error) {
	dir, err := at.Stat(rel)
	if err == nil {
		var info fs.FileInfo
		if info, err = f.Stat(); err == nil {
			err = realdir.Stranger(info, dir)
		}
	}
	if err != nil {
		f.Close()
		return File{Path: path}, err
	}
	return read(path, f)
}

// read reads and closes a file. Only a regular one has instructions: a pipe would never end.
func read(path string, f *os.File) (File, error) {
	defer f.Close()
	out := File{Path: path}
	info, err := f.Stat()
	if err != nil {
		return out, err
	}
	if !info.Mode().IsRegular() {
		return out, errors.New("it is no regular file")
	}
	b, err := io.ReadAll(io.LimitReader(f, MaxFile))
	if err != nil {
		return out, err
	}
	if slices.Contains(b, 0) {
		return out, errors.New("it is no text")
	}
	out.Digest, out.Text = store.Sum(b), strings.TrimSpace(strings.ToValidUTF8(string(b), "\uFFFD"))
	if left := info.Size() - int64(len(b)); left > 0 {
		out.Text += fmt.Sprintf("\n[%d more bytes of this file are left out here. Read reads them.]", left)
	}
	return out, nil
}

// Gone reports whether a file that was read once is no longer there.
func Gone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}
