package composer

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

var someFiles = []File{
	{"README.md", false},
	{"cmd", true},
	{"cmd/main.go", false},
	{"internal/ui/composer/main_test.go", false},
	{"docs", true},
	{"docs/my notes.md", false},
	{"docs/日本語.md", false},
	{"Makefile", false},
	{"odd\x1bname", false},
}

func withFiles(t *testing.T) *person {
	p := newPerson(t)
	p.src.files = someFiles
	return p
}

// Goal: commands are offered by the letters of their names, with what they take and do.
func TestCommandsAreOffered(t *testing.T) {
	p := newPerson(t)
	p.types("/")
	if got := p.screen(); got != "› /help          what there is\n  /model [NAME]  another model\n  /memory        what is remembered\n> /" {
		t.Errorf("all:\n%s", got)
	}
	if cur := p.Cursor(); cur.X != 3 || cur.Y != 3 {
		t.Errorf("the cursor is at %+v", cur.Position)
	}
	p.types("m")
	if got := p.screen(); got != "› /model [NAME]  another model\n  /memory        what is remembered\n> /m" {
		t.Errorf("m:\n%s", got)
	}
	p.press("down", "tab")
	p.wrote("/memory|")
	p.press("ctrl+c")
	p.types("/mod")
	p.press("enter")
	p.wrote("/model |")
	if len(p.sent) != 0 {
		t.Error("a command that takes something was sent without it")
	}
	p.types("x")
	p.press("enter")
	if len(p.sent) != 1 || p.sent[0].String() != "/model x" {
		t.Errorf("sent: %v", p.sent)
	}
	p.types("/he")
	p.press("enter")
	if len(p.sent) != 2 || p.sent[1].String() != "/help" {
		t.Errorf("sent: %v", p.sent)
	}
	p.types("/model")
	p.press("enter")
	if len(p.sent) != 3 || p.sent[2].String() != "/model" {
		t.Errorf("a command that was typed whole was not sent: %v", p.sent)
	}
	p.press("ctrl+r", "esc")
	p.types("/h")
	if p.Height() != 2 {
		t.Errorf("a search that was closed closes more:\n%s", p.screen())
	}
	p.press("ctrl+c")
	p.types("a /h")
	if p.Height() != 1 {
		t.Errorf("a slash elsewhere opens something:\n%s", p.screen())
	}
}

// Goal: a popup never swallows a letter, whatever it is, and esc closes it for this word.
func TestPopupsSwallowNoLetter(t *testing.T) {
	p := withFiles(t)
	p.types("/xyz and @ma? j k q y n 1 @do")
	p.wrote("/xyz and @ma? j k q y n 1 @do|")
	if p.Height() == 1 {
		t.Error("nothing is offered")
	}
	if !p.Wants(press("esc")) {
		t.Error("esc means nothing to an open popup")
	}
	p.press("esc")
	p.types("c")
	if p.Height() != 1 || p.Wants(press("esc")) {
		t.Errorf("it is open again:\n%s", p.screen())
	}
	p.types(" @R")
	if p.Height() == 1 {
		t.Error("nothing is offered for the next word")
	}
	p.wrote("/xyz and @ma? j k q y n 1 @doc @R|")
}

// Goal: names of files are completed by some of their letters; directories go on; names with blanks are quoted.
func TestFilesAreCompleted(t *testing.T) {
	p := withFiles(t)
	p.types("see @mai")
	if got := p.screen(); !strings.HasPrefix(got, "› cmd/main.go\n  internal/ui/composer/main_test.go\n") {
		t.Errorf("mai:\n%s", got)
	}
	p.press("tab")
	p.wrote("see @cmd/main.go |")
	p.types("and @doc")
	p.press("tab")
	p.wrote("see @cmd/main.go and @docs/|")
	if got := p.screen(); !strings.Contains(got, "› docs/") || !strings.Contains(got, "docs/my notes.md") {
		t.Errorf("in a directory:\n%s", got)
	}
	p.types("no")
	p.press("tab")
	p.wrote(`see @cmd/main.go and @"docs/my notes.md" |`)
	p.types("x")
	p.press("left")
	p.types("@mak")
	p.press("right", "backspace", "left", "tab")
	p.wrote(`see @cmd/main.go and @"docs/my notes.md" @Makefile |`)
	p.types("(@日")
	p.press("tab")
	p.wrote(`see @cmd/main.go and @"docs/my notes.md" @Makefile (@docs/日本語.md |`)
	p.press("ctrl+c")
	p.types("@mak b")
	p.press("left", "left", "tab")
	p.wrote("@Makefile| b")
	p.press("ctrl+c")
	p.types(`@"my n`)
	p.press("tab")
	p.wrote(`@"docs/my notes.md" |`)
	p.press("ctrl+c")
	p.types("mail me@ma")
	if p.Height() != 1 {
		t.Errorf("an address is completed:\n%s", p.screen())
	}
	for _, f := range fileItems(someFiles) {
		if strings.Contains(f.insert, "odd") {
			t.Error("a name is offered that cannot be written")
		}
	}
}

// Goal: a name that came a moment before enter was pressed is not taken by it: the message is sent as it was written.
func TestEnterDoesNotTakeWhatJustCame(t *testing.T) {
	p := withFiles(t)
	p.hold = true
	p.types("fix @ma")
	p.press("enter") // nothing has come yet
	p.release()
	if len(p.sent) != 1 || p.sent[0].String() != "fix @ma" {
		t.Errorf("sent: %v", p.sent)
	}
	p.types("fix @ma")
	p.press("enter") // it came a moment ago
	if len(p.sent) != 2 || p.sent[1].String() != "fix @ma" {
		t.Errorf("sent: %v", p.sent)
	}
	p.types("fix @ma")
	p.clock = p.clock.Add(time.Second)
	p.press("enter")
	p.wrote("fix @Makefile |")
}

// Goal: an answer to an older question changes nothing, and enter takes nothing that is unlike what was typed since.
func TestStaleAnswersAreDropped(t *testing.T) {
	p := withFiles(t)
	p.types("@m")
	p.clock = p.clock.Add(time.Second)
	p.hold = true
	p.types("ak")
	old := p.held[0]
	p.press("tab")
	p.wrote("@Makefile |") // of those that were there, the only one like it
	p.press("ctrl+c")
	p.hold, p.held = false, nil
	p.types("@REA")
	p.run(old)
	if got := p.screen(); got != "› README.md\n> @REA" {
		t.Errorf("an old answer:\n%s", got)
	}
	p.press("ctrl+c")
	p.hold = true
	p.types("@ma")
	p.press("ctrl+c")
	p.release()
	if p.Height() != 1 {
		t.Errorf("an answer opens what is gone:\n%s", p.screen())
	}
}

// Goal: errors of a source are shown as text.
func TestSourceErrorsAreShown(t *testing.T) {
	p := newPerson(t)
	p.src.err = errFake
	p.types("@x")
	if got := p.screen(); !strings.Contains(got, "on fire") {
		t.Errorf("%s", got)
	}
	p.types("y")
	p.press("ctrl+r")
	if got := p.screen(); !strings.Contains(got, "on fire") {
		t.Errorf("%s", got)
	}
}

// Goal: the best names come first.
func TestRank(t *testing.T) {
	files := []File{{"a/composer/x.go", false}, {"composer.go", false}, {"b/the_composer_test.go", false}, {"cmp/o/s/er.go", false}, {"Zebra", false}}
	var got []string
	for _, f := range Rank(files, "comp", 10) {
		got = append(got, f.Path)
	}
	if strings.Join(got, " ") != "composer.go b/the_composer_test.go a/composer/x.go" {
		t.Errorf("%q", got)
	}
	top := Rank([]File{{".gitignore", false}, {"docs/a", false}, {"docs", true}, {"Makefile", false}, {"a", false}}, "", 9)
	if fmt.Sprint(top) != "[{a false} {docs true} {Makefile false} {docs/a false} {.gitignore false}]" {
		t.Errorf("of nothing: %v", top)
	}
	if n := len(Rank(files, "", 2)); n != 2 {
		t.Errorf("%d names of nothing", n)
	}
	if len(Rank(files, "zeb", 9)) != 1 || len(Rank(files, "ZEB", 9)) != 0 {
		t.Error("case")
	}
}
