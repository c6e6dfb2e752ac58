package homes_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/bundle"
	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// travels is a script whose first turn starts a command that ends, one that runs on, and one with much output.
const travels = `{"turns":[{"match":"go","steps":[{"text":"I begin.","tools":[
	{"name":"Bash","input":{"command":"echo over and out","run_in_background":true}},
	{"name":"Bash","input":{"command":"echo $$ >pid; exec sleep 1000","run_in_background":true}},
	{"name":"Bash","input":{"command":"until [ -s pid ]; do :; done; export THEIRS=1; seq 100000"}},
	{"name":"TaskOutput","input":{"task_id":"bash_1","block":true}}]},{"text":"done"}]},
	{"match":"on","steps":[{"text":"I go on."}]}]}`

// traveller makes a home with such a session, and ends what runs when the test does.
func traveller(t *testing.T, id string) *homes.Home {
	t.Helper()
	h := openScripted(t, t.TempDir(), travels, nil)
	cwd := t.TempDir()
	if _, err := h.Create(t.Context(), engine.Spec{ID: id, Agent: session.Agent{Provider: "scripted", Model: "m"}, Cwd: cwd, Title: "the traveller"}); err != nil {
		t.Fatal(err)
	}
	options := homes.RunOptions{Prompt: "go", Options: engine.Options{Mode: permission.ModeBypass, Rules: []session.Rule{{Effect: "allow", Text: "Bash", Source: "flag"}}}}
	if _, err := h.Run(t.Context(), id, options); err != nil {
		t.Fatal(err)
	}
	if err := h.Deliver(t.Context(), id, "", &session.PermissionGranted{Rule: "Edit", Scope: "session"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if st, err := h.State(context.Background(), id); err == nil {
			for _, task := range st.Tasks {
				_ = h.Commands().Kill(context.Background(), id, task.Act, command.ByUser)
			}
		}
		_ = h.Close()
	})
	return h
}

func packed(t *testing.T, h *homes.Home, id string, o homes.BundleOptions) ([]byte, homes.Bundled) {
	t.Helper()
	var b bytes.Buffer
	out, err := h.Bundle(t.Context(), id, &b, o)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), out
}

func received(t *testing.T, h *homes.Home, b []byte) *homes.Arrival {
	t.Helper()
	a, err := h.Receive(t.Context(), bytes.NewReader(b), bundle.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func events(t *testing.T, h *homes.Home, id string) (all []store.Event) {
	t.Helper()
	for e, err := range h.Store().Read(t.Context(), id, 1, 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// Goal: a session goes on in another home, with the events and hashes that it had, its outputs and the last words of its
// tasks, in another directory, and with no right that it had.
func TestASessionMoves(t *testing.T) {
	from := traveller(t, "s")
	b, out := packed(t, from, "s", homes.BundleOptions{Program: "test"})
	if out.Running != 1 || out.Files != 2 {
		t.Errorf("bundled: %+v", out)
	}
	dir := filepath.Join(t.TempDir(), "new", "place")
	to := openScripted(t, filepath.Join(t.TempDir(), "home"), travels, nil)
	defer func() { _ = to.Close() }()
	a := received(t, to, b)
	if a.Known || a.Title != "the traveller" || a.Running != 1 {
		t.Errorf("arrived: %+v", a.Header)
	}
	if _, err := os.Stat(to.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("looking at a bundle changed the home: %v", err)
	}
	if err := a.Import(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	theirs, ours := events(t, from, "s"), events(t, to, "s")
	if n := len(theirs); len(ours) != n+1 || !reflect.DeepEqual(ours[:n], theirs) || ours[n].Kind != session.KindImported {
		t.Errorf("%d events, %d there", len(ours), n)
	}
	if found, err := to.Verify(t.Context(), "s"); err != nil || len(found) > 0 {
		t.Errorf("verify: %v, %v", found, err)
	}
	was, st := load(t, from, "s"), load(t, to, "s")
	if len(was.Permissions.Grants) == 0 || len(was.Env) == 0 {
		t.Fatalf("the source has nothing to lose: %+v, %v", was.Permissions, was.Env)
	}
	if st.Cwd != dir || st.Config.Root != dir || len(st.Permissions.Grants) > 0 || len(st.Env) > 0 || st.Turns != was.Turns {
		t.Errorf("state: in %s, grants %v, environment %v", st.Cwd, st.Permissions.Grants, st.Env)
	}
	sameFiles(t, from, to, "s")
	act := st.Tasks[0].Act
	news, err := to.Output("s", act, 0, 0)
	if err != nil || string(news.Bytes) != "over and out\n" {
		t.Errorf("output: %q, %v", news.Bytes, err)
	}
	if task := st.Tasks[1]; task.Live() || task.Reason != command.ReasonElsewhere {
		t.Errorf("what ran: %+v", task)
	}
	r, err := to.Run(t.Context(), "s", homes.RunOptions{Prompt: "on"})
	if err != nil || !strings.Contains(r.Result, "I go on.") {
		t.Errorf("%+v, %v", r, err)
	}
	var pid int
	b, err = os.ReadFile(filepath.Join(was.Config.Root, "pid"))
	if _, scan := fmt.Sscan(string(b), &pid); err != nil || scan != nil || !lives(pid) {
		t.Errorf("what ran there was ended: %q, %v", b, err)
	}
}

func load(t *testing.T, h *homes.Home, id string) *session.State {
	t.Helper()
	st, err := h.State(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// sameFiles compares what two homes keep for a session in outputs.
func sameFiles(t *testing.T, a, b *homes.Home, id string) {
	t.Helper()
	read := func(h *homes.Home) map[string]string {
		out := map[string]string{}
		dir := filepath.Join(h.Dir(), "outputs", id)
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			out[e.Name()] = string(text)
		}
		return out
	}
	if was, is := read(a), read(b); len(was) == 0 || !reflect.DeepEqual(was, is) {
		t.Errorf("%d outputs, %d there", len(is), len(was))
	}
}

// A bundle that was imported is known, also after the session went on; one of a session that went another way is refused.
func TestABundleIsImportedOnce(t *testing.T) {
	from := traveller(t, "s")
	b, _ := packed(t, from, "s", homes.BundleOptions{})
	to := openScripted(t, t.TempDir(), travels, nil)
	defer func() { _ = to.Close() }()
	if err := received(t, to, b).Import(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Run(t.Context(), "s", homes.RunOptions{Prompt: "on"}); err != nil {
		t.Fatal(err)
	}
	before := events(t, to, "s")
	a := received(t, to, b)
	if err := a.Import(t.Context(), t.TempDir()); err != nil || !a.Known || !reflect.DeepEqual(events(t, to, "s"), before) {
		t.Errorf("a second import: %v, known %v", err, a.Known)
	}
	if !received(t, from, b).Known {
		t.Error("the home that it comes from does not know it")
	}
	if _, err := from.Run(t.Context(), "s", homes.RunOptions{Prompt: "on"}); err != nil {
		t.Fatal(err)
	}
	b, _ = packed(t, from, "s", homes.BundleOptions{})
	if _, err := to.Receive(t.Context(), bytes.NewReader(b), bundle.Limits{}); !errors.Is(err, homes.ErrOtherHistory) {
		t.Errorf("another history: %v", err)
	}
}

// A fork brings what it inherits: as a session of its own that is closed, or, where that session is, nothing more.
func TestAForkBringsItsParent(t *testing.T) {
	from := traveller(t, "p")
	if _, _, err := from.Fork(t.Context(), "p", 0, "c", "the child"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := from.Fork(t.Context(), "c", 0, "g", "the grandchild"); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Run(t.Context(), "g", homes.RunOptions{Prompt: "on"}); err != nil {
		t.Fatal(err)
	}
	to := openScripted(t, t.TempDir(), travels, nil)
	defer func() { _ = to.Close() }()
	b, out := packed(t, from, "g", homes.BundleOptions{})
	if out.Logs != 3 {
		t.Errorf("bundled: %+v", out)
	}
	dir := t.TempDir()
	if err := received(t, to, b).Import(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	theirs, ours := events(t, from, "g"), events(t, to, "g")
	if n := len(theirs); len(ours) != n+1 || !reflect.DeepEqual(ours[:n], theirs) {
		t.Errorf("%d events, %d there", len(ours), n)
	}
	for _, id := range []string{"p", "c"} {
		if st := load(t, to, id); st.Lifecycle != session.LifecycleClosed || len(st.Permissions.Grants) > 0 || st.Cwd != dir {
			t.Errorf("%s: %s in %s with %v", id, st.Lifecycle, st.Cwd, st.Permissions.Grants)
		}
	}
	if st := load(t, to, "g"); len(st.Permissions.Grants) > 0 || len(st.Env) > 0 || st.Lifecycle != session.LifecycleOpen || st.Turns != 2 {
		t.Errorf("grandchild: %+v", st.Permissions)
	}
	was, err := from.Transcript(t.Context(), load(t, from, "g"))
	if err != nil {
		t.Fatal(err)
	}
	is, err := to.Transcript(t.Context(), load(t, to, "g"))
	if err != nil || !reflect.DeepEqual(is.Messages(), was.Messages()) || len(is.Messages()) == 0 {
		t.Errorf("the conversation is another one: %v", err)
	}
	if _, _, err := from.Fork(t.Context(), "c", 0, "sibling", ""); err != nil {
		t.Fatal(err)
	}
	b, _ = packed(t, from, "sibling", homes.BundleOptions{})
	if err := received(t, to, b).Import(t.Context(), dir); err != nil {
		t.Errorf("beside its parent: %v", err)
	}
}

// With secrets replaced, none is in a bundle, sealed replies and outputs included, and it is a log that holds together.
func TestARedactedBundle(t *testing.T) {
	shaped := "sk-" + "ant-api03-aB3dE5gH7jK9mN1pQ3sT5vW7xY9z"
	script := `{"turns":[{"match":"go","steps":[{"text":"the key is ` + shaped + `","tools":[{"name":"Bash","input":{"command":"seq 100000; echo ` + shaped + `"}}]},{"text":"done"}]}]}`
	h := openScripted(t, t.TempDir(), script, nil)
	defer func() { _ = h.Close() }()
	if _, err := h.Create(t.Context(), engine.Spec{ID: "s", Agent: session.Agent{Provider: "scripted", Model: "m"}, Cwd: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Run(t.Context(), "s", homes.RunOptions{Prompt: "go", Options: engine.Options{Mode: permission.ModeBypass}}); err != nil {
		t.Fatal(err)
	}
	for _, redact := range []bool{false, true} {
		b, out := packed(t, h, "s", homes.BundleOptions{Redact: redact})
		to := openScripted(t, t.TempDir(), script, nil)
		a := received(t, to, b)
		if err := a.Import(t.Context(), t.TempDir()); err != nil {
			t.Fatal(err)
		}
		held := false
		for _, e := range events(t, to, "s") {
			held = held || bytes.Contains(e.Body, []byte(shaped))
		}
		_ = filepath.WalkDir(filepath.Join(to.Dir(), "outputs"), func(path string, d fs.DirEntry, err error) error {
			if text, err := os.ReadFile(path); err == nil {
				held = held || bytes.Contains(text, []byte(shaped))
			}
			return err
		})
		if held == redact || out.Secrets == 0 || a.Rewritten != redact {
			t.Errorf("redacted %v: held %v, %d secrets, rewritten %v", redact, held, out.Secrets, a.Rewritten)
		}
		faults, err := to.Verify(t.Context(), "s")
		for _, f := range faults {
			if !redact || !strings.Contains(f, "was decided for other arguments") { // which they are, then
				t.Errorf("redacted %v, verify: %s, %v", redact, f, err)
			}
		}
		_ = to.Close()
	}
}

// importSteps are where an import can be killed.
var importSteps = []string{"plan", "planned", "files", "imported"}

// Goal: whoever dies in an import leaves nothing of the session once the home is opened again, and the next import of the
// same bundle is whole.
func TestKilledInImport(t *testing.T) {
	if dir := os.Getenv("PERDURE_TEST_IMPORT"); dir != "" {
		h := openScripted(t, dir, travels, func(step string) {
			if step == os.Getenv("PERDURE_TEST_STEP") {
				die()
			}
		})
		b, err := os.ReadFile(os.Getenv("PERDURE_TEST_BUNDLE"))
		if err != nil {
			t.Fatal(err)
		}
		t.Fatal(received(t, h, b).Import(t.Context(), t.TempDir()))
	}
	from := traveller(t, "a-parent")
	if _, _, err := from.Fork(t.Context(), "a-parent", 0, "b-child", ""); err != nil {
		t.Fatal(err)
	}
	b, _ := packed(t, from, "b-child", homes.BundleOptions{})
	file := filepath.Join(t.TempDir(), "x.perdure")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range importSteps {
		t.Run(step, func(t *testing.T) {
			dir := t.TempDir()
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestKilledInImport$")
			child.Env = append(os.Environ(), "PERDURE_TEST_IMPORT="+dir, "PERDURE_TEST_STEP="+step, "PERDURE_TEST_BUNDLE="+file)
			var killed *exec.ExitError
			if out, err := child.CombinedOutput(); !errors.As(err, &killed) || !strings.Contains(killed.Error(), "killed") {
				t.Fatalf("not killed at %s: %v\n%s", step, err, out)
			}
			h := openScripted(t, dir, travels, nil)
			defer func() { _ = h.Close() }()
			for _, id := range []string{"a-parent", "b-child"} {
				if _, err := h.Store().Get(t.Context(), id); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("%s is there: %v", id, err)
				}
				for _, in := range []string{"acts", "outputs", "deleting"} {
					if _, err := os.Lstat(filepath.Join(dir, in, id)); !errors.Is(err, fs.ErrNotExist) {
						t.Errorf("%s/%s is left: %v", in, id, err)
					}
				}
			}
			if err := received(t, h, b).Import(t.Context(), t.TempDir()); err != nil {
				t.Fatal(err)
			}
			sameFiles(t, from, h, "a-parent")
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			h = openScripted(t, dir, travels, nil)
			if len(events(t, h, "b-child")) == 0 {
				t.Error("the next opening took it away")
			}
		})
	}
}

// Goal: whenever an import is killed, the home has the session whole or nothing of it once it is opened again.
func TestKilledAtAnyTimeInImport(t *testing.T) {
	if dir := os.Getenv("PERDURE_TEST_IMPORTS"); dir != "" {
		b := must1(os.ReadFile(os.Getenv("PERDURE_TEST_BUNDLE")))
		fmt.Println("begins")
		for {
			h := openScripted(t, dir, travels, nil)
			if err := received(t, h, b).Import(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			for range 20 {
				received(t, h, b) // so that some of the kills meet it whole
			}
			if err := errors.Join(h.Delete(t.Context(), "s"), h.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
	from := traveller(t, "s")
	b, out := packed(t, from, "s", homes.BundleOptions{})
	file := filepath.Join(t.TempDir(), "x.perdure")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	dir, there := t.TempDir(), 0
	for i := range 20 {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestKilledAtAnyTimeInImport$")
		child.Env = append(os.Environ(), "PERDURE_TEST_IMPORTS="+dir, "PERDURE_TEST_BUNDLE="+file)
		printed, err := child.StdoutPipe()
		if err == nil {
			err = child.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		_, _ = printed.Read(make([]byte, 6))
		<-time.After(time.Duration(i*13%100) * time.Millisecond) // any moment will do
		_ = child.Process.Kill()
		_ = child.Wait()
		h := openScripted(t, dir, travels, nil)
		if _, err := h.Store().Get(t.Context(), "s"); err == nil {
			there++
			if all := events(t, h, "s"); int64(len(all)) != out.Events+1 {
				t.Errorf("round %d: %d events of %d", i, len(all), out.Events+1)
			}
			sameFiles(t, from, h, "s")
		} else if _, err := os.Lstat(filepath.Join(dir, "outputs", "s")); err == nil {
			t.Errorf("round %d: outputs of a session that is not there", i)
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("it was there after %d of 20 kills", there)
}

func must1[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// An import that fails leaves nothing, no plan to delete either: neither what stands in its way nor a full disk is
// worth one.
func TestAFailedImportLeavesNothing(t *testing.T) {
	from := traveller(t, "s")
	b, _ := packed(t, from, "s", homes.BundleOptions{})
	to := openScripted(t, t.TempDir(), travels, nil)
	defer func() { _ = to.Close() }()
	outputs := filepath.Join(to.Dir(), "outputs")
	if err := os.Symlink(t.TempDir(), outputs); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "new")
	if err := received(t, to, b).Import(t.Context(), dir); !errors.Is(err, realdir.ErrLink) {
		t.Errorf("behind a link: %v", err)
	}
	left := func() {
		t.Helper()
		if _, err := to.Store().Get(t.Context(), "s"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the session: %v", err)
		}
		for _, path := range []string{dir, filepath.Join(to.Dir(), "deleting", "s"), filepath.Join(to.Dir(), "acts", "s"), filepath.Join(outputs, "s")} {
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	left()
	if err := os.Remove(outputs); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	a := received(t, to, b)
	cancel()
	if err := a.Import(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	left()
	if err := received(t, to, b).Import(t.Context(), dir); err != nil {
		t.Error(err)
	}
}
