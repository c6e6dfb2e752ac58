package knowledge

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Goal: no spelling of a path leads out of the memory, or to the files that are its own.
func TestPathsStayInside(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{
		"", "x", "/", "/etc/passwd", "/memoriesx/a", "memories/a", "/memories/..", "/memories/../a", "/memories/a/../../b",
		"/memories/./a", "/memories//a", "/memories/%2e%2e%2fa", "/memories/%2E%2E/a", "/memories/a%00", "/memories/a\x00b",
		"/memories/..\\a", "/memories/C:a", "/memories/.meta.json", "/memories/.changes/x", "/memories/a/.git", "/memories/user/../a",
		"/memories/a\u202eb", "/memories/a\nb", "/memories/\xff", "/memories/memory.md", "/memories/USER/x", "/memories/a.", "/memories/a ",
		"/memories/MEMORY.md/x", "/memories/node_modules/x", "/memories/" + strings.Repeat("x", 300), "/memories" + strings.Repeat("/x", 20),
		"/memories/user/user/x",
	} {
		w.no(create(path, "x"), "Error: ")
		for _, c := range []Command{{Name: "view", Path: path}, {Name: "delete", Path: path}, {Name: "rename", OldPath: path, NewPath: "/memories/n"}} {
			if path != "/memories/" {
				w.no(c)
			}
		}
	}
	if all, _ := filepath.Glob(filepath.Join(w.cfg.Home, "*")); len(all) > 0 {
		t.Errorf("made: %v", all)
	}
}

// Goal: a link in a memory that lies in a repository leads nowhere, in whatever place it is.
func TestLinksAreRefused(t *testing.T) {
	secret := "the secret"
	plant := map[string]func(dir, outside string) (string, string){
		"file": func(dir, out string) (string, string) {
			return filepath.Join(out, "f"), filepath.Join(dir, ".agent/memory/f")
		},
		"directory": func(dir, out string) (string, string) { return out, filepath.Join(dir, ".agent/memory/sub") },
		"memory":    func(dir, out string) (string, string) { return out, filepath.Join(dir, ".agent/memory") },
		"agent":     func(dir, out string) (string, string) { return out, filepath.Join(dir, ".agent") },
		"index": func(dir, out string) (string, string) {
			return filepath.Join(out, "f"), filepath.Join(dir, ".agent/MEMORY.md")
		},
		"top index": func(dir, out string) (string, string) {
			return filepath.Join(out, "f"), filepath.Join(dir, "MEMORY.md")
		},
		"journal": func(dir, out string) (string, string) {
			return filepath.Join(out, "f"), filepath.Join(dir, ".agent/journal.md")
		},
		"inside": func(dir, _ string) (string, string) { return "../../src", filepath.Join(dir, ".agent/memory/sub") },
		"base":   func(dir, _ string) (string, string) { return "..", filepath.Join(dir, ".agent/memory/sub") },
	}
	for name, links := range plant {
		w := newWorld(t)
		w.cfg.InProject = true
		outside := filepath.Join(filepath.Dir(w.cfg.Dir), "outside")
		w.write(filepath.Join(outside, "f"), secret)
		w.write(filepath.Join(w.cfg.Dir, "src", "f"), secret)
		if name == "base" {
			w.write(filepath.Join(w.cfg.Dir, ".agent", "f"), secret)
		}
		to, from := links(w.cfg.Dir, outside)
		if err := errors.Join(os.MkdirAll(filepath.Dir(from), 0o755), os.Symlink(to, from)); err != nil {
			t.Fatal(err)
		}
		m := w.open()
		for _, c := range []Command{
			{Name: "view", Path: "/memories/f"},
			{Name: "view", Path: "/memories/sub/f"},
			{Name: "view", Path: "/memories/MEMORY.md"},
			create("/memories/sub/new", "x"), create("/memories/f", "x"), create("/memories/MEMORY.md", title+"\n"),
			{Name: "delete", Path: "/memories/sub"},
			{Name: "delete", Path: "/memories/f"},
			{Name: "str_replace", Path: "/memories/f", OldStr: "secret", NewStr: "x"},
		} {
			if text, _, _ := m.Do(context.Background(), c, model); strings.Contains(text, secret) {
				t.Errorf("%s: %v told what lies outside: %q", name, c, text)
			}
		}
		_, _ = m.Journal().Add(context.Background(), "x", clock())
		if days, _ := m.Journal().Days(0); len(days) > 0 && strings.Contains(days[0].String(), secret) {
			t.Errorf("%s: the journal told it", name)
		}
		if b, _ := Brief(w.cfg); strings.Contains(b.Text, secret) {
			t.Errorf("%s: the brief told it", name)
		}
		if _, err := os.Lstat(filepath.Join(w.cfg.Dir, ".agent", "new")); err == nil && name == "base" {
			t.Errorf("%s: a file was made beside the memory", name)
		}
		for _, dir := range []string{outside, filepath.Join(w.cfg.Dir, "src")} {
			if entries, _ := os.ReadDir(dir); len(entries) != 1 || fileText(filepath.Join(dir, "f")) != secret {
				t.Errorf("%s: what lies outside was changed: %v", name, entries)
			}
		}
	}
}

// Goal: a pipe in the place of a file keeps nobody waiting.
func TestPipesAreRefused(t *testing.T) {
	w := newWorld(t)
	w.write(filepath.Join(w.open().Project.Dir(), detailDir, "x"), "")
	mkfifo(t, filepath.Join(w.open().Project.Dir(), detailDir, "p"))
	mkfifo(t, filepath.Join(w.open().Project.Dir(), indexName))
	w.no(Command{Name: "view", Path: "/memories/p"})
	w.no(Command{Name: "view", Path: "/memories/MEMORY.md"})
	w.no(create("/memories/p", "x"))
	if _, err := Brief(w.cfg); !errors.Is(err, ErrLink) {
		t.Errorf("brief: %v", err)
	}
}

// Goal: without consent nothing is written into a project; with it the files are where people look for them, for
// others to read. An index that is there keeps its place.
func TestPlaces(t *testing.T) {
	w := newWorld(t)
	w.write(filepath.Join(w.cfg.Dir, "MEMORY.md"), "# Memory Index\n\n## Mine\n- [a](a.md) - by hand\n")
	w.add(w.open().Project, "a fact")
	if entries, _ := os.ReadDir(w.cfg.Dir); len(entries) != 1 || strings.Contains(fileText(filepath.Join(w.cfg.Dir, "MEMORY.md")), "fact") {
		t.Errorf("without consent: %v", entries)
	}
	mode(t, w.open().Project.Dir(), 0o700)
	mode(t, w.open().Project.IndexFile(), 0o600)
	w.cfg.InProject = true
	w.add(w.open().Project, "another fact")
	if text := fileText(filepath.Join(w.cfg.Dir, "MEMORY.md")); !strings.Contains(text, "by hand") || !strings.Contains(text, "another-fact") {
		t.Errorf("the index: %q", text)
	}
	if fileText(filepath.Join(w.cfg.Dir, ".agent/memory/another-fact.md")) == "" || fileText(filepath.Join(w.cfg.Dir, ".agent/.meta.json")) == "" {
		t.Error("details or marks are missing")
	}
	mode(t, filepath.Join(w.cfg.Dir, ".agent/memory/another-fact.md"), 0o644)
	if err := os.Mkdir(filepath.Join(w.cfg.Dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(w.cfg.Dir, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	w.cfg.Dir = deep
	if list, err := w.open().Project.List(); err != nil || len(list) != 2 {
		t.Errorf("from below: %v, %v", list, err)
	}
	if _, err := Open(Config{Home: "relative", Dir: deep}); err == nil {
		t.Error("a relative home was taken")
	}
}

func mode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != want {
		t.Errorf("%s: %v, %v", path, info.Mode(), err)
	}
}

// FuzzPaths: whatever a path is, a file that it makes lies in the directory of the details, or is the index.
func FuzzPaths(f *testing.F) {
	for _, seed := range []string{"/memories/a", "/memories/../a", "/memories/a/b.md", "/memories/user/x", "/memories/%2e%2e/x", "/memories/MEMORY.md"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		m := &Memory{Project: &Scope{Name: "project"}, User: &Scope{Name: userDir}}
		s, name, err := m.locate(path)
		if err != nil || name == "" {
			return
		}
		if !filepath.IsLocal(name) || strings.HasPrefix(name, ".") || strings.Contains(name, "/.") || strings.ContainsAny(name, "\x00\\%:") && encoded(name) {
			t.Errorf("%q leads to %q", path, name)
		}
		if shown := s.shown(name); shown != strings.TrimSuffix(path, "/") {
			t.Errorf("%q is shown as %q", path, shown)
		}
	})
}
