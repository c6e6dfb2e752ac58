package homes_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/bundle"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/provider/scripted"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// changes is a script whose turn changes a file.
const changes = `{"turns":[{"match":"go","steps":[{"text":"I write.","tools":[{"name":"Bash","input":{"command":"echo new >a.txt"}}]},{"text":"done"}]}]}`

// capturingHome opens a home that captures files.
func capturingHome(t *testing.T) *homes.Home {
	t.Helper()
	h, err := homes.Open(t.Context(), t.TempDir(), homes.Config{Files: &homes.Files{}, Provider: func(string) (modelapi.Provider, error) {
		s, err := scripted.Parse([]byte(changes))
		return scripted.New(s), err
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// Goal: what git ignores arrives as well if that is asked for, directories with all in them; its number is told.
func TestWhatGitIgnoresArrivesIfThatIsWanted(t *testing.T) {
	from, dir := capturingHome(t), t.TempDir()
	for name, text := range map[string]string{".gitignore": ".env\nnotes/\n", ".env": "SECRET=1\n", "notes/sub/log": "log\n", "a.txt": "old\n", "public": "SECRET=1\n"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := from.Create(t.Context(), engine.Spec{ID: "s", Agent: session.Agent{Provider: "scripted", Model: "m"}, Cwd: dir}); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Run(t.Context(), "s", homes.RunOptions{Prompt: "go", Options: engine.Options{Mode: permission.ModeBypass}}); err != nil {
		t.Fatal(err)
	}
	for _, ignored := range []bool{false, true} {
		b, out := packed(t, from, "s", homes.BundleOptions{Ignored: ignored})
		if out.Ignored != ignored || (out.Private > 0) != ignored {
			t.Errorf("%v: %+v", ignored, out)
		}
		to := capturingHome(t)
		a, there := received(t, to, b), filepath.Join(t.TempDir(), "there")
		if err := a.Import(t.Context(), there); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := a.Files(t.Context(), there); err != nil || !ok {
			t.Fatalf("%v: %v, %v", ignored, ok, err)
		}
		for name, want := range map[string]string{".env": "SECRET=1\n", "notes/sub/log": "log\n"} {
			text, err := os.ReadFile(filepath.Join(there, name))
			if ignored && (err != nil || string(text) != want) || !ignored && err == nil {
				t.Errorf("%v: %s is %q, %v", ignored, name, text, err)
			}
		}
		if text, err := os.ReadFile(filepath.Join(there, "a.txt")); err != nil || string(text) != "new\n" {
			t.Errorf("%v: a.txt is %q, %v", ignored, text, err)
		}
	}
}

// Goal: a session arrives with its files as they were captured last, in a directory that was missing or empty, without what
// git ignores, whose content is not in the bundle at all. A directory with files in it is left as it is.
func TestFilesArriveWithTheirSession(t *testing.T) {
	from, dir := capturingHome(t), t.TempDir()
	for name, text := range map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".gitignore": ".env\n", ".env": "SECRET=1\n", "sub/b.txt": "b\n", "a.txt": "old\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a.txt", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Create(t.Context(), engine.Spec{ID: "s", Agent: session.Agent{Provider: "scripted", Model: "m"}, Cwd: dir}); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Run(t.Context(), "s", homes.RunOptions{Prompt: "go", Options: engine.Options{Mode: permission.ModeBypass}}); err != nil {
		t.Fatal(err)
	}
	b, out := packed(t, from, "s", homes.BundleOptions{})
	if out.Trees == 0 || out.Blobs == 0 {
		t.Fatalf("no files are in it: %+v", out.Counts)
	}
	_, err := bundle.Read(bytes.NewReader(b), bundle.Limits{}, bundle.Sink{Blob: func(blob bundle.Blob, content io.Reader) error {
		text, err := io.ReadAll(content)
		if strings.Contains(string(text), "SECRET") || blob.Digest == store.Sum([]byte("SECRET=1\n")) {
			t.Error("what git ignores is in the bundle")
		}
		return err
	}})
	if err != nil {
		t.Fatal(err)
	}
	to := capturingHome(t)
	a, there := received(t, to, b), filepath.Join(t.TempDir(), "there")
	if err := a.Import(t.Context(), there); err != nil {
		t.Fatal(err)
	}
	if made, ok, err := a.Files(t.Context(), there); err != nil || !ok || made.Files != 3 {
		t.Errorf("made %+v, %v, %v", made, ok, err)
	}
	for name, want := range map[string]string{"a.txt": "new\n", "sub/b.txt": "b\n", "link": "new\n", ".gitignore": ".env\n"} {
		if text, err := os.ReadFile(filepath.Join(there, name)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	for _, name := range []string{".env", ".git"} {
		if _, err := os.Lstat(filepath.Join(there, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	undoneThere(t, to, there)
	if err := os.WriteFile(filepath.Join(there, "a.txt"), []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := received(t, to, b).Files(t.Context(), there); ok || err != nil {
		t.Errorf("over files that are there: %v, %v", ok, err)
	}
	if text, err := os.ReadFile(filepath.Join(there, "a.txt")); err != nil || string(text) != "mine\n" {
		t.Errorf("what is there was changed: %q, %v", text, err)
	}
	if faults, err := to.Verify(t.Context(), "s"); err != nil || len(faults) > 0 {
		t.Errorf("verify: %q, %v", faults, err)
	}
}

// undoneThere takes the turn back that was before the import: its files are those that were written, and what stayed at
// home is not missed.
func undoneThere(t *testing.T, to *homes.Home, there string) {
	t.Helper()
	point, err := to.UndoPoint(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := to.PlanRestore(t.Context(), "s", point, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	var changes []string
	for _, c := range plan.Changes {
		changes = append(changes, c.Path)
	}
	if !slices.Equal(changes, []string{"a.txt"}) {
		t.Errorf("undo would change %q in %s", changes, there)
	}
}

// A bundle whose tree names few objects very often is stopped at the limit, with nothing written.
func TestATreeThatUnfoldsIsStopped(t *testing.T) {
	from := capturingHome(t)
	object := func(name string, kind tree.Kind, d store.Digest, n int) []byte {
		var entries []tree.Entry
		for i := range n {
			e := tree.Entry{Name: fmt.Sprintf("%s%04d", name, i), Kind: kind, Mode: 0o755, Digest: d}
			if kind == tree.File {
				e.Size, e.MTime = 4, 1
			}
			entries = append(entries, e)
		}
		return must1(tree.Encode(entries))
	}
	blob := []byte(strings.Repeat("many bytes in a file that says that it has four", 1000))
	top := object("f", tree.File, store.Sum(blob), 1000)
	trees := [][]byte{top}
	for range 1 {
		top = object("d", tree.Dir, store.Sum(top), 1000)
		trees = append(trees, top)
	}
	chain := session.Chain{Session: "s"}
	var log []store.Event
	l := bundle.Log{Session: "s"}
	for _, b := range []session.Body{
		&session.Opened{ID: "s", Cwd: "/w", Config: session.Config{Root: "/w"}},
		&session.FilesCaptured{Why: session.CaptureNamed, Dir: "/w", Tree: store.Sum(top), Rung: session.RungWalk},
	} {
		e := must1(chain.Event(store.Actor{Type: store.ActorUser}, 1, b))
		log, l.Bytes = append(log, e), l.Bytes+int64(len(e.Body))
	}
	l.Head = chain.Head
	h := bundle.Header{Session: "s", Head: l.Head, Counts: bundle.Counts{Logs: 1, Events: 2, EventBytes: l.Bytes, Trees: int64(len(trees)), Blobs: 1, BlobBytes: int64(len(blob))}}
	for _, object := range trees {
		h.TreeBytes += int64(len(object))
	}
	var b bytes.Buffer
	w := must1(bundle.NewWriter(&b, h))
	err := w.Log(l, func(yield func(store.Event, error) bool) { _ = yield(log[0], nil) && yield(log[1], nil) })
	for _, object := range trees {
		err = errors.Join(err, w.Tree(store.Sum(object), object))
	}
	err = errors.Join(err, w.Blob(bundle.Blob{Digest: store.Sum(blob), Size: int64(len(blob))}, bytes.NewReader(blob)), w.Close())
	if err != nil {
		t.Fatal(err)
	}
	there := filepath.Join(t.TempDir(), "there")
	a, err := from.Receive(t.Context(), bytes.NewReader(b.Bytes()), bundle.Limits{Bytes: 10 << 20})
	if err == nil {
		err = a.Import(t.Context(), there)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.Files(t.Context(), there); !errors.Is(err, bundle.ErrTooLarge) {
		t.Errorf("it is written: %v", err)
	}
	if all, err := os.ReadDir(there); len(all) > 0 {
		t.Errorf("left: %v, %v", all, err)
	}
}
