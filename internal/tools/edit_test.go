package tools

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

func edit(path, from, to string) obj {
	return obj{"file_path": path, "old_string": from, "new_string": to}
}

// Goal: an edit changes the one place it names, and says what it did with numbers.
func TestEdit(t *testing.T) {
	w := newWorld(t)
	path := w.put("a.go", "package a\n\nfunc A() {}\n\nfunc B() {}\n")
	w.call("Read", obj{"file_path": "a.go"})
	w.golden(w.call("Edit", edit("a.go", "func A() {}", "func A() {\n\treturn\n}")), false,
		"edited CWD/a.go: 1 replacement:\n     1\tpackage a\n     2\t\n     3\tfunc A() {\n     4\t\treturn\n     5\t}\n     6\t\n     7\tfunc B() {}")
	if got := w.get("a.go"); got != "package a\n\nfunc A() {\n\treturn\n}\n\nfunc B() {}\n" {
		t.Errorf("file: %q", got)
	}
	if f := w.State.Files[path]; f.Use != session.FileModified {
		t.Errorf("seen: %+v", f)
	}
	// What was written is known: it may be edited again without a read.
	w.golden(w.call("Edit", obj{"file_path": "a.go", "old_string": "func", "new_string": "FUNC", "replace_all": true}), false,
		"edited CWD/a.go: 2 replacements; the first:\n     1\tpackage a\n     2\t\n     3\tFUNC A() {\n     4\t\treturn\n     5\t}\n     6\t\n     7\tFUNC B() {}")
	w.golden(w.call("Edit", edit("a.go", "package a\n\nFUNC A() {\n\treturn\n}\n\nFUNC B() {}\n", "")), false, "edited CWD/a.go: 1 replacement:\n")
	if got := w.get("a.go"); got != "" {
		t.Errorf("file: %q", got)
	}
}

// Goal: what is not certain is refused, with what would be right.
func TestEditRefusals(t *testing.T) {
	w := newWorld(t)
	w.put("a.txt", "alpha beta\n\tgamma(delta)\nalpha beta\nomega\n")
	w.golden(w.call("Edit", edit("a.txt", "omega", "x")), true,
		"CWD/a.txt exists, but was not read in this session; read it first")
	w.call("Read", obj{"file_path": "a.txt"})
	w.golden(w.call("Edit", edit("a.txt", "alpha", "x")), true,
		"old_string occurs 2 times in CWD/a.txt (lines 1, 3); add lines around it until it is the only one, or set replace_all")
	w.golden(w.call("Edit", edit("a.txt", "omega", "omega")), true,
		"Edit: old_string and new_string are equal; there is nothing to change")
	w.golden(w.call("Edit", edit("a.txt", "    gamma(delta)", "x")), true,
		"old_string was not found in CWD/a.txt: line 2 matches but for white space; copy it exactly, with its tabs and spaces:\n     2\t\tgamma(delta)")
	w.golden(w.call("Edit", edit("a.txt", "alpha beta\nomega\nmore", "x")), true,
		"old_string was not found in CWD/a.txt: its first line is line 3 of the file, but its line 3 differs:\n     5\t")
	w.golden(w.call("Edit", edit("a.txt", "gamma(deltas)", "x")), true,
		"old_string was not found in CWD/a.txt: the nearest is line 2:\n     2\t\tgamma(delta)")
	w.golden(w.call("Edit", edit("a.txt", "     4\tomega", "x")), true,
		"old_string was not found in CWD/a.txt: it has Read's line numbers in it; leave them and the tab after them out")
	w.golden(w.call("Edit", edit("a.txt", "nothing of the kind 123", "x")), true,
		"old_string was not found in CWD/a.txt, nor anything like it; read the file again")
	w.golden(w.call("Edit", edit("a.txt", "", "x")), true,
		"old_string is empty, but CWD/a.txt is not; give the text to replace, or use Write for the whole content")
	w.golden(w.call("Edit", edit("none.txt", "a", "x")), true, "no file at CWD/none.txt; to create it, use Write")
	w.golden(w.call("Edit", edit(".", "a", "x")), true, "CWD is a directory")
	w.put("aa", "aaa")
	w.call("Read", obj{"file_path": "aa"})
	w.contains(w.call("Edit", edit("aa", "aa", "b")), true, "occurs 2 times")
	w.put("a.txt", "changed by somebody\n")
	w.golden(w.call("Edit", edit("a.txt", "omega", "x")), true,
		"CWD/a.txt changed since it was last read or written in this session; read it again")
	if got := w.get("a.txt"); got != "changed by somebody\n" {
		t.Errorf("file: %q", got)
	}
	w.golden(w.call("Edit", edit("new.txt", "", "made\n")), false, "created CWD/new.txt: 1 line, 5 bytes")
}

// Goal: line endings, byte order mark, mode and everything outside of the edit stay as they were.
func TestEditKeeps(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ name, before, from, to, after string }{
		{"crlf", "a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n"},
		{"crlf one line", "a\r\nb\r\n", "b", "b1\nb2", "a\r\nb1\r\nb2\r\n"},
		{"crlf given", "a\r\nb\r\nc\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\nc\r\n"},
		{"crlf ends with newline", "a\r\nb\r\nc\r\n", "a\n", "", "b\r\nc\r\n"},
		{"crlf begins with newline", "a\r\nb\r\nc\r\n", "\nb", "", "a\r\nc\r\n"},
		{"mixed, the unix part", "a\r\nb\r\nc\nd\n", "c\nd", "e\nf", "a\r\nb\r\ne\nf\n"},
		{"mixed, the dos part", "a\nb\nc\r\nd\r\n", "c\nd", "e\nf", "a\nb\ne\r\nf\r\n"},
		{"lone returns", "a\rb\nc\n", "c", "d", "a\rb\nd\n"},
		{"byte order mark", "\xef\xbb\xbfa\nb\n", "a\nb", "x", "\xef\xbb\xbfx\n"},
		{"mark and crlf", "\xef\xbb\xbfa\r\nb\r\n", "\xef\xbb\xbfa\nb", "x\ny", "\xef\xbb\xbfx\r\ny\r\n"},
		{"latin-1", "caf\xe9\nprice\n", "price", "cost", "caf\xe9\ncost\n"},
		{"no newline at end", "a\nb", "b", "c", "a\nc"},
	} {
		path := w.put(c.name, c.before)
		if err := os.Chmod(path, 0o751); err != nil {
			t.Fatal(err)
		}
		w.call("Read", obj{"file_path": c.name})
		in := edit(c.name, c.from, c.to)
		if r := w.call("Edit", in); r.IsError {
			t.Errorf("%s: %s", c.name, model.Text(r.Content))
		}
		if got := w.get(c.name); got != c.after {
			t.Errorf("%s: %q, want %q", c.name, got, c.after)
		}
		if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o751 {
			t.Errorf("%s: mode %v, %v", c.name, fi.Mode(), err)
		}
	}
}

// Goal: Write creates with directories and the user's mask, replaces what is known, and refuses the rest.
func TestWrite(t *testing.T) {
	w := newWorld(t)
	w.Files = OSFiles{Umask: func() uint32 { return 0o027 }}
	w.golden(w.call("Write", obj{"file_path": "new/deep/f.txt", "content": "a\nb"}), false, "created CWD/new/deep/f.txt: 2 lines, 3 bytes")
	if fi, err := os.Stat(w.path("new/deep/f.txt")); err != nil || fi.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
	w.golden(w.call("Write", obj{"file_path": "new/deep/f.txt", "content": "c\n"}), false, "replaced CWD/new/deep/f.txt: 1 line, 2 bytes")
	w.golden(w.call("Write", obj{"file_path": "new/deep/f.txt", "content": "c\n"}), false,
		"CWD/new/deep/f.txt already has exactly this content; nothing was written")
	w.put("old", "x")
	w.golden(w.call("Write", obj{"file_path": "old", "content": "y"}), true, "CWD/old exists, but was not read in this session; read it first")
	w.call("Read", obj{"file_path": "old"})
	w.put("old", "z")
	w.golden(w.call("Write", obj{"file_path": "old", "content": "y"}), true,
		"CWD/old changed since it was last read or written in this session; read it again")
	w.golden(w.call("Write", obj{"file_path": "new", "content": "y"}), true, "CWD/new is a directory")
	w.golden(w.call("Write", obj{"file_path": "empty", "content": ""}), false, "created CWD/empty: 0 lines, 0 bytes")
	w.contains(w.call("Write", obj{"file_path": "big", "content": strings.Repeat("x", maxEdit+1)}), true, "at most 33554432 are allowed")
	w.contains(w.call("Write", obj{"file_path": "old/below", "content": "x"}), true, "not a directory")
}

// Goal: an edit goes through a symlink to the file, and both names of a hard link still lead to one file.
func TestEditLinks(t *testing.T) {
	w := newWorld(t)
	w.put("real", "one\n")
	if err := os.Symlink("real", w.path("soft")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("later/made", w.path("dangling")); err != nil {
		t.Fatal(err)
	}
	w.call("Read", obj{"file_path": "soft"})
	w.contains(w.call("Edit", edit("soft", "one", "two")), false, "edited "+w.path("real"))
	if fi, _ := os.Lstat(w.path("soft")); fi.Mode()&os.ModeSymlink == 0 || w.get("real") != "two\n" {
		t.Errorf("soft is %v, real holds %q", fi.Mode(), w.get("real"))
	}
	w.contains(w.call("Write", obj{"file_path": "dangling", "content": "x"}), false, "created "+w.path("later/made"))

	if err := os.Link(w.path("real"), w.path("hard")); err != nil {
		t.Fatal(err)
	}
	w.contains(w.call("Edit", edit("real", "two", "three and more")), false, "edited")
	w.contains(w.call("Edit", edit("real", "three and more", "four")), false, "edited")
	var a, b unix.Stat_t
	_, _ = unix.Stat(w.path("real"), &a), unix.Stat(w.path("hard"), &b)
	if w.get("hard") != "four\n" || a.Ino != b.Ino {
		t.Errorf("the other name holds %q, inodes %d and %d", w.get("hard"), a.Ino, b.Ino)
	}
}
