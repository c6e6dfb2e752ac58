package homes_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/provider/scripted"
	"github.com/perdure/perdure/internal/search"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

const (
	secretWord = "xylophonist" // the index of words has it alone
	secretText = "a text that must be gone, " + secretWord
)

// outlives is a script whose turn starts a command that runs on, and one whose output says the text.
const outlives = `{"turns":[{"match":"go","steps":[{"text":"` + secretText + `","tools":[
	{"name":"Bash","input":{"command":"echo ` + secretText + ` >$TMPDIR/f; echo $$ >pid; exec sleep 1000","run_in_background":true}},
	{"name":"Bash","input":{"command":"until [ -s pid ]; do :; done; seq 100000; echo ` + secretText + `"}}]},{"text":"done"}]}]}`

func openScripted(t *testing.T, dir, script string, crash func(string)) *homes.Home {
	t.Helper()
	h, err := homes.Open(t.Context(), dir, homes.WithCrash(homes.Config{Provider: func(string) (modelapi.Provider, error) {
		s, err := scripted.Parse([]byte(script))
		return scripted.New(s), err
	}}, crash))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// busySession makes a session with outputs, directories and a command that runs, whose pid it returns.
func busySession(t *testing.T, h *homes.Home, id string) (pid int) {
	t.Helper()
	cwd := t.TempDir()
	agent := session.Agent{Provider: "scripted", Model: "m"}
	if _, err := h.Create(t.Context(), engine.Spec{ID: id, Agent: agent, Cwd: cwd}); err != nil {
		t.Fatal(err)
	}
	options := homes.RunOptions{Prompt: "go", Options: engine.Options{Mode: permission.ModeBypass}}
	if _, err := h.Run(t.Context(), id, options); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(cwd, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(string(b), &pid); err != nil || !lives(pid) {
		t.Fatalf("the command does not run: %q, %v", b, err)
	}
	return pid
}

// indexed searches for the text, and demands that the index has its word.
func indexed(t *testing.T, h *homes.Home) {
	t.Helper()
	found, err := h.Search(t.Context(), homes.SearchOptions{Query: secretWord})
	if err != nil || len(found.Hits) == 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	if b, err := os.ReadFile(filepath.Join(h.Dir(), search.Dir, "index.db")); err != nil || !bytes.Contains(b, []byte(secretWord)) {
		t.Fatalf("the index does not have it: %v", err)
	}
}

// nothingLeft demands that a session is gone with everything it had.
func nothingLeft(t *testing.T, h *homes.Home, id string, pid int) {
	t.Helper()
	if _, err := h.Store().Get(t.Context(), id); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the session: %v", err)
	}
	if lives(pid) {
		t.Error("its command lives")
	}
	err := filepath.WalkDir(h.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == id {
			t.Errorf("%s is left", path)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(secretText)) || bytes.Contains(b, []byte(secretWord)) {
			t.Errorf("%s holds the text", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestDelete: a deletion ends the session's command and leaves nothing of it, and nothing else is touched. Forks are
// deleted before or with their parent, never left without it.
func TestDelete(t *testing.T) {
	h := openScripted(t, t.TempDir(), outlives, nil)
	defer func() { _ = h.Close() }()
	pid, other := busySession(t, h, "gone"), busySession(t, h, "kept")
	indexed(t, h)
	d, err := h.PlanDelete(t.Context(), "gone")
	if err != nil || len(d.Running) != 1 || d.Running[0].Task != "bash_1" {
		t.Errorf("plan: %+v, %v", d, err)
	}
	child, _, err := h.Fork(t.Context(), "gone", 0, "", "")
	if err != nil {
		t.Fatal(err)
	}
	var children *store.ChildrenError
	if err := h.Delete(t.Context(), "kept", "gone"); !errors.As(err, &children) || children.Children[0] != child {
		t.Errorf("without its fork: %v", err)
	}
	if err := h.Delete(t.Context(), "gone", child, "none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("beside one that is not there: %v", err)
	}
	if _, err := h.State(t.Context(), "gone"); err != nil {
		t.Fatalf("a refused deletion removed something: %v", err)
	}
	if err := h.Delete(t.Context(), "gone", child); err != nil {
		t.Fatal(err)
	}
	if !lives(other) {
		t.Error("the command of the other session was ended")
	}
	if err := h.Delete(t.Context(), "kept"); err != nil {
		t.Fatal(err)
	}
	nothingLeft(t, h, "gone", pid)
	nothingLeft(t, h, "kept", other)
}

// deleteSteps are where a deletion can be killed.
var deleteSteps = []string{"plan", "row", "commands", "act", "acts", "outputs", "tmp", "streams", "batch", "committed", "purge", "merged", "vacuumed", "index", "scrub"}

// TestKilledInDelete: a deletion that is killed at any step is finished by the next opening of the home; and by the next
// session of that id, whose commands run.
func TestKilledInDelete(t *testing.T) {
	if dir := os.Getenv("PERDURE_TEST_DELETE"); dir != "" {
		h := openScripted(t, dir, "{}", func(step string) {
			if step == os.Getenv("PERDURE_TEST_STEP") {
				die()
			}
		})
		t.Fatal(h.Delete(t.Context(), "gone"))
	}
	for _, step := range deleteSteps {
		t.Run(step, func(t *testing.T) {
			dir := t.TempDir()
			h := openScripted(t, dir, outlives, nil)
			pid := busySession(t, h, "gone")
			indexed(t, h)
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestKilledInDelete$")
			child.Env = append(os.Environ(), "PERDURE_TEST_DELETE="+dir, "PERDURE_TEST_STEP="+step)
			var killed *exec.ExitError
			if out, err := child.CombinedOutput(); !errors.As(err, &killed) || !strings.Contains(killed.Error(), "killed") {
				t.Fatalf("not killed at %s: %v\n%s", step, err, out)
			}
			h = openScripted(t, dir, outlives, nil)
			defer func() { _ = h.Close() }()
			nothingLeft(t, h, "gone", pid)
			again := busySession(t, h, "gone")
			indexed(t, h)
			if err := h.Delete(t.Context(), "gone"); err != nil {
				t.Fatal(err)
			}
			nothingLeft(t, h, "gone", again)
		})
	}
}

// TestUsedAgain: an id whose session went without its directories, as an older version's deletion could leave it, meets
// none of them.
func TestUsedAgain(t *testing.T) {
	h := openScripted(t, t.TempDir(), outlives, nil)
	defer func() { _ = h.Close() }()
	pid := busySession(t, h, "gone")
	if err := h.Store().Delete(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	again := busySession(t, h, "gone")
	if lives(pid) {
		t.Error("the command of the session before lives")
	}
	if err := h.Delete(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	nothingLeft(t, h, "gone", again)
}
