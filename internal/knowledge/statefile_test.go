package knowledge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const stateName = "state.json"

// putState writes a state file over what is there.
func putState(cfg Config, text string) error {
	return onProject(cfg, func(s *Scope) error {
		d, err := s.Desk(context.Background())
		if err != nil {
			return err
		}
		defer d.Close()
		now, _, err := d.Read(stateName)
		if err == nil {
			err = d.Put(stateName, now, []byte(text))
		}
		return err
	})
}

func init() {
	jobs["state"] = func(cfg Config) error { return putState(cfg, os.Getenv("KNOWLEDGE_NAME")) }
	jobs["states"] = func(cfg Config) error {
		for i := range manyAdds {
			text := fmt.Sprintf("%s %d %s\n", os.Getenv("KNOWLEDGE_NAME"), i, strings.Repeat("x", 5000))
			if err := putState(cfg, text); err != nil {
				return err
			}
		}
		return nil
	}
}

// state is a state file as it is, and whether it is known as written by Perdure.
func (w *world) state() (text string, ours bool) {
	w.Helper()
	now, last, err := w.open().Project.Look(stateName)
	if err != nil {
		w.Fatal(err)
	}
	return string(now), now != nil && last != nil && string(now) == string(last)
}

// Goal: whatever step of its writing a process is killed at, a state file is whole, old or new, and it is known that
// nobody else wrote it: no crash may look like a person's edit.
func TestStateFileKilledBetweenSteps(t *testing.T) {
	points := 0
	for before := range 3 { // how many writes there were before
		for kill := 0; ; kill++ {
			if kill > 50 {
				t.Fatal("too many steps")
			}
			w, want := newWorld(t), ""
			for i := range before {
				want = fmt.Sprint("old", i)
				if err := putState(w.cfg, want); err != nil {
					t.Fatal(err)
				}
			}
			killed := w.job("state", kill, "KNOWLEDGE_NAME=new")
			text, ours := w.state()
			if text != want && text != "new" || text != "" && !ours {
				t.Errorf("%d writes before, killed at %d: %q, ours %v", before, kill, text, ours)
			}
			if w.job("state", -1, "KNOWLEDGE_NAME=new"); fileText(w.open().Project.Dir()+"/"+stateName) != "new" {
				t.Errorf("%d writes before, killed at %d, asked again: %q", before, kill, fileText(w.open().Project.Dir()+"/"+stateName))
			}
			if !killed {
				break
			}
			points++
		}
	}
	if points < 20 {
		t.Errorf("only %d points", points)
	}
	t.Logf("%d kills", points)
}

// Goal: what a person writes while Perdure is about to write stays, whichever step it falls between, and is seen as the
// person's.
func TestAStateFileThatAPersonWritesMeanwhile(t *testing.T) {
	for _, at := range []string{"copy", "written .state.json.next", "renamed .state.json.next", "replace"} {
		w := newWorld(t)
		if err := putState(w.cfg, "old"); err != nil {
			t.Fatal(err)
		}
		file, hit := filepath.Join(w.open().Project.Dir(), stateName), false
		cfg := w.cfg
		cfg.Fault = func(step string) error {
			if step == at {
				hit = true
				w.write(file, "a person's")
			}
			return nil
		}
		if err := putState(cfg, "new"); !errors.Is(err, ErrChanged) || !hit {
			t.Errorf("%s: %v, hit %v", at, err, hit)
		}
		if text, ours := w.state(); text != "a person's" || ours {
			t.Errorf("%s: %q, ours %v", at, text, ours)
		}
	}
}

// Goal: processes that write one file at once leave one of their texts, whole and known.
func TestStateFileOfTwoProcesses(t *testing.T) {
	w := newWorld(t)
	done := make(chan bool)
	for _, name := range []string{"a", "b"} {
		go func() { done <- w.job("states", -1, "KNOWLEDGE_NAME="+name) }()
	}
	<-done
	<-done
	text, ours := w.state()
	if !ours || !strings.HasPrefix(text, fmt.Sprintf("a %d x", manyAdds-1)) && !strings.HasPrefix(text, fmt.Sprintf("b %d x", manyAdds-1)) {
		t.Errorf("%.40q, ours %v", text, ours)
	}
}

// Goal: no link is followed, no other name is written, and a step that fails leaves what was there.
func TestStateFilesStayInTheirPlace(t *testing.T) {
	w := newWorld(t)
	outside := filepath.Join(t.TempDir(), "outside")
	w.write(outside, "theirs")
	dir := w.open().Project.Dir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{stateName, "." + stateName + ".last", "." + stateName + ".next"} {
		link := filepath.Join(dir, name)
		if err := os.Symlink(outside, link); err != nil {
			t.Fatal(err)
		}
		err := putState(w.cfg, "mine")
		if name == stateName && err == nil {
			t.Errorf("%s: a link was written", name)
		}
		if got := fileText(outside); got != "theirs" {
			t.Fatalf("%s: the link was followed: %q", name, got)
		}
		_ = os.Remove(link)
		_ = os.Remove(filepath.Join(dir, stateName))
	}
	for _, name := range []string{"", "../x.json", "a/b.json", ".x.json", "MEMORY.md", "x.txt", "user", "journal.md", "x\u202e.json"} {
		if _, _, err := w.open().Project.Look(name); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
	if err := putState(w.cfg, "old"); err != nil {
		t.Fatal(err)
	}
	cfg := w.cfg
	cfg.Fault = func(step string) error { return errors.New("no room at " + step) }
	if err := putState(cfg, "new"); err == nil {
		t.Error("no error")
	}
	if text, ours := w.state(); text != "old" || !ours {
		t.Errorf("%q, ours %v", text, ours)
	}
	if info, err := os.Stat(filepath.Join(dir, stateName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if b, _, err := ReadBelow(filepath.Dir(outside), "outside", 3); err == nil {
		t.Errorf("over the limit: %q", b)
	}
}
