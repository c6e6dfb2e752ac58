package tools

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/model"
)

// tree makes a small project; the files' times are ascending in the order given.
func (w *world) tree(files ...string) {
	for i, f := range files {
		name, content, _ := strings.Cut(f, "=")
		path := w.put(name, content)
		at := time.Unix(1_700_000_000+int64(i), 0)
		if err := os.Chtimes(path, at, at); err != nil {
			w.t.Fatal(err)
		}
	}
}

// Goal: globs find files, the newest first, and directories only where they are asked for.
func TestGlob(t *testing.T) {
	w := newWorld(t)
	w.tree("src/a.go=1", "src/sub/b.go=2", "c.go=3", "src/sub/d.ts=4", ".git/e.go=5", "node_modules/x/f.go=6", ".hidden/g.go=7")
	if err := os.Symlink("src", w.path("link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in   obj
		want string
	}{
		{obj{"pattern": "**/*.go"}, ".hidden/g.go c.go src/sub/b.go src/a.go"},
		{obj{"pattern": "*.go"}, "c.go"},
		{obj{"pattern": "src/**/*.{go,ts}"}, "src/sub/d.ts src/sub/b.go src/a.go"},
		{obj{"pattern": "**/*.go", "path": "src"}, "src/sub/b.go src/a.go"},
		{obj{"pattern": "sub/*.ts", "path": w.path("src")}, "src/sub/d.ts"},
		{obj{"pattern": "../src/*.go", "path": "src"}, "src/a.go"},
		{obj{"pattern": w.path("src") + "/?.go"}, "src/a.go"},
		{obj{"pattern": "**/node_modules/**/*.go"}, "node_modules/x/f.go"},
		{obj{"pattern": "src/a.go"}, "src/a.go"},
		{obj{"pattern": "link/*.go"}, "src/a.go"}, // a link that is named is followed
		{obj{"pattern": "*.zig"}, "(no file matches)"},
	} {
		if got := strings.ReplaceAll(model.Text(w.call("Glob", c.in).Content), "\n", " "); got != c.want {
			t.Errorf("%v: %s, want %s", c.in, got, c.want)
		}
	}
	w.contains(w.call("Glob", obj{"pattern": "src/*"}), false, "src/sub/", "src/a.go")
	w.golden(w.call("Glob", obj{"pattern": "[a"}), true, `Glob: "pattern" is no valid glob: *, **, ?, [abc] and {a,b} are known`)
	w.contains(w.call("Glob", obj{"pattern": strings.Repeat("**/", 30) + "x"}), true, "wildcards")
	w.contains(w.call("Glob", obj{"pattern": "*/../x"}), true, ".. after a wildcard")
	w.golden(w.call("Glob", obj{"pattern": "*", "path": "none"}), true, "no file or directory at CWD/none")
	w.golden(w.call("Glob", obj{"pattern": "*", "path": "c.go"}), true, "CWD/c.go is a file, not a directory to search in")
	for i := range maxFound + 5 {
		w.put(fmt.Sprintf("many/%d", i), "")
	}
	text := model.Text(w.call("Glob", obj{"pattern": "many/*"}).Content)
	if n := strings.Count(text, "\n"); n != maxFound || !strings.HasSuffix(text, "\n[5 older files left out; use a narrower pattern]") {
		t.Errorf("%d lines, ends %q", n, text[len(text)-60:])
	}
}

// Goal: the path that permission rules see is the one that is really searched or touched.
func TestPaths(t *testing.T) {
	for _, c := range []struct{ tool, input, want string }{
		{"Glob", `{"pattern":"/etc/*"}`, "/etc"},
		{"Glob", `{"pattern":"../../x/**"}`, "../../x"},
		{"Glob", `{"pattern":"../b/*","path":"src/"}`, "src/../b"},
		{"Glob", `{"pattern":"~/.ssh/*","path":"src"}`, "~/.ssh"},
		{"Glob", `{"pattern":"/*","path":"src"}`, "/"},
		{"Glob", `{"pattern":"/etc/passwd","path":"src"}`, "/etc"},
		{"Glob", `{"pattern":"**"}`, "."},
		{"Glob", `{"pattern":"{/etc,src}/*","path":"src"}`, "src"},
		{"Grep", `{"pattern":"x"}`, "."},
		{"Grep", `{"pattern":"x","path":"/a"}`, "/a"},
		{"Read", `{"file_path":"a"}`, "a"},
		{"Write", `{"file_path":5}`, ""},
		{"Edit", `{"file_path":"b"}`, "b"},
	} {
		p, ok := Find(Builtin(), c.tool).(Paths)
		if !ok {
			t.Fatalf("%s has no path", c.tool)
		}
		if got := p.Path(Call{Name: c.tool, Input: []byte(c.input)}); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.tool, c.input, got, c.want)
		}
	}
}

// Goal: what rules see of a search or a task is what the tool uses; a bad input shows nothing.
func TestAsked(t *testing.T) {
	for _, c := range []struct{ tool, input, want string }{
		{"Glob", `{"pattern":"/etc/*.d/**"}`, "*.d/**"},
		{"Glob", `{"pattern":"../x/{a,../b}"}`, "{a,../b}"},
		{"Glob", `{"pattern":"src/a.go","path":"p"}`, "a.go"},
		{"Glob", `{}`, ""},
		{"Grep", `{"pattern":"/x","glob":"**/*.go"}`, "**/*.go"},
	} {
		if got := Find(Builtin(), c.tool).(Patterned).Pattern(Call{Input: []byte(c.input)}); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.tool, c.input, got, c.want)
		}
	}
	for _, c := range []struct{ tool, input, want string }{
		{"BashOutput", `{"bash_id":"bash_1"}`, "[bash_1] false"},
		{"KillBash", `{"shell_id":["bash_1","bash_2"]}`, "[bash_1 bash_2] true"},
		{"KillBash", `{"shell_id":7}`, "[] true"},
	} {
		if got := fmt.Sprint(Find(Builtin(), c.tool).(TaskNamer).TaskIDs(Call{Input: []byte(c.input)})); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.tool, c.input, got, c.want)
		}
	}
}

// Goal: the three modes show what grep shows, with context where it is asked for.
func TestGrep(t *testing.T) {
	w := newWorld(t)
	w.tree("a.go=one\ntwo foo\nthree\nfour\nfive foo\r\nsix\n", "b/c.txt=Foo\nbar", "b/bin=foo\x00", "b/d.go=nothing")
	for _, c := range []struct {
		in   obj
		want string
	}{
		{obj{"pattern": "foo"}, "a.go"},
		{obj{"pattern": "(?i)foo"}, "a.go\nb/c.txt"},
		{obj{"pattern": "foo", "-i": true, "output_mode": "count"}, "a.go:2\nb/c.txt:1"},
		{obj{"pattern": "foo$", "output_mode": "content"}, "a.go:2:two foo\na.go:5:five foo"},
		{obj{"pattern": "foo", "output_mode": "content", "-n": false}, "a.go:two foo\na.go:five foo"},
		{obj{"pattern": "foo", "output_mode": "content", "-C": "1"}, "a.go-1-one\na.go:2:two foo\na.go-3-three\na.go-4-four\na.go:5:five foo\na.go-6-six"},
		{obj{"pattern": "foo", "output_mode": "content", "-B": 1}, "a.go-1-one\na.go:2:two foo\n--\na.go-4-four\na.go:5:five foo"},
		{obj{"pattern": "foo", "output_mode": "content", "-A": 1}, "a.go:2:two foo\na.go-3-three\n--\na.go:5:five foo\na.go-6-six"},
		{obj{"pattern": "o", "glob": "*.txt", "output_mode": "content"}, "b/c.txt:1:Foo"},
		{obj{"pattern": "o", "glob": "b/**/*.go"}, "b/d.go"},
		{obj{"pattern": "^bar$", "path": "b", "output_mode": "content"}, "b/c.txt:2:bar"},
		{obj{"pattern": "foo", "path": "a.go", "output_mode": "count"}, "a.go:2"},
		{
			obj{"pattern": "foo", "output_mode": "content", "head_limit": 1},
			"a.go:2:two foo\n[there is more: the first 1 are shown; raise head_limit or narrow the search]",
		},
		{obj{"pattern": "absent"}, "(no match)"},
	} {
		w.golden(w.call("Grep", c.in), false, c.want)
	}
	w.contains(w.call("Grep", obj{"pattern": "("}), true, "no RE2 regular expression")
	w.contains(w.call("Grep", obj{"pattern": "x", "output_mode": "all"}), true, "files_with_matches, content, count")
	w.put("wide", strings.Repeat("foo "+strings.Repeat("y", 2000)+"\n", 200))
	r := w.call("Grep", obj{"pattern": "foo", "path": "wide", "output_mode": "content"})
	w.contains(r, false, "wide:1:foo y", "… [line cut: 1504 more bytes]", "[there is more: the first 30000 bytes are shown; narrow the search]")
	if n := len(model.Text(r.Content)); n > maxOutput+200 {
		t.Errorf("%d bytes", n)
	}
	w.Cwd = w.path("b")
	w.golden(w.call("Grep", obj{"pattern": "two", "path": ".."}), false, strings.TrimSuffix(w.Cwd, "b")+"a.go")
}

// Goal: what a .gitignore names is not searched, by the rules that people use; what is named itself is.
func TestGrepIgnores(t *testing.T) {
	w := newWorld(t)
	w.tree(".git/config=hit", ".gitignore=# comment\n*.log\n/build/\nout\n!keep.log\ndocs/*.tmp\n{a}\n\\#odd\ntrail  \n", "sub/.gitignore=!special.log\nlocal\n",
		"a.log=hit", "keep.log=hit", "build/x=hit", "sub/build/y=hit", "sub/out/z=hit", "sub/special.log=hit", "sub/other.log=hit",
		"docs/a.tmp=hit", "docs/deep/b.tmp=hit", "{a}=hit", "a=hit", "#odd=hit", "trail=hit", "sub/local=hit", "local=hit", "node_modules/m=hit")
	w.golden(w.call("Grep", obj{"pattern": "hit"}), false,
		"a\ndocs/deep/b.tmp\nkeep.log\nlocal\nsub/build/y\nsub/special.log")
	// The rules above a directory hold in it; a file that is named is searched whatever they say.
	w.golden(w.call("Grep", obj{"pattern": "hit", "path": "sub"}), false, "sub/build/y\nsub/special.log")
	w.golden(w.call("Grep", obj{"pattern": "hit", "path": "a.log"}), false, "a.log")
	w.golden(w.call("Grep", obj{"pattern": "hit", "path": "node_modules"}), false, "node_modules/m")
}

// Goal: a search stays in its directory: symlinks are not followed, in files or directories, and pipes do not hang it.
func TestSearchStaysInside(t *testing.T) {
	w := newWorld(t)
	w.tree("in/a=hit", "outside/secret=hit")
	for link, to := range map[string]string{"in/dir": "../outside", "in/file": "../outside/secret", "in/loop": "."} {
		if err := os.Symlink(to, w.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	w.golden(w.call("Grep", obj{"pattern": "hit", "path": "in"}), false, "in/a")
	text := model.Text(w.call("Glob", obj{"pattern": "in/**"}).Content)
	if strings.Contains(text, "secret") || strings.Contains(text, "loop/") {
		t.Errorf("left its directory: %s", text)
	}
}

// Goal: no glob within the bounds takes long to match.
func TestGlobCost(t *testing.T) {
	w := newWorld(t)
	deep := strings.Repeat("a/", 40)
	for i := range 50 {
		w.put(fmt.Sprintf("%s%s%d", deep, strings.Repeat("a", 200), i), "x")
	}
	for _, p := range []string{strings.Repeat("{a,a}", 20) + "b", strings.Repeat("{a,", 20) + "b" + strings.Repeat("}", 20)} {
		w.contains(w.call("Glob", obj{"pattern": p}), true, "braces for over 256 names")
	}
	start := time.Now()
	for _, p := range []string{
		strings.Repeat("**/", 11) + "b", "**/" + strings.Repeat("*a", 20) + "b",
		"**/" + strings.Repeat("{a,a}", 8) + "b", "**/" + strings.Repeat("{*a*,**/a}", 8) + "b",
	} {
		w.call("Glob", obj{"pattern": p})
		w.call("Grep", obj{"pattern": "x", "glob": p})
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}
