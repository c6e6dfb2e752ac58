package knowledge

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Goal: a rule at the end of a long index is never left out unseen: too long is refused, and what a hand made too long
// is named.
func TestNothingIsCutInSilence(t *testing.T) {
	w := newWorld(t)
	w.do(create("/memories/MEMORY.md", entriesText(197)))
	w.no(Command{Name: "insert", Path: "/memories/MEMORY.md", InsertLine: 200, InsertText: "- [last](last.md) - the rule"},
		"201 lines", "Least lately confirmed", "key0")
	if b := w.brief(); !strings.Contains(b.Text, "key196") || len(b.Cut) != 0 {
		t.Errorf("what is allowed is not whole: %v", b.Cut)
	}
	w.write(w.open().Project.IndexFile(), entriesText(238)+"- [rule](rule.md) - never push on Fridays\n")
	b := w.brief()
	if len(b.Text) > MaxBriefBytes || len(b.Cut) < 40 || b.Cut[len(b.Cut)-1] != "rule" || !strings.Contains(b.Text, "over its room") {
		t.Errorf("cut: %d, %v", len(b.Cut), b.Cut)
	}
	w.do(Command{Name: "str_replace", Path: "/memories/MEMORY.md", OldStr: "- [key0](file0.md) - says 0\n"}) // getting smaller is no fault
}

// Goal: an index that is as large as it may be is whole in the brief, and the user's beside it is at least named.
func TestAFullIndexIsWhole(t *testing.T) {
	w := newWorld(t)
	text := title + "\n\n## Decisions\n"
	for i := 0; ; i++ {
		e := Entry{Key: fmt.Sprint("key", i), File: fmt.Sprint("file", i, ".md"), Summary: fmt.Sprint(i, " ", strings.Repeat("word ", 28), "end")}
		if len(text)+len(e.String())+1 > MaxIndexBytes {
			break
		}
		text += e.String() + "\n"
	}
	w.do(create("/memories/MEMORY.md", text))
	w.add(w.open().User, "I like tea")
	for i := range 30 {
		w.add(w.open().User, fmt.Sprint("I like tea number ", i))
	}
	b := w.brief()
	if !strings.Contains(b.Text, strings.TrimPrefix(text, title+"\n\n")) || len(b.Text) > MaxBriefBytes {
		t.Errorf("%d bytes", len(b.Text))
	}
	if len(b.Cut) == 0 || !strings.Contains(b.Text, "View /memories/user/MEMORY.md first. Not shown: ") {
		t.Errorf("the user's memory is not named: %v", b.Cut)
	}
}

// Goal: what the project's own instructions say is not noted again.
func TestInstructionsAreNotCopied(t *testing.T) {
	w := newWorld(t)
	w.write(filepath.Join(w.cfg.Dir, "AGENTS.md"), "# Rules\n- Run `make test` before a commit.\n")
	_, err := w.open().Project.Add(context.Background(), Addition{Text: "run make test before a commit"}, By{})
	if no := new(Refusal); !errors.As(err, &no) || !strings.Contains(no.Text, "line 2 of AGENTS.md") {
		t.Errorf("got %v", err)
	}
}

// Goal: a rewrite that stands "the rest unchanged" for what it leaves out loses nothing.
func TestShrinkIsGuarded(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("a line\nanother\n", 20)
	w.do(create("/memories/a.md", long))
	w.no(Command{Name: "str_replace", Path: "/memories/a.md", OldStr: long, NewStr: "new\n[Rest of the file unchanged]\n"}, "40 of the 40 lines", "delete the file first")
	e := w.add(w.open().Project, "a decision")
	if err := w.open().Project.Edit(context.Background(), e.Key, Revision{Body: &long}, By{}); err != nil {
		t.Fatal(err)
	}
	short := "[Rest unchanged]"
	if err := w.open().Project.Edit(context.Background(), e.Key, Revision{Body: &short}, By{}); !errors.As(err, new(*Refusal)) {
		t.Errorf("got %v", err)
	}
	w.do(Command{Name: "delete", Path: "/memories/a.md"})
	w.do(create("/memories/a.md", "new\n")) // meant
	small := strings.Repeat("x\n", 10)
	w.do(create("/memories/b.md", small))
	w.do(Command{Name: "str_replace", Path: "/memories/b.md", OldStr: small, NewStr: "y\n"}) // ten lines are few
}

// Goal: a session is told that files come before notes, and that notes can be old.
func TestNotesComeAfterFiles(t *testing.T) {
	w := newWorld(t)
	if b := w.brief(); b.Text != "" {
		t.Errorf("without notes there is nothing to say: %q", b.Text)
	}
	w.add(w.open().Project, "the port is 8080")
	if text := w.brief().Text; !strings.Contains(text, "what the files say comes first") || !strings.Contains(text, "not instructions") {
		t.Errorf("brief: %q", text)
	}
}

// Goal: what is noted in one project is not told in another; what is the user's is told in both.
func TestProjectsAreApart(t *testing.T) {
	w := newWorld(t)
	w.add(w.open().Project, "use tabs here")
	w.add(w.open().User, "call me Ada")
	w.cfg.Dir = filepath.Join(filepath.Dir(w.cfg.Dir), "other", "project")
	w.write(filepath.Join(w.cfg.Dir, "x"), "")
	b := w.brief()
	if strings.Contains(b.Text, "tabs") || !strings.Contains(b.Text, "Ada") {
		t.Errorf("brief: %q", b.Text)
	}
	if text := w.do(Command{Name: "view", Path: "/memories"}); strings.Contains(text, "use-tabs") {
		t.Errorf("view: %q", text)
	}
}

// Goal: a memory that is there is used: its index is in the brief, and so is the name of a file that no entry leads to.
func TestMemoryIsSeen(t *testing.T) {
	w := newWorld(t)
	w.do(create("/memories/progress.md", "half done\n"))
	e := w.add(w.open().Project, "the build needs Go 1.26")
	if text := w.brief().Text; !strings.Contains(text, e.String()) || !strings.Contains(text, "Files without an entry: progress.md") || strings.Contains(text, e.File+",") {
		t.Errorf("brief: %q", text)
	}
}

// Goal: the memory does not grow by saying the same again, nor without bound.
func TestGrowthIsBounded(t *testing.T) {
	w := newWorld(t)
	w.add(w.open().Project, "Use PostgreSQL.")
	for _, text := range []string{"use postgresql", "  USE   PostgreSQL!", "use\npostgresql"} {
		if _, err := w.open().Project.Add(context.Background(), Addition{Text: text}, By{}); err == nil || !strings.Contains(err.Error(), "use-postgresql says that already") {
			t.Errorf("%q: %v", text, err)
		}
	}
	w.add(w.open().Project, "Deploy:\nnever on Fridays, since nobody is there on Saturday")
	if _, err := w.open().Project.Add(context.Background(), Addition{Text: "deploy - never on fridays since nobody is there on saturday"}, By{}); err == nil || !strings.Contains(err.Error(), "deploy-never-on-fridays says that already") {
		t.Errorf("the details say it: %v", err)
	}
	w.write(w.open().User.IndexFile(), title+"\n\n## User\n- [tea](nowhere.md) - Likes tea.\n")
	if _, err := w.open().User.Add(context.Background(), Addition{Text: "likes TEA"}, By{}); err == nil || !strings.Contains(err.Error(), "tea says that already") {
		t.Errorf("an entry without a file: %v", err)
	}
	w.no(Command{Name: "insert", Path: "/memories/MEMORY.md", InsertLine: 4, InsertText: "- [pg](pg.md) - use postgresql"}, "would say the same")
	w.no(create("/memories/big.md", strings.Repeat("x", MaxFileBytes+1)), "65537 bytes")
	w.do(create("/memories/full.md", strings.Repeat("x", MaxFileBytes)))
	for i := range MaxFiles {
		w.write(filepath.Join(w.open().Project.Dir(), detailDir, fmt.Sprint(i, ".txt")), "x")
	}
	w.no(create("/memories/one-more.md", "x"), "256 files")
	for i := range MaxFiles {
		w.write(filepath.Join(w.open().User.Dir(), detailDir, fmt.Sprint(i%250, ".txt")), strings.Repeat("x", MaxFileBytes+MaxFileBytes/20))
	}
	w.no(create("/memories/user/one-more.md", "x"), "16777216")
}

// Goal: nothing is done behind the user's back: reading makes no file, changes nothing and costs no call of a model.
func TestReadingChangesNothing(t *testing.T) {
	w := newWorld(t)
	w.brief()
	w.do(Command{Name: "view", Path: "/memories"})
	if _, err := w.open().Project.List(); err != nil {
		t.Error(err)
	}
	if _, err := w.open().Journal().Days(0); err != nil {
		t.Error(err)
	}
	if all, _ := filepath.Glob(filepath.Join(w.cfg.Home, "*")); len(all) > 0 {
		t.Errorf("made: %v", all)
	}
}

// Goal: what the brief told is not noted again as if it were new.
func TestBriefIsNotNotedAgain(t *testing.T) {
	w := newWorld(t)
	w.add(w.open().Project, "the API is GraphQL")
	for l := range strings.Lines(w.brief().Text) {
		e, ok := parseEntry(strings.TrimSpace(l))
		if !ok {
			continue
		}
		if _, err := w.open().Project.Add(context.Background(), Addition{Text: e.Summary}, By{}); err == nil {
			t.Errorf("%q was noted again", e.Summary)
		}
	}
}

// Goal: one claim is told once, though two memories have it.
func TestOneClaimIsToldOnce(t *testing.T) {
	w := newWorld(t)
	w.add(w.open().Project, "Answer in English.")
	w.add(w.open().User, "answer in english")
	if text := strings.ToLower(w.brief().Text); strings.Count(text, "- answer in english") != 1 {
		t.Errorf("brief: %q", text)
	}
}

// Goal: what came from a tool or another place keeps that mark, whoever rewords it but the user, and is told with it.
func TestTrustIsTheLeastOfTheLineage(t *testing.T) {
	w := newWorld(t)
	s := w.open().Project
	e, err := s.Add(context.Background(), Addition{Text: "mirror.example has the packages"}, By{Session: "s1", Seq: 4, Source: SourceTool})
	if err != nil {
		t.Fatal(err)
	}
	if text := w.brief().Text; !strings.Contains(text, "[from tool, unchecked]") {
		t.Errorf("brief: %q", text)
	}
	new := "packages come from mirror.example"
	for _, step := range []struct{ by, want Source }{{SourceModel, SourceTool}, {SourceImport, SourceImport}, {SourceModel, SourceImport}, {SourceUser, SourceUser}} {
		new += "."
		if err := s.Edit(context.Background(), e.Key, Revision{Summary: &new}, By{Session: "s2", Source: step.by}); err != nil {
			t.Fatal(err)
		}
		l, err := s.Show(e.Key)
		if err != nil || l.Mark.Source != step.want || l.Mark.Session != "s2" || l.Mark.Date != l.Mark.Confirmed {
			t.Errorf("after %s: %+v, %v", step.by, l.Mark, err)
		}
	}
	if text := w.brief().Text; strings.Contains(text, "unchecked") {
		t.Errorf("the user confirmed it: %q", text)
	}
}
