package notes_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: a person notes, reads, changes, forgets and undoes without a session; what is said is what is on disk.
func TestMemoryCommands(t *testing.T) {
	w := clitest.New(t)
	if o := w.Run("memory", "list"); o.Code != 0 || o.Stdout != "" || !strings.Contains(o.Stderr, "nothing is noted yet") {
		t.Errorf("%+v", o)
	}
	if _, err := os.Stat(w.Home); err == nil {
		t.Error("a look made the home")
	}
	if key := w.OK("memory", "add", "PostgreSQL, since transactions matter", "--topic", "Decisions", "--key", "db"); key != "db\n" {
		t.Errorf("key %q", key)
	}
	w.OK("memory", "add", "short answers, please", "--user")
	w.Fails(1, "db says that already: PostgreSQL", "memory", "add", "postgresql since TRANSACTIONS matter")
	w.Fails(1, "there is an entry db already", "memory", "add", "something else", "--key", "db")
	w.Fails(1, "a key has letters", "memory", "add", "x y", "--key", "../db")
	w.Golden("memory_list", w.OK("memory", "list"))
	w.Golden("memory_list_json", w.OK("memory", "list", "--json"))
	w.Golden("memory_show", w.OK("memory", "show", "db"))
	w.OK("memory", "edit", "db", "PostgreSQL 18")
	w.App.Stdin = strings.NewReader("# db\n\nPostgreSQL 18: transactions, and everybody knows it.\n")
	w.OK("memory", "edit", "db", "--details")
	if out := w.OK("memory", "show", "db"); !strings.Contains(out, "everybody knows it") || !strings.Contains(out, "- PostgreSQL 18\n") {
		t.Errorf("show: %s", out)
	}
	w.OK("memory", "forget", "db")
	o := w.Fails(4, `no entry db`, "memory", "show", "db")
	if !strings.Contains(o.Stderr, "short-answers-please") {
		t.Errorf("no near key is named: %s", o.Stderr)
	}
	w.Golden("memory_log", w.OK("memory", "log"))
	for line := range strings.Lines(w.OK("memory", "log", "--json")) {
		var c struct {
			Time int64
			At   time.Time
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil || c.Time == 0 || c.At.UnixMilli() != c.Time {
			t.Errorf("a change without its time in both forms: %v, %s", err, line)
		}
	}
	if out := w.OK("memory", "undo"); out != "undone: forget db (MEMORY.md, db.md)\n" {
		t.Errorf("undo: %q", out)
	}
	w.OK("memory", "show", "db")
	w.OK("memory", "undo", "--user")
	w.Fails(1, "nothing to undo", "memory", "undo", "--user")
	w.Fails(2, "no directory", "memory", "list", "--cwd", filepath.Join(w.Dir, "nothing"))
	w.Fails(2, "needs one of: list, show, add", "memory")
}

// Goal: what a model wrote does not control the terminal that shows it.
func TestMemoryIsShownAsText(t *testing.T) {
	w := clitest.New(t)
	w.OK("memory", "add", "bad \x1b[2J\u202e text", "--key", "k")
	w.OK("journal", "add", "bad \x1b[2J\u202e text")
	for _, args := range [][]string{{"memory", "list"}, {"memory", "show", "k"}, {"memory", "list", "--json"}, {"memory", "show", "k", "--json"}, {"journal"}, {"journal", "--json"}} {
		if out := w.OK(args...); strings.ContainsAny(out, "\x1b\u202e") || !strings.Contains(out, "bad") {
			t.Errorf("%v: %q", args, out)
		}
	}
}

// Goal: the user's configuration says where a project's knowledge lies, a project's own does not.
func TestConsent(t *testing.T) {
	w := clitest.New(t)
	file := filepath.Join(w.Dir, ".agent", "MEMORY.md")
	project := filepath.Join(w.Dir, ".perdure", "config.toml")
	if err := os.MkdirAll(filepath.Dir(project), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(project, []byte("[knowledge]\nproject = \"on\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		config string
		there  bool
	}{{"", false}, {"off", false}, {"ask", false}, {"on", true}} {
		if c.config != "" {
			w.Configure("[knowledge]\nproject = \"" + c.config + "\"\n")
		}
		w.OK("memory", "add", "a fact of "+c.config)
		if _, err := os.Stat(file); (err == nil) != c.there {
			t.Errorf("%q: the file is there: %v", c.config, err == nil)
		}
	}
	w.Configure("[knowledge]\nproject = \"maybe\"\n")
	w.Fails(2, "use on, off or ask", "memory", "list")
}

// Goal: a session's commands may look, and change nothing.
func TestInsideOnlyLooks(t *testing.T) {
	w := clitest.New(t)
	w.OK("memory", "add", "a fact", "--key", "k")
	w.OK("journal", "add", "an item")
	w.App.Environ = append(w.App.Environ, "PERDURE_SESSION_ID=s")
	for _, args := range [][]string{{"memory", "list"}, {"memory", "show", "k"}, {"memory", "log"}, {"journal"}} {
		w.OK(args...)
	}
	for _, args := range [][]string{{"memory", "add", "x"}, {"memory", "edit", "k"}, {"memory", "forget", "k"}, {"memory", "undo"}, {"journal", "add", "x"}} {
		w.Fails(1, "is for a human", args...)
	}
}

// Goal: the journal is appended to and shown with the newest day first.
func TestJournalCommand(t *testing.T) {
	w := clitest.New(t)
	w.OK("journal", "add", "Started: the migration")
	w.App.Stdin = strings.NewReader("Found: 47 breaking changes\nin the changelog\n")
	w.OK("journal", "add", "-")
	now := w.App.Now()
	w.App.Now = func() time.Time { return now.AddDate(0, 0, 2) }
	w.OK("journal", "add", "Completed: the schema")
	w.Golden("journal", w.OK("journal"))
	w.Golden("journal_json", w.OK("journal", "--json"))
	if out := w.OK("journal", "--days", "1"); strings.Contains(out, "Started") {
		t.Errorf("one day: %s", out)
	}
	w.Fails(2, "days -1", "journal", "--days", "-1")
	w.Fails(1, "nothing to note", "journal", "add", " ")
	files, err := filepath.Glob(filepath.Join(w.Home, "knowledge", "*", "journal.md"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], text[:len(text)-3], 0o600); err != nil {
		t.Fatal(err)
	}
	if o := w.Run("journal", "add", "Blocked: nothing"); o.Code != 0 || !strings.Contains(o.Stderr, "was torn") {
		t.Errorf("%+v", o)
	}
	if out := w.OK("journal", "--days", "1"); !strings.Contains(out, "- Blocked: nothing\n") || !strings.Contains(out, "the sche\n") {
		t.Errorf("after the repair: %s", out)
	}
}
