package knowledge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func init() {
	for name, do := range map[string]func(Handoffs) error{
		"handoff first": func(h Handoffs) error {
			_, err := h.Write(context.Background(), handed("one", 1, "goal one"), "", byOf("one", 1))
			return err
		},
		"handoff later": func(h Handoffs) error {
			_, err := h.Write(context.Background(), handed("one", 2, "goal later"), "", byOf("one", 2))
			return err
		},
		"handoff beside": func(h Handoffs) error {
			_, err := h.Write(context.Background(), handed("two", 2, "goal two"), "", byOf("two", 2))
			return err
		},
		"handoff over": func(h Handoffs) error {
			f, _, err := h.Read()
			if err == nil {
				_, err = h.Write(context.Background(), handed("two", 2, "goal two"), f.Digest, byOf("two", 2))
			}
			return err
		},
		"handoff archive": func(h Handoffs) error {
			_, err := h.Archive(context.Background())
			return err
		},
		"handoff many": func(h Handoffs) error {
			name := os.Getenv("KNOWLEDGE_NAME")
			for i := range int64(manyHandoffs) {
				if _, err := h.Write(context.Background(), handed(name, i, fmt.Sprintf("goal %s %d.", name, i)), "", byOf(name, i)); err != nil {
					return err
				}
				if i%5 == 4 {
					if _, err := h.Archive(context.Background()); err != nil && !errors.Is(err, ErrChanged) {
						return err
					}
				}
			}
			return nil
		},
	} {
		jobs[name] = func(cfg Config) error {
			m, err := Open(cfg)
			if err != nil {
				return err
			}
			return do(m.Handoffs())
		}
	}
}

const manyHandoffs = 9

// goals are the goals of the handoffs that can be found, in their places or in the history.
func (w *world) goals() map[string]int {
	w.Helper()
	out := map[string]int{}
	past, err := w.open().Handoffs().History()
	if err != nil {
		w.Fatal(err)
	}
	for _, f := range append(w.lies(), past...) {
		text := string(f.Text)
		for _, goal := range []string{"goal one", "goal later", "goal two", "by hand"} {
			if strings.Contains(text, goal) {
				out[goal]++
			}
		}
	}
	return out
}

// Goal: wherever a process is killed while it writes or puts away a handoff, what lay there is in its place or in the
// history, whole, nothing else is lost, and asked for again it is done once.
func TestHandoffKilledBetweenSteps(t *testing.T) {
	points := 0
	for _, c := range []struct {
		job, hand   string // what is killed, and what lies there before: of session one, by hand in the root, or nothing
		shared      bool
		gone, comes string
	}{
		{job: "handoff first", comes: "goal one"},
		{job: "handoff later", hand: "one", gone: "goal one", comes: "goal later"},
		{job: "handoff beside", hand: "one", comes: "goal two", shared: true},
		{job: "handoff over", hand: "one", comes: "goal two"},
		{job: "handoff over", hand: "root", comes: "goal two", shared: true},
		{job: "handoff archive", hand: "one"},
		{job: "handoff archive", hand: "root", shared: true},
		{job: "handoff archive", hand: "root"},
	} {
		for kill := 0; ; kill++ {
			if kill > 60 {
				t.Fatalf("%s has too many steps", c.job)
			}
			w := newWorld(t)
			w.cfg.InProject = c.shared
			kept := ""
			switch c.hand {
			case "one":
				w.hand("one", 1, "goal one", "")
				kept = "goal one"
			case "root":
				w.write(filepath.Join(w.cfg.Dir, "HANDOFF.md"), "by hand")
				kept = "by hand"
			}
			var env []string
			if c.shared {
				env = append(env, "KNOWLEDGE_SHARED=1")
			}
			killed := w.job(c.job, kill, env...)
			name := fmt.Sprintf("%s over %q (shared: %t), killed at %d", c.job, c.hand, c.shared, kill)
			if got := w.goals(); kept != "" && kept != c.gone && got[kept] == 0 || c.gone != "" && got[c.gone]+got[c.comes] == 0 {
				t.Errorf("%s: %v in\n%s", name, got, w.texts())
			}
			if !killed {
				break
			}
			points++
			if w.job(c.job, -1, env...) {
				t.Errorf("%s: it cannot be done again", name)
			}
			foreign := c.hand == "root" && !c.shared
			if got := w.goals(); c.comes != "" && got[c.comes] != 1 || kept != "" && kept != c.gone && got[kept] != 1 && !foreign || c.gone != "" && got[c.gone] != 0 {
				t.Errorf("%s, and again: %v in\n%s", name, got, w.texts())
			}
			w.hand("last", 1, "sweeps", "")
			if strings.Contains(w.everyName(), tempName) || strings.Contains(w.texts(), "(empty)") {
				t.Errorf("%s: half a file is left:\n%s", name, w.texts())
			}
		}
	}
	if points < 25 {
		t.Errorf("only %d points", points)
	}
	t.Logf("%d kills", points)
}

// everyName lists the files of a world.
func (w *world) everyName() string { return listed(w.T, filepath.Dir(w.cfg.Home)) }

// Goal: a step that fails, as on a full disk, is told, and what lay there is whole.
func TestHandoffOnAFullDisk(t *testing.T) {
	full := errors.New("no space left on device")
	for _, name := range []string{"handoff later", "handoff beside", "handoff over", "handoff archive"} {
		for fail := 0; ; fail++ {
			w := consenting(t)
			w.hand("one", 1, "goal one", "")
			steps := 0
			cfg := w.cfg
			cfg.Fault = func(string) error {
				if steps++; steps-1 == fail {
					return full
				}
				return nil
			}
			err := jobs[name](cfg)
			if steps <= fail {
				break
			}
			if !errors.Is(err, full) {
				t.Errorf("%s: step %d fails and nobody is told: %v", name, fail, err)
			}
			if got := w.goals(); got["goal one"]+got["goal later"] == 0 {
				t.Errorf("%s: step %d: %v", name, fail, got)
			}
			if err := jobs[name](w.cfg); err != nil {
				t.Errorf("%s: with room again: %v", name, err)
			}
		}
	}
	w := newWorld(t)
	w.hand("one", 1, "goal one", "")
	before := w.texts()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "KNOWLEDGE_JOB=handoff later", "KNOWLEDGE_HOME="+w.cfg.Home, "KNOWLEDGE_DIR="+w.cfg.Dir, "KNOWLEDGE_FILE_SIZE=100")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "too large") || w.texts() != before || strings.Contains(w.everyName(), tempName) {
		t.Errorf("half a file was written: %v: %s\n%s", err, out, w.texts())
	}
}

// Goal: sessions that write and put away at once neither lose each other's handoff nor leave half of one: each session's
// newest is in a place or in the history.
func TestHandoffsOfManyProcesses(t *testing.T) {
	w := newWorld(t)
	done := make(chan string, 3)
	names := []string{"aa", "bb", "cc"}
	for _, name := range names {
		go func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), "KNOWLEDGE_JOB=handoff many", "KNOWLEDGE_NAME="+name, "KNOWLEDGE_HOME="+w.cfg.Home, "KNOWLEDGE_DIR="+w.cfg.Dir)
			out, err := cmd.CombinedOutput()
			if err != nil {
				out = append(out, err.Error()...)
			}
			done <- string(out)
		}()
	}
	for range names {
		if out := <-done; out != "" {
			t.Error(out)
		}
	}
	past, err := w.open().Handoffs().History()
	if err != nil {
		t.Fatal(err)
	}
	all := append(w.lies(), past...)
	for _, name := range names {
		found := 0
		for _, f := range all {
			if strings.Contains(string(f.Text), fmt.Sprintf("goal %s %d.", name, manyHandoffs-1)) {
				found++
			}
			if !f.Intact {
				t.Errorf("half a handoff: %s", f.Text)
			}
		}
		if found != 1 {
			t.Errorf("the newest of %s is there %d times:\n%s", name, found, w.texts())
		}
	}
}
