package tools

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Goal: text is shown with its numbers, as much of it as is asked for, and the session learns of the whole file.
func TestReadText(t *testing.T) {
	w := newWorld(t)
	path := w.put("a.txt", "one\n\ttwo\r\nthree")
	r := w.call("Read", obj{"file_path": "a.txt"})
	w.golden(r, false, "     1\tone\n     2\t\ttwo\n     3\tthree")
	want := session.File{Path: path, Digest: store.Sum([]byte("one\n\ttwo\r\nthree")), Mode: 0o644, Size: 15, Use: session.FileRead}
	got := w.State.Files[path]
	got.Time, got.Seq = 0, 0
	if got != want {
		t.Errorf("seen: %+v", got)
	}
	w.golden(w.call("Read", obj{"file_path": path, "offset": 2, "limit": "1"}), false,
		"     2\t\ttwo\n[lines 2 to 2 of 3; continue with offset 3]")
	w.golden(w.call("Read", obj{"file_path": "./x/../a.txt", "offset": 0, "limit": 1}), false,
		"     1\tone\n[lines 1 to 1 of 3; continue with offset 2]")
	w.golden(w.call("Read", obj{"file_path": "a.txt", "offset": 9}), true, "CWD/a.txt has 3 lines; offset 9 is past its end")
	w.put("empty", "")
	w.golden(w.call("Read", obj{"file_path": "empty"}), false, "(CWD/empty is empty)")
	if _, ok := w.State.Files[w.path("empty")]; !ok {
		t.Error("the empty file was not seen")
	}
	w.put("home/h.txt", "\xef\xbb\xbfmark\nb\xe4d\n")
	w.golden(w.call("Read", obj{"file_path": "~/h.txt"}), false,
		"     1\tmark\n     2\tb\uFFFDd\n[1 line is not valid UTF-8; what is not is shown as \uFFFD]")
}

// Goal: the bounds of a read hold for many lines, long lines and much text, and say how to go on.
func TestReadBounds(t *testing.T) {
	w := newWorld(t)
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	w.put("many", b.String())
	r := w.call("Read", obj{"file_path": "many"})
	w.contains(r, false, "     1\tline 1\n", "  2000\tline 2000\n[lines 1 to 2000 of 5000; continue with offset 2001]")
	w.contains(w.call("Read", obj{"file_path": "many", "offset": 4999}), false, "  5000\tline 5000")

	w.put("long", strings.Repeat("ü", 3000)+"\n"+strings.Repeat("x", 300_000)+"\nend\n")
	r = w.call("Read", obj{"file_path": "long"})
	w.golden(r, false, "     1\t"+strings.Repeat("ü", 2000)+"… [line cut: 2000 more bytes]\n"+
		"     2\t"+strings.Repeat("x", 2000)+"… [line cut: 298000 more bytes]\n     3\tend")

	w.put("wide", strings.Repeat(strings.Repeat("y", 1000)+"\n", 500))
	text := model.Text(w.call("Read", obj{"file_path": "wide"}).Content)
	if len(text) > maxReadText+2000 || !strings.Contains(text, " of 500; continue with offset ") {
		t.Errorf("%d bytes: %s", len(text), text[len(text)-80:])
	}
	if f := w.State.Files[w.path("wide")]; f.Digest != store.Sum([]byte(w.get("wide"))) {
		t.Error("a file shown in part is not digested as a whole")
	}
}

// Goal: a file over the bound of what is looked at is shown in part, and says that it can't be edited.
func TestReadTooLarge(t *testing.T) {
	v := &view{first: 1, limit: readLines}
	src := &bounded{ctx: t.Context(), r: strings.NewReader(strings.Repeat("line\n", 100)), left: 12}
	if err := v.scan(bufio.NewReader(src)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("err = %v", err)
	}
	newWorld(t).golden(v.result("f"), false,
		"     1\tline\n     2\tline\n[lines 1 to 2; the file is too large to be looked at whole, so it can't be edited]")
}

// Goal: images and documents are known by their bytes and come as parts of their own; other binaries do not come.
func TestReadMedia(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct{ head, media string }{
		"a": {"\x89PNG\r\n\x1a\n\x00", "image/png"}, "b": {"\xff\xd8\xff\xe0", "image/jpeg"}, "c": {"GIF89a\x00", "image/gif"},
		"d": {"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"}, "e": {"%PDF-1.7\n", "application/pdf"},
	} {
		w.put(name, c.head)
		r := w.call("Read", obj{"file_path": name})
		w.contains(r, false, fmt.Sprintf("%s: %s, %d bytes", w.path(name), c.media, len(c.head)))
		if len(r.Content) != 2 || r.Content[1].Media != c.media || string(r.Content[1].Data) != c.head {
			t.Errorf("%s: %+v", c.media, r.Content)
		}
		if _, ok := w.State.Files[w.path(name)]; !ok {
			t.Errorf("%s was not seen", name)
		}
	}
	w.put("big.png", "\x89PNG\r\n\x1a\n"+strings.Repeat("\x00", maxImage))
	w.golden(w.call("Read", obj{"file_path": "big.png"}), true,
		"CWD/big.png is a image/png image of 5242888 bytes; at most 5242880 can be shown. Make it smaller with a command")
	w.put("bin", "\x7fELF\x00\x00")
	w.golden(w.call("Read", obj{"file_path": "bin"}), true,
		"CWD/bin is a binary file of 6 bytes; look at it with a command such as xxd or strings")
	w.put("fake.png", "text")
	w.golden(w.call("Read", obj{"file_path": "fake.png"}), false, "     1\ttext")
}

// Goal: what is no file is refused without being opened: nothing hangs on a pipe or acts on a device.
func TestReadRefusals(t *testing.T) {
	w := newWorld(t)
	w.put("dir/f", "x")
	w.golden(w.call("Read", obj{"file_path": "dir"}), true, `CWD/dir is a directory; list it with Glob, pattern "CWD/dir/*"`)
	w.golden(w.call("Read", obj{"file_path": "none"}), true, "no file at CWD/none")
	w.contains(w.call("Read", obj{"file_path": "dir/f/g"}), true, "not a directory")
	if err := unix.Mkfifo(w.path("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", w.path("sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, name := range []string{"pipe", "sock", "/dev/zero", "/dev/tty"} {
		w.contains(w.call("Read", obj{"file_path": name}), true, "is a device, a pipe or a socket")
		w.contains(w.call("Write", obj{"file_path": name, "content": "x"}), true, "is a device, a pipe or a socket")
	}
	if err := os.Symlink("loop", w.path("loop")); err != nil {
		t.Fatal(err)
	}
	w.contains(w.call("Read", obj{"file_path": "loop"}), true, "symbolic links")
	w.contains(w.call("Read", obj{"file_path": "a\x00b"}), true, "NUL")
	w.contains(w.call("Read", obj{"file_path": strings.Repeat("x", 5000)}), true, "longer than 4096")
	w.Home = ""
	w.contains(w.call("Read", obj{"file_path": "~/x"}), true, "home directory")
	if len(w.State.Files) > 0 {
		t.Errorf("seen: %+v", w.State.Files)
	}
}

// Goal: a cancelled read ends with the context's error, for the engine; it is no result.
func TestReadCancelled(t *testing.T) {
	w := newWorld(t)
	w.put("f", "x")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := readFile{}.Run(ctx, Call{Name: "Read", Input: []byte(`{"file_path":"f"}`)}, w.Env)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// plainFiles hides that OSFiles is a Tree.
type plainFiles struct{ Files }

// Goal: Read works over the least that Files can do; searches say that they can't.
func TestWithoutTree(t *testing.T) {
	w := newWorld(t)
	w.put("f", "x\n")
	w.Files = plainFiles{OSFiles{}}
	w.golden(w.call("Read", obj{"file_path": "f"}), false, "     1\tx")
	w.golden(w.call("Glob", obj{"pattern": "*"}), true, "this filesystem can't be searched")
	w.golden(w.call("Grep", obj{"pattern": "x"}), true, "this filesystem can't be searched")
}

// Goal: paths resolve as the kernel resolves them, as far as they exist.
func TestResolve(t *testing.T) {
	w := newWorld(t)
	w.put("real/sub/f", "x")
	for link, target := range map[string]string{
		"abs": w.path("real"), "rel": "real/sub", "real/up": "../real/sub/f", "dangling": "real/new/file", "chain": "rel",
	} {
		if err := os.Symlink(target, w.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	for in, want := range map[string]string{
		"abs/sub/f": "real/sub/f", "rel/f": "real/sub/f", "real/up": "real/sub/f", "chain/f": "real/sub/f",
		"dangling": "real/new/file", "none/a/b": "none/a/b", "rel/none": "real/sub/none", "real/sub/f/x/y": "real/sub/f/x/y",
	} {
		got, err := OSFiles{}.Resolve(w.path(in))
		if err != nil || got != w.path(want) {
			t.Errorf("%s: %s, %v, want %s", in, got, err, want)
		}
		if real, err := filepath.EvalSymlinks(w.path(in)); err == nil && real != got {
			t.Errorf("%s: %s, but the library says %s", in, got, real)
		}
	}
	if _, err := (OSFiles{}).Resolve("relative"); err == nil {
		t.Error("a relative path resolves")
	}
}
