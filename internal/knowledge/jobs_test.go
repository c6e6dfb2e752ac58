package knowledge

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// jobs are what a process of its own does to a memory.
var jobs = map[string]func(Config) error{
	"add": func(cfg Config) error {
		return onProject(cfg, func(s *Scope) error {
			_, err := s.Add(context.Background(), Addition{Text: "a second fact", Key: "second"}, By{Source: SourceUser})
			return err
		})
	},
	"forget": func(cfg Config) error {
		return onProject(cfg, func(s *Scope) error { return s.Forget(context.Background(), "first", By{Source: SourceUser}) })
	},
	"undo": func(cfg Config) error {
		return onProject(cfg, func(s *Scope) error { _, err := s.Undo(context.Background(), By{Source: SourceUser}); return err })
	},
	"rename": func(cfg Config) error {
		return onTool(cfg, Command{Name: "rename", OldPath: "/memories/first.md", NewPath: "/memories/sub/other.md"})
	},
	"insert": func(cfg Config) error {
		return onTool(cfg, Command{Name: "insert", Path: "/memories/first.md", InsertText: "more"})
	},
	"journal": func(cfg Config) error {
		m, err := Open(cfg)
		if err == nil {
			_, err = m.Journal().Add(context.Background(), "Completed: it", clock())
		}
		return err
	},
	"many": func(cfg Config) error {
		m, err := Open(cfg)
		for i := 0; i < manyAdds && err == nil; i++ {
			name := fmt.Sprintf("%s-%d", os.Getenv("KNOWLEDGE_NAME"), i)
			if _, err = m.Project.Add(context.Background(), Addition{Text: "fact " + name, Key: name}, By{Source: SourceUser}); err == nil {
				_, err = m.Journal().Add(context.Background(), "item "+name+" "+strings.Repeat("x", 200), clock())
			}
		}
		return err
	},
}

const manyAdds = 12

func onProject(cfg Config, do func(*Scope) error) error {
	m, err := Open(cfg)
	if err != nil {
		return err
	}
	return do(m.Project)
}

func onTool(cfg Config, c Command) error {
	m, err := Open(cfg)
	if err != nil {
		return err
	}
	text, ok, err := m.Do(context.Background(), c, By{Session: "s1", Source: SourceModel, Key: "s1/t1.s1.b1"})
	if err == nil && !ok {
		err = &Refusal{text}
	}
	return err
}

// job runs one in a process of its own, which is killed before its step number kill, from 0; -1: it is not.
func (w *world) job(name string, kill int, env ...string) (killed bool) {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), os.Args[0])
	cmd.Env = append(append(os.Environ(), "KNOWLEDGE_JOB="+name, "KNOWLEDGE_HOME="+w.cfg.Home, "KNOWLEDGE_DIR="+w.cfg.Dir), env...)
	if kill >= 0 {
		cmd.Env = append(cmd.Env, fmt.Sprint("KNOWLEDGE_KILL=", kill))
	}
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(err.Error(), "killed") {
		w.Fatalf("%s: %v: %s", name, err, out)
	}
	return err != nil
}

// Goal: whatever step a process is killed at, a change has happened or it has not, nothing else is lost, and asked for
// again it happens once.
func TestKilledBetweenSteps(t *testing.T) {
	points := 0
	for _, name := range []string{"add", "forget", "undo", "rename", "insert"} {
		before, after := settled(t, name, false), settled(t, name, true)
		if before == after {
			t.Fatalf("%s changes nothing", name)
		}
		for kill := 0; ; kill++ {
			if kill > 100 {
				t.Fatalf("%s has too many steps", name)
			}
			w := prepared(t)
			if !w.job(name, kill) {
				break
			}
			points++
			got := w.looked()
			if got != before && got != after {
				t.Errorf("%s killed at step %d:\n%s\nbefore\n%s\nafter\n%s", name, kill, got, before, after)
			}
			if name == "insert" || name == "rename" || got == before {
				w.job(name, -1)
			}
			if got := w.looked(); got != after {
				t.Errorf("%s killed at step %d and asked for again:\n%s\nwant\n%s", name, kill, got, after)
			}
		}
	}
	if points < 30 {
		t.Errorf("only %d points", points)
	}
	t.Logf("%d kills", points)
}

// prepared is a world with an entry and one change to undo.
func prepared(t *testing.T) *world {
	w := newWorld(t)
	s := w.open().Project
	for _, key := range []string{"first", "third"} {
		if _, err := s.Add(context.Background(), Addition{Text: "the fact " + key, Key: key}, By{Source: SourceUser}); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func settled(t *testing.T, name string, done bool) string {
	w := prepared(t)
	if done {
		w.job(name, -1)
	}
	return w.looked()
}

// looked is all that a memory holds, after its next writer has finished what was open.
func (w *world) looked() string {
	w.Helper()
	s := w.open().Project
	f, err := s.hold(context.Background())
	if err != nil {
		w.Fatal(err)
	}
	f.close()
	for _, left := range []string{tempName, pendingName} {
		for _, dir := range []string{"", "memory", "changes", "memory/sub"} {
			if _, err := os.Lstat(filepath.Join(s.Dir(), dir, left)); err == nil {
				w.Errorf("%s/%s is left", dir, left)
			}
		}
	}
	var b strings.Builder
	list, err := s.everything()
	if err != nil {
		w.Fatal(err)
	}
	for _, k := range list {
		_, file := f.at(k.Name)
		fmt.Fprintf(&b, "%s: %q\n", k.Name, fileText(s.Dir()+"/"+file))
	}
	fmt.Fprintf(&b, "%s\n", fileText(s.Dir()+"/"+metaName))
	return b.String()
}

// Goal: two processes at once lose nothing of each other, in the memory and in the journal.
func TestTwoProcesses(t *testing.T) {
	w := newWorld(t)
	done := make(chan string, 3)
	for _, name := range []string{"a", "b", "c"} {
		go func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), "KNOWLEDGE_JOB=many", "KNOWLEDGE_NAME="+name, "KNOWLEDGE_HOME="+w.cfg.Home, "KNOWLEDGE_DIR="+w.cfg.Dir)
			out, err := cmd.CombinedOutput()
			if err != nil {
				out = append(out, err.Error()...)
			}
			done <- string(out)
		}()
	}
	for range 3 {
		if out := <-done; out != "" {
			t.Error(out)
		}
	}
	list, err := w.open().Project.List()
	if err != nil || len(list) != 3*manyAdds {
		t.Errorf("%d entries, %v", len(list), err)
	}
	for _, l := range list {
		if l.Missing || l.Mark.Source != SourceUser || !strings.Contains(l.Body, "fact "+l.Key) {
			t.Errorf("entry: %+v", l)
		}
	}
	days, err := w.open().Journal().Days(0)
	if err != nil || len(days) != 1 || len(days[0].Items) != 3*manyAdds {
		t.Errorf("journal: %d days, %v", len(days), err)
	}
	changes, err := w.open().Project.Log()
	if err != nil || len(changes) != 3*manyAdds || changes[0].N != 3*manyAdds {
		t.Errorf("%d changes, %v", len(changes), err)
	}
}
