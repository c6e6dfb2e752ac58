package lookup_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/test/needs"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// says adds a message of the user to a session.
func says(w *clitest.World, id, text string) {
	w.T.Helper()
	w.Append(id, store.Actor{Type: store.ActorUser}, &session.MessageReceived{Content: []model.Part{model.TextPart(text)}})
}

// known is a world with something of everything.
func known(t *testing.T) *clitest.World {
	w := clitest.New(t)
	w.Eventful("s1")
	says(w, "s1", "Bitte prüfe die Größe der Datei parser.go")
	w.Create("s2")
	w.OK("rename", "s2", "flaky parser")
	w.Prompt("s2", `{"turns":[{"match":"fix","steps":[{"text":"I look at it.","tools":[{"name":"Bash","input":{"command":"printf 'a \\033[31mredness\\033[0m b\\n'"}}]},
		{"text":"The parser loses the last line."}]}]}`, "fix the parser", "bypass")
	w.OK("memory", "add", "the parser is generated, edit parser.y", "--key", "parser-y")
	w.OK("journal", "add", "Completed: the parser")
	files, err := filepath.Glob(filepath.Join(w.Home, "knowledge", "*", "*"))
	details, derr := filepath.Glob(filepath.Join(w.Home, "knowledge", "*", "memory", "*"))
	for _, f := range append(files, details...) {
		err = errors.Join(err, os.Chtimes(f, w.App.Now(), w.App.Now()))
	}
	if err = errors.Join(err, derr); err != nil || len(details) == 0 {
		t.Fatal(details, err)
	}
	return w
}

var keyOfProject = regexp.MustCompile(`knowledge/[^/"]+/`)

// steady is an output without what differs from run to run.
func steady(w *clitest.World, out string) string {
	return keyOfProject.ReplaceAllString(strings.ReplaceAll(out, w.Home, "<home>"), "knowledge/<key>/")
}

// Goal: what was said, done, named and noted is found, with where it stands and how to go on.
func TestSearch(t *testing.T) {
	w := known(t)
	w.Golden("search_text", steady(w, w.OK("search", "parser")))
	w.Golden("search_json", steady(w, w.OK("search", "parser", "--json")))
	for words, want := range map[string]string{
		"grosse DATEI": "s1/message", "redness": "s2/result", "loses the last": "s2/reply", "flaky": "s2/title", `"fix the parser"`: "s2/message",
		"false": "s1/reply", "it is so": "s1/note", "completed": "/journal", "generated": "/memory", `"parser the"`: "", "prüf": "s1/message",
	} {
		var got []string
		for _, l := range clitest.Lines(t, w.OK("search", words, "--json")) {
			got = append(got, l["session_id"].(string)+"/"+l["place"].(string))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", words, got, want)
		}
	}
	for _, c := range []struct {
		args string
		want int
	}{
		{"parser --in memory", 1},
		{"parser --in journal", 1},
		{"parser --in memory,journal", 2},
		{"parser --in handoffs", 0},
		{"parser --cwd " + t.TempDir(), 0},
		{"parser --limit 2", 2},
		{"parser --cwd " + w.Dir, 5},
		{"parser", 5},
	} {
		if got := len(clitest.Lines(t, w.OK(append([]string{"search", "--json"}, strings.Fields(c.args)...)...))); got != c.want {
			t.Errorf("%s: %d hits, want %d", c.args, got, c.want)
		}
	}
}

// Goal: nothing that can be typed is an error of syntax, and nothing found is said in words.
func TestSearchWords(t *testing.T) {
	w := known(t)
	for _, words := range []string{`"`, `a"b`, "AND", "x:y", "(", "NEAR(", "a*", "^a", "{", "-- -x", "\xff\xfe ok", "\x00a", "a\nb"} {
		if o := w.Run(append([]string{"search"}, strings.Split(words, " ")...)...); o.Code != 0 && !(o.Code == 2 && strings.Contains(o.Stderr, "there is no word in")) {
			t.Errorf("%q: %+v", words, o)
		}
	}
	o := w.Run("search", "nothing", "like", "this")
	if o.Code != 0 || o.Stdout != "" || !strings.Contains(o.Stderr, "nothing has these words: nothing like this") {
		t.Errorf("%+v", o)
	}
	if o := w.Run("search", "nothinglikethis", "--json"); o.Code != 0 || o.Stdout != "" || o.Stderr != "" {
		t.Errorf("%+v", o)
	}
	w.Fails(2, "want words", "search")
	w.Fails(2, "limit 0", "search", "x", "--limit", "0")
	w.Fails(2, "want one of sessions, memory", "search", "x", "--in", "logs")
	w.Fails(2, "at most 64 words", "search", strings.Repeat("w ", 65))
	if o := w.Run("search", "--rebuild"); o.Code != 0 || o.Stdout != "" || !strings.Contains(o.Stderr, "up to date") {
		t.Errorf("%+v", o)
	}
}

// Goal: on a terminal the words are marked; what a model or a command wrote controls none.
func TestSearchOnATerminal(t *testing.T) {
	w := known(t)
	says(w, "s1", "evil \x1b]0;title\x07\x1b[2J \u202e needle \u009b31m")
	if out := w.OK("search", "needle"); strings.ContainsAny(out, "\x1b\u202e\u009b\x07") || !strings.Contains(out, "needle") {
		t.Errorf("%q", out)
	}
	w.App.Screen = true
	if out := w.OK("search", "needle"); strings.Count(out, "\x1b[1mneedle\x1b[0m") != 1 || strings.Count(out, "\x1b") != 2 {
		t.Errorf("%q", out)
	}
	w.App.Environ = append(w.App.Environ, "NO_COLOR=1")
	if out := w.OK("search", "needle"); strings.Contains(out, "\x1b") {
		t.Errorf("%q", out)
	}
}

// Goal: a deleted session is found no more, and no byte of its words is left in the home. Control: the index had them.
func TestDeletedIsNotFound(t *testing.T) {
	w := known(t)
	w.Create("gone")
	says(w, "gone", "the xylophonist plays")
	if len(clitest.Lines(t, w.OK("search", "xylophonist", "--json"))) != 1 {
		t.Fatal("it is not found")
	}
	if got := filesWith(t, w.Home, "xylophonist"); !strings.Contains(strings.Join(got, " "), "index.db") {
		t.Fatalf("the index does not have it: %q", got)
	}
	w.OK("delete", "gone", "--yes")
	if got := filesWith(t, w.Home, "xylophonist"); len(got) > 0 {
		t.Errorf("left in %q", got)
	}
	if o := w.Run("search", "xylophonist", "--json"); o.Code != 0 || o.Stdout != "" {
		t.Errorf("%+v", o)
	}
	if len(clitest.Lines(t, w.OK("search", "parser", "--json"))) != 5 {
		t.Error("the others are not found")
	}
}

func filesWith(t *testing.T, dir, text string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), text) {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Goal: a look at a home that is not there, or that is a copy, leaves the first as it is and finds all in the other. Doctor
// and backup know the index: one says nothing, the other leaves it out.
func TestIndexIsACache(t *testing.T) {
	w := clitest.New(t)
	w.OK("search", "anything")
	if _, err := os.Stat(w.Home); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a search made the home")
	}
	w = known(t)
	want := w.OK("search", "parser", "--json")
	levels, _ := w.ChecksOf(0)
	if levels["permissions"] != "ok" || levels["links"] == "fail" {
		t.Errorf("doctor: %v", levels)
	}
	copied := filepath.Join(t.TempDir(), "copy")
	w.OK("backup", copied)
	if _, err := os.Stat(filepath.Join(copied, "search")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the backup has the index")
	}
	other := w.InHome(copied)
	if got := other.OK("search", "parser", "--json"); strings.Count(got, "\n") != strings.Count(want, "\n") {
		t.Errorf("in the copy: %s", got)
	}
}

// Goal: a home in which no index can be kept is searched all the same, with the reason and the remedy.
func TestIndexCannotBeKept(t *testing.T) {
	w := known(t)
	if err := os.WriteFile(filepath.Join(w.Home, "search"), []byte("a file in its place"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := w.Run("search", "parser", "--json")
	if o.Code != 0 || strings.Count(o.Stdout, "\n") != 5 || !strings.Contains(o.Stderr, "cannot be kept") {
		t.Errorf("%+v", o)
	}
}

// Goal: a session's commands may search, as they may read logs.
func TestSearchInside(t *testing.T) {
	w := known(t)
	w.App.Environ = append(w.App.Environ, "PERDURE_SESSION_ID=s1")
	if len(clitest.Lines(t, w.OK("search", "parser", "--json"))) != 5 {
		t.Error("not all is found")
	}
}

// Goal: root, who looks into another user's home, leaves nothing there that its owner could not use.
func TestSearchInAnotherUsersHome(t *testing.T) {
	if os.Geteuid() != 0 {
		needs.Not(t, "only root can look into another user's home")
	}
	w := known(t)
	if err := os.Chown(w.Home, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if len(clitest.Lines(t, w.OK("search", "parser", "--json"))) != 5 {
		t.Error("not all is found")
	}
	if _, err := os.Stat(filepath.Join(w.Home, "search")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("an index was left there")
	}
}

// Goal: a search that has to wait for another one, or that reads for long, can be interrupted, and says what is kept.
func TestSearchInterrupted(t *testing.T) {
	w := known(t)
	w.OK("search", "parser")
	lock, err := os.OpenFile(filepath.Join(w.Home, "search", "lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	r, wait := w.Start("search", "parser")
	clitest.Until(t, "it says that it waits", func() bool { return strings.Contains(r.Stderr.String(), "another search reads what is new") })
	w.Signals <- syscall.SIGINT
	wait()
	if o := r.Read(); o.Code != 130 || o.Stdout != "" || !strings.Contains(o.Stderr, "interrupted; what was read is kept") || strings.Contains(o.Stderr, "canceled") {
		t.Errorf("%+v", o)
	}
}
