package knowledge

import (
	"context"
	"strings"
	"testing"
)

// Goal: the words are those that models are trained on, byte for byte.
func TestToolWords(t *testing.T) {
	w := newWorld(t)
	check := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	const head = "Here're the files and directories up to 2 levels deep in "
	check(w.do(Command{Name: "view", Path: "/memories"}), head+"/memories, excluding hidden items and node_modules:\n0\t/memories\n0\t/memories/user")
	check(w.do(create("/memories/a.md", "one\ntwo\nthree\n")), "File created successfully at: /memories/a.md")
	check(w.no(create("/memories/a.md", "x")), "Error: File /memories/a.md already exists")
	check(w.do(Command{Name: "view", Path: "/memories/a.md"}), "Here's the content of /memories/a.md with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree")
	check(w.do(Command{Name: "view", Path: "/memories/a.md", From: 2, To: -1}), "Here's the content of /memories/a.md with line numbers:\n     2\ttwo\n     3\tthree")
	check(w.no(Command{Name: "view", Path: "/memories/b.md"}), "The path /memories/b.md does not exist. Please provide a valid path.")
	check(w.do(Command{Name: "str_replace", Path: "/memories/a.md", OldStr: "two", NewStr: "2"}),
		"The memory file has been edited.\n     1\tone\n     2\t2\n     3\tthree")
	check(w.no(Command{Name: "str_replace", Path: "/memories/b.md", OldStr: "two"}), "Error: The path /memories/b.md does not exist. Please provide a valid path.")
	check(w.no(Command{Name: "str_replace", Path: "/memories/a.md", OldStr: "two", NewStr: "2"}),
		"No replacement was performed, old_str `two` did not appear verbatim in /memories/a.md.")
	check(w.no(Command{Name: "str_replace", Path: "/memories/a.md", OldStr: "e", NewStr: "2"}),
		"No replacement was performed. Multiple occurrences of old_str `e` in lines: 1, 3, 3. Please ensure it is unique")
	check(w.do(Command{Name: "insert", Path: "/memories/a.md", InsertLine: 0, InsertText: "zero"}), "The file /memories/a.md has been edited.")
	check(w.no(Command{Name: "insert", Path: "/memories/a.md", InsertLine: 9, InsertText: "zero"}),
		"Error: Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 4]")
	check(w.no(Command{Name: "insert", Path: "/memories/b.md", InsertText: "zero"}), "Error: The path /memories/b.md does not exist")
	check(w.do(create("/memories/sub/b.md", "b")), "File created successfully at: /memories/sub/b.md")
	check(w.no(Command{Name: "rename", OldPath: "/memories/a.md", NewPath: "/memories/sub/b.md"}), "Error: The destination /memories/sub/b.md already exists")
	check(w.no(Command{Name: "rename", OldPath: "/memories/x.md", NewPath: "/memories/y.md"}), "Error: The path /memories/x.md does not exist")
	check(w.do(Command{Name: "rename", OldPath: "/memories/a.md", NewPath: "/memories/c.md"}), "Successfully renamed /memories/a.md to /memories/c.md")
	check(w.do(Command{Name: "view", Path: "/memories/c.md"}), "Here's the content of /memories/c.md with line numbers:\n     1\tzero\n     2\tone\n     3\t2\n     4\tthree")
	check(w.do(create("/memories/user/u.md", strings.Repeat("x", 1536))), "File created successfully at: /memories/user/u.md")
	check(w.do(Command{Name: "view", Path: "/memories"}), head+"/memories, excluding hidden items and node_modules:\n"+
		"1.5K\t/memories\n17\t/memories/c.md\n1\t/memories/sub\n1\t/memories/sub/b.md\n1.5K\t/memories/user\n1.5K\t/memories/user/u.md")
	check(w.do(Command{Name: "delete", Path: "/memories/sub"}), "Successfully deleted /memories/sub")
	check(w.no(Command{Name: "delete", Path: "/memories/sub"}), "Error: The path /memories/sub does not exist")
	w.no(Command{Name: "delete", Path: "/memories"}, "the memory itself")
	w.no(Command{Name: "forget", Path: "/memories"}, "unknown command")
}

// Goal: a change with a key is made once, and tells the same each time.
func TestOnceByKey(t *testing.T) {
	w := newWorld(t)
	w.do(create("/memories/a.md", "x\n"))
	by := By{Session: "s1", Source: SourceModel, Key: "s1/t1.s1.b1"}
	c := Command{Name: "insert", Path: "/memories/a.md", InsertLine: 1, InsertText: "y"}
	for range 3 {
		text, ok, err := w.open().Do(context.Background(), c, by)
		if text != "The file /memories/a.md has been edited." || !ok || err != nil {
			t.Fatalf("%q, %v, %v", text, ok, err)
		}
	}
	if text := w.do(Command{Name: "view", Path: "/memories/a.md"}); strings.Count(text, "\ty") != 1 {
		t.Errorf("it was made more than once: %q", text)
	}
	by.Key = "s1/t1.s2.b1"
	if _, ok, err := w.open().Do(context.Background(), c, by); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if text := w.do(Command{Name: "view", Path: "/memories/a.md"}); strings.Count(text, "\ty") != 2 {
		t.Errorf("another call is another change: %q", text)
	}
}

// Goal: the index follows the files: what is deleted is no longer in it, what is renamed is found.
func TestIndexFollowsFiles(t *testing.T) {
	w := newWorld(t)
	w.do(create("/memories/MEMORY.md", entriesText(3)))
	for _, name := range []string{"file0", "file1", "file2"} {
		w.do(create("/memories/"+name+".md", "text\n"))
	}
	w.do(Command{Name: "delete", Path: "/memories/file0.md"})
	w.do(Command{Name: "rename", OldPath: "/memories/file1.md", NewPath: "/memories/sub/new.md"})
	text := fileText(w.open().Project.IndexFile())
	if strings.Contains(text, "key0") || !strings.Contains(text, "- [key1](sub/new.md) - says 1") || !strings.Contains(text, "- [key2](file2.md) - says 2") {
		t.Errorf("index: %q", text)
	}
	for _, path := range []string{"/memories/MEMORY.md", "/memories/user"} {
		w.no(Command{Name: "rename", OldPath: path, NewPath: "/memories/z.md"}, "keeps its place")
	}
	w.no(Command{Name: "rename", OldPath: "/memories/file2.md", NewPath: "/memories/MEMORY.md"}, "keeps its place")
	w.no(Command{Name: "rename", OldPath: "/memories/file2.md", NewPath: "/memories/user/z.md"}, "stays in its memory")
	w.no(Command{Name: "rename", OldPath: "/memories/sub", NewPath: "/memories/sub/below"}, "lies in")
}
