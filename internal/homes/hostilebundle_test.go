package homes_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/blake3"

	"github.com/perdure/perdure/internal/bundle"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/test/forge"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// hello is a content.
var hello = []byte("hello\n")

// all lists what lies below a directory: each path with its kind, and what a file holds.
func all(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		line := fmt.Sprintf("%s %s", rel, info.Mode())
		if info.Mode().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %q", b[:min(len(b), 100)])
		}
		out = append(out, line)
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return out
}

// place is where a hostile bundle is taken in, with a canary beside it.
type place struct {
	home       *homes.Home
	top, there string
}

func newPlace(t *testing.T) place {
	t.Helper()
	top := t.TempDir()
	if err := os.WriteFile(filepath.Join(top, "canary"), []byte("alive"), 0o644); err != nil {
		t.Fatal(err)
	}
	return place{capturingHome(t), top, filepath.Join(top, "there")}
}

// take imports a bundle and writes its files. The errors are of the import and of its files.
func (p place) take(t *testing.T, b []byte) (imported, written error) {
	t.Helper()
	a, err := p.home.Receive(t.Context(), bytes.NewReader(b), bundle.Limits{})
	if err == nil {
		err = a.Import(t.Context(), p.there)
	}
	if err != nil {
		return err, nil
	}
	_, _, err = a.Files(t.Context(), p.there)
	return nil, err
}

// lives checks that a home is none the worse for what it has taken in: everything that looks at all of it ends well, and
// the session can be deleted.
func (p place) lives(t *testing.T, imported bool) {
	t.Helper()
	if got, err := os.ReadFile(filepath.Join(p.top, "canary")); err != nil || string(got) != "alive" {
		t.Errorf("the canary: %q, %v", got, err)
	}
	beside, err := os.ReadDir(p.top)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range beside {
		if e.Name() != "canary" && e.Name() != "there" {
			t.Errorf("beside the directory there is %q", e.Name())
		}
	}
	if _, err := p.home.Sweep(t.Context()); err != nil {
		t.Errorf("sweep: %v", err)
	}
	if _, err := p.home.Space(t.Context()); err != nil {
		t.Errorf("space: %v", err)
	}
	_, err = p.home.Store().Get(t.Context(), "s")
	if !imported {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a refused session is there: %v", err)
		}
		if got := all(t, p.there); len(got) > 0 {
			t.Errorf("a refused bundle left %.2000q", got)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.home.View(t.Context(), "s", homes.ViewOptions{}); err != nil {
		t.Errorf("show: %v", err)
	}
	if _, err := p.home.Verify(t.Context(), "s"); err != nil {
		t.Errorf("verify: %v", err)
	}
	if err := p.home.Delete(t.Context(), "s"); err != nil {
		t.Errorf("delete: %v", err)
	}
	if _, err := p.home.Sweep(context.Background()); err != nil {
		t.Errorf("sweep: %v", err)
	}
}

// Goal: tree objects that no capture writes, in a bundle that is sound in all else, are refused before anything is there.
func TestTreesThatAreNoneAreRefused(t *testing.T) {
	under := forge.Object(forge.File("f", hello))
	bad := func(e tree.Entry) [][]byte { return [][]byte{under, forge.Object(e)} }
	entry := func(change func(*tree.Entry)) [][]byte {
		e := forge.File("f", hello)
		change(&e)
		return bad(e)
	}
	many := make([]tree.Entry, tree.MaxEntries+1)
	for i := range many {
		many[i] = forge.Link(fmt.Sprintf("%07d", i), "x")
	}
	cases := map[string][][]byte{
		"the directory above":          bad(forge.Dir("..", under)),
		"itself":                       bad(forge.Dir(".", under)),
		"a path":                       bad(forge.File("a/b", hello)),
		"a path upwards":               bad(forge.File("../canary", hello)),
		"an absolute path":             bad(forge.File("/etc/passwd", hello)),
		"a NUL":                        bad(forge.File("a\x00b", hello)),
		"no name":                      bad(forge.File("", hello)),
		"a name of 4096 bytes":         bad(forge.File(strings.Repeat("n", 4096), hello)),
		"two of one name":              {forge.Object(forge.File("f", hello), forge.File("f", hello))},
		"a link and a file of a name":  {under, forge.Object(forge.Link("x", "/"), forge.Dir("x", under))},
		"out of order":                 {forge.Object(forge.File("z", hello), forge.File("a", hello))},
		"a size below zero":            entry(func(e *tree.Entry) { e.Size = -1 }),
		"a mode of more bits":          entry(func(e *tree.Entry) { e.Mode = 0o170644 }),
		"an unknown kind":              entry(func(e *tree.Entry) { e.Kind = 9 }),
		"an unknown flag":              entry(func(e *tree.Entry) { e.Flags = 0x80 }),
		"no digest":                    entry(func(e *tree.Entry) { e.Digest = store.Digest{} }),
		"a link to nowhere":            bad(forge.Link("l", "")),
		"a link with a NUL":            bad(forge.Link("l", "a\x00b")),
		"a link that is too long":      bad(forge.Link("l", strings.Repeat("t", 70_000))),
		"over a million entries":       {forge.Object(many...)},
		"a count without entries":      {{1, 0xff, 0xff, 0x3d}},
		"a number in a longer form":    {{1, 0x80, 0x00}},
		"bytes after it":               {append(forge.Object(), 0)},
		"another version":              {{2, 0}},
		"nothing":                      {{}},
		"a file's content":             {hello},
		"zeros":                        {make([]byte, 1<<20)},
		"unnamed by the log, and none": {hello, forge.Object()},
	}
	for name, trees := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			imported, _ := p.take(t, forge.OfTrees([][]byte{hello}, trees...).Bytes(t))
			if !errors.Is(imported, bundle.ErrFormat) {
				t.Errorf("it is taken: %v", imported)
			}
			p.lives(t, false)
		})
	}
}

// Goal: trees that are well formed and lie, or lead somewhere, do no harm: what can be written is written below the
// directory, the rest is left out or ends it with nothing written.
func TestTreesThatLieDoNoHarm(t *testing.T) {
	under := forge.Object(forge.File("config", hello), forge.File("hooks", hello))
	with := func(size int64) tree.Entry {
		e := forge.File("f", hello)
		e.Size = size
		return e
	}
	at := func(mtime int64) tree.Entry {
		e := forge.File("f", hello)
		e.MTime = mtime
		return e
	}
	mode := func(e tree.Entry, mode uint32) tree.Entry {
		e.Mode = mode
		return e
	}
	deep := [][]byte{under}
	for range 10_000 {
		deep = append(deep, forge.Object(forge.Dir("d", deep[len(deep)-1])))
	}
	deepest := [][]byte{under}
	for range tree.MaxDepth - 1 {
		deepest = append(deepest, forge.Object(forge.Dir("d", deepest[len(deepest)-1])))
	}
	missing := store.Sum([]byte("nobody has this"))
	cases := map[string]struct {
		trees  [][]byte
		want   []string // what is there then, in part; nil: nothing at all
		refuse bool     // the import, not the files alone
	}{
		"git's own at the top":    {trees: [][]byte{under, forge.Object(forge.Dir(".git", under), forge.File("f", hello))}, want: []string{`f -rw-r--r-- "hello\n"`}},
		"git's own deep down":     {trees: [][]byte{under, forge.Object(forge.Dir(".git", under)), forge.Object(forge.Dir("sub", forge.Object(forge.Dir(".git", under))))}, want: []string{"sub drwxr-xr-x"}},
		"git's own in capitals":   {trees: [][]byte{under, forge.Object(forge.Dir(".GIT", under))}, want: []string{}},
		"git's own, short":        {trees: [][]byte{under, forge.Object(forge.Dir("GIT~1", under))}, want: []string{}},
		"git's own with dots":     {trees: [][]byte{under, forge.Object(forge.Dir(".git. .", under))}, want: []string{}},
		"git's own, ignorable":    {trees: [][]byte{under, forge.Object(forge.Dir(".g\u200cit", under))}, want: []string{}},
		"git's own as a file":     {trees: [][]byte{forge.Object(forge.File(".git", []byte("gitdir: /tmp/elsewhere\n")))}, want: []string{}},
		"git's own as a link":     {trees: [][]byte{forge.Object(forge.Link(".git", "/tmp/elsewhere"))}, want: []string{}},
		"a restore's own":         {trees: [][]byte{under, forge.Object(forge.Dir(".perdure-restore-1", under))}, want: []string{}},
		"a build's own":           {trees: [][]byte{under, forge.Object(forge.Dir(".perdure-building-there", under))}, want: nil},
		"links that lead out":     {trees: [][]byte{forge.Object(forge.Link("a", "/etc/passwd"), forge.Link("b", "../canary"), forge.Link("c", "../../../../.."))}, want: []string{"a Lrwxrwxrwx", "b Lrwxrwxrwx", "c Lrwxrwxrwx"}},
		"bits of a mode":          {trees: [][]byte{forge.Object(mode(forge.File("f", hello), 0o7777), mode(forge.Dir("g", forge.Object()), 0o7777)), forge.Object()}, want: nil},
		"a size too large":        {trees: [][]byte{forge.Object(with(math.MaxInt64))}},
		"sizes that overflow":     {trees: [][]byte{forge.Object(with(math.MaxInt64), func() tree.Entry { e := with(math.MaxInt64); e.Name = "g"; return e }())}},
		"a size too small":        {trees: [][]byte{forge.Object(with(0))}},
		"the first time":          {trees: [][]byte{forge.Object(at(math.MinInt64))}, want: []string{`f -rw-r--r-- "hello\n"`}},
		"the last time":           {trees: [][]byte{forge.Object(at(math.MaxInt64))}, want: []string{`f -rw-r--r-- "hello\n"`}},
		"names of one case":       {trees: [][]byte{forge.Object(forge.File("A", hello), forge.File("a", hello))}, want: nil},
		"names that are no text":  {trees: [][]byte{forge.Object(forge.File("\x1b[2J", hello), forge.File("\xff\xfe", hello))}, want: nil},
		"what git ignores":        {trees: [][]byte{forge.Object(tree.Entry{Name: ".env", Kind: tree.File, Flags: tree.Private, Mode: 0o644, Size: 6, Digest: store.Sum(hello)})}, want: []string{}},
		"devices":                 {trees: [][]byte{forge.Object(tree.Entry{Name: "null", Kind: tree.Other, Mode: 0o666})}, want: []string{}},
		"depth":                   {trees: deep},
		"the deepest":             {trees: deepest, want: nil},
		"a file as a directory":   {trees: [][]byte{forge.Object(tree.Entry{Name: "d", Kind: tree.Dir, Mode: 0o755, Digest: store.Sum(hello)})}},
		"a directory as a file":   {trees: [][]byte{under, forge.Object(forge.File("f", under))}, want: nil},
		"a content that is not":   {trees: [][]byte{forge.Object(tree.Entry{Name: "f", Kind: tree.File, Mode: 0o644, Size: 6, Digest: missing})}},
		"a directory that is not": {trees: [][]byte{forge.Object(tree.Entry{Name: "d", Kind: tree.Dir, Mode: 0o755, Digest: missing})}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			imported, written := p.take(t, forge.OfTrees([][]byte{hello, []byte("gitdir: /tmp/elsewhere\n")}, c.trees...).Bytes(t))
			t.Logf("import: %v; files: %.300v", imported, written)
			got := all(t, p.there)
			if written != nil && len(got) > 0 {
				t.Errorf("it failed and left %.1000q", got)
			}
			for _, want := range c.want {
				if !slices.Contains(got, want) {
					t.Errorf("%q is not there: %q", want, got)
				}
			}
			if c.want != nil && len(got) != len(c.want) {
				t.Errorf("there is %q, want %q", got, c.want)
			}
			for _, line := range got {
				if name := strings.ToLower(line); strings.Contains(name, ".git") || strings.HasPrefix(name, ".perdure-restore") {
					t.Errorf("there is %q", line)
				}
				if f := strings.Fields(line); strings.HasPrefix(f[len(f)-2], "u") || strings.HasPrefix(f[len(f)-2], "g") {
					t.Errorf("there is %q", line)
				}
			}
			p.lives(t, imported == nil)
		})
	}
}

// impatient stops a reading after some bytes.
type impatient struct {
	*bytes.Reader
	stop func()
	left int
}

func (i *impatient) Read(p []byte) (int, error) {
	n, err := i.Reader.Read(p)
	if i.left -= n; i.left < 0 {
		i.stop()
	}
	return n, err
}

// zeros is a content without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Goal: a small bundle that unfolds into very much can be stopped at any time: it is not unfolded to its end first.
func TestALargeArrivalCanBeStopped(t *testing.T) {
	const size = 256 << 20
	sum := blake3.New()
	if _, err := io.CopyN(sum, zeros{}, size); err != nil {
		t.Fatal(err)
	}
	large := forge.Large{Digest: store.Digest(sum.Sum(nil)), Size: size, Open: func() io.Reader { return zeros{} }}
	b := forge.Bundle{Bodies: []session.Body{forge.Opened("s")}, Large: []forge.Large{large}}.Bytes(t)
	p := newPlace(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	from := &impatient{bytes.NewReader(b), stop, len(b) / 10}
	if _, err := p.home.Receive(ctx, from, bundle.Limits{}); !errors.Is(err, context.Canceled) || from.Len() < len(b)/2 {
		t.Errorf("%v, with %d of %d bytes unread", err, from.Len(), len(b))
	}
	p.lives(t, false)
}

// Goal: a few kilobytes that stand for billions of files are refused: everything that compares or restores them would go
// through them all.
func TestTreesThatStandForTooMuchAreRefused(t *testing.T) {
	var entries []tree.Entry
	for i := range 1000 {
		entries = append(entries, forge.File(fmt.Sprintf("%04d", i), hello))
	}
	objects := [][]byte{forge.Object(entries...)}
	for range 3 {
		entries = nil
		for i := range 1000 {
			entries = append(entries, forge.Dir(fmt.Sprintf("%04d", i), objects[len(objects)-1]))
		}
		objects = append(objects, forge.Object(entries...))
	}
	p := newPlace(t)
	if imported, _ := p.take(t, forge.OfTrees([][]byte{hello}, objects...).Bytes(t)); !errors.Is(imported, bundle.ErrTooLarge) {
		t.Errorf("it is taken: %v", imported)
	}
	p.lives(t, false)
}
