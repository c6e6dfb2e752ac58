package knowledge

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Goal: all that is known is found in its files, with the project that it is about; links and other files are not
// looked at.
func TestDocuments(t *testing.T) {
	home, project, outside := t.TempDir(), t.TempDir(), t.TempDir()
	write := func(text string, path ...string) {
		t.Helper()
		p := filepath.Join(path...)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	key := Key(Root(project))
	index := "# Memory Index\n\n## Decisions\n- [db](db.md) - PostgreSQL\nby hand\n"
	write(index, home, "knowledge", key, "MEMORY.md")
	write("# db\n\nsince transactions matter\n", home, "knowledge", key, "memory", "db.md")
	write("deep", home, "knowledge", key, "memory", "sub", "deep.md")
	write("# Project Journal\n\n## 2026-01-02\n- one\n- two\n\n## 2026-01-03\n- three\n", home, "knowledge", key, "journal.md")
	write("\n# Handoff\n\nnext: the parser\n", home, "knowledge", key, "HANDOFF.md")
	write("older", home, "knowledge", key, "handoff-history", "1.md")
	write("not this", home, "knowledge", key, "handoff-history", ".hidden.md")
	write("not this", home, "knowledge", key, ".meta.json")
	write("not this", home, "knowledge", key, "changes", "1.json")
	write(index, home, "knowledge", "user", "MEMORY.md")
	write("unknown", home, "knowledge", "other-0123456789abcdef", "HANDOFF.md")
	write("in the project", project, ".agent", "HANDOFF.md")
	write("not this", outside, "secret.md")
	for _, link := range []string{"handoff-history/link.md", "memory/link.md"} {
		if err := os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(home, "knowledge", key, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(home, "knowledge", "linked")); err != nil {
		t.Fatal(err)
	}
	for _, inProject := range []bool{false, true} {
		docs, err := Documents(home, []string{project, filepath.Join(project, "sub"), "relative", project}, inProject)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range docs {
			passages, err := d.Passages()
			if err != nil {
				t.Error(err)
			}
			about := "of the project"
			if d.Project == "" {
				about = "of none"
			} else if d.Project != Root(project) && d.Project != filepath.Join(Root(project), "sub") {
				t.Errorf("%s is about %s", d.File, d.Project)
			}
			for _, p := range passages {
				got = append(got, strings.Join([]string{d.Kind, about, p.Title, strings.ReplaceAll(p.Text, "\n", "/")}, "; "))
			}
		}
		want := []string{
			"memory; of the project; db; db - PostgreSQL", "memory; of the project; Decisions; by hand",
			"memory; of the project; db; # db//since transactions matter/", "memory; of the project; deep; deep",
			"journal; of the project; 2026-01-02; one/two", "journal; of the project; 2026-01-03; three",
			"handoff; of the project; Handoff; /# Handoff//next: the parser/", "handoff; of the project; older; older",
			"memory; of none; db; db - PostgreSQL", "memory; of none; Decisions; by hand", "handoff; of none; unknown; unknown",
		}
		if inProject {
			want = append(want, "handoff; of the project; in the project; in the project")
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("in the project %v:\n%s\nwant\n%s", inProject, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if docs, err := Documents(filepath.Join(home, "none"), nil, true); len(docs) > 0 || err != nil {
		t.Errorf("%v, %v", docs, err)
	}
}

// Goal: a file that was put in the place of one that was listed is not followed if it is a link.
func TestDocumentReplacedByALink(t *testing.T) {
	home, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	path := filepath.Join(home, "knowledge", "user", "HANDOFF.md")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, outside} {
		if err := os.WriteFile(p, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	docs, err := Documents(home, nil, false)
	if err != nil || len(docs) != 1 || time.Since(docs[0].Modified) > time.Hour {
		t.Fatalf("%+v, %v", docs, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, path); err != nil {
		t.Fatal(err)
	}
	if p, err := docs[0].Passages(); err == nil {
		t.Errorf("it was followed: %v", p)
	}
}
