package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// kept is what a test's Keep was given; open is how much of it was not released.
type keeping struct {
	bytes  map[store.Digest]string
	open   int
	err    error
	during func()
}

func (k *keeping) keep(_ context.Context, open func() (io.ReadCloser, error)) (d store.Digest, n int64, release func(), err error) {
	if k.err != nil {
		return d, 0, nil, k.err
	}
	r, err := open()
	if err != nil {
		return d, 0, nil, err
	}
	b, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return d, 0, nil, err
	}
	if k.during != nil {
		k.during()
	}
	if k.bytes == nil {
		k.bytes = map[store.Digest]string{}
	}
	d = store.Sum(b)
	k.bytes[d], k.open = string(b), k.open+1
	return d, int64(len(b)), func() { k.open-- }, nil
}

func runArtifact(t *testing.T, k *keeping, dir string, in map[string]any) (Result, *session.ArtifactAdded) {
	t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	c := Call{Act: "t1.s1.b1.a1", Name: "Artifact", Input: raw}
	env := Env{Cwd: dir, State: &session.State{}, Files: OSFiles{}}
	if k != nil {
		env.Keep = k.keep
	}
	r, err := artifact{}.Run(t.Context(), c, env)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Events) == 0 {
		return r, nil
	}
	return r, r.Events[0].(*session.ArtifactAdded)
}

// A file and a text are kept whole, under a name, with the call and what they are; the bytes are held until the engine
// lets go.
func TestArtifactKeepsFilesAndTexts(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "report.bin"), []byte("a\x00b"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in          map[string]any
		name, bytes string
	}{
		{map[string]any{"file_path": "report.bin", "description": "the report"}, "report.bin", "a\x00b"},
		{map[string]any{"file_path": filepath.Join(dir, "report.bin"), "name": "other"}, "other", "a\x00b"},
		{map[string]any{"text": "words\n", "name": "words.md"}, "words.md", "words\n"},
		{map[string]any{"text": "", "name": "empty"}, "empty", ""},
	} {
		k := &keeping{}
		r, a := runArtifact(t, k, dir, c.in)
		if r.IsError || a == nil || a.Artifact.Name != c.name || a.Artifact.Size != int64(len(c.bytes)) || a.Artifact.Act != "t1.s1.b1.a1" || k.bytes[a.Artifact.Digest] != c.bytes {
			t.Errorf("%v: %+v %+v", c.in, r, a)
			continue
		}
		if k.open != 1 || r.Release == nil {
			t.Fatalf("%v: the bytes are not held", c.in)
		}
		if r.Release(); k.open != 0 {
			t.Errorf("%v: not released", c.in)
		}
	}
}

// A name that a person has given is not the model's to take, its own it takes anew; and it cannot fill the list, so that
// what a person has kept leaves it.
func TestArtifactLeavesThePersonsAlone(t *testing.T) {
	st := &session.State{}
	for i := range 511 {
		st.Workspace.Artifacts = append(st.Workspace.Artifacts, session.Artifact{Name: fmt.Sprint("mine", i), Act: "t1.s1.b1.a1"})
	}
	st.Workspace.Artifacts = append(st.Workspace.Artifacts, session.Artifact{Name: "theirs"})
	for name, words := range map[string]string{"theirs": "the user has kept something under this name", "mine7": "", "new": "512 artifacts are kept"} {
		k := &keeping{}
		raw, err := json.Marshal(map[string]any{"text": "x", "name": name})
		if err != nil {
			t.Fatal(err)
		}
		r, err := artifact{}.Run(t.Context(), Call{Act: "t1.s1.b1.a2", Name: "Artifact", Input: raw}, Env{State: st, Keep: k.keep})
		if err != nil || r.IsError != (words != "") || !strings.Contains(string(r.Content[0].Data), words) || r.IsError && k.open > 0 {
			t.Errorf("%s: %q, %v", name, r.Content[0].Data, err)
		}
	}
}

// What cannot be kept is told to the model, with nothing kept and nothing held.
func TestArtifactRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in    map[string]any
		keep  *keeping
		words string
	}{
		{map[string]any{}, &keeping{}, "give one of"},
		{map[string]any{"file_path": "f", "text": "x"}, &keeping{}, "give one of"},
		{map[string]any{"text": "x"}, &keeping{}, "needs a \"name\""},
		{map[string]any{"file_path": "f", "name": "a\nb"}, &keeping{}, "can be printed"},
		{map[string]any{"text": "x", "name": strings.Repeat("n", 256)}, &keeping{}, "1 to 255 bytes"},
		{map[string]any{"file_path": "gone"}, &keeping{}, "no file at"},
		{map[string]any{"file_path": "."}, &keeping{}, "is a directory"},
		{map[string]any{"file_path": "f"}, nil, "Nothing is kept here"},
		{map[string]any{"file_path": "f"}, &keeping{err: errors.New("no room")}, "was not kept: no room"},
		{map[string]any{"file_path": "f"}, &keeping{during: func() {
			_ = os.WriteFile(filepath.Join(dir, "f"), []byte("longer"), 0o600)
		}}, "changed while it was read"},
	} {
		r, a := runArtifact(t, c.keep, dir, c.in)
		text := string(r.Content[0].Data)
		if !r.IsError || a != nil || !strings.Contains(text, c.words) || r.Release != nil {
			t.Errorf("%v: %q", c.in, text)
		}
		if c.keep != nil && c.keep.open != 0 {
			t.Errorf("%v: bytes are held", c.in)
		}
	}
}

// Only where files are kept is a new session told of it.
func TestArtifactIsOfferedWhereFilesAreKept(t *testing.T) {
	all := append(Builtin(), MemoryTool(), ArtifactTool())
	for _, keeps := range []bool{true, false} {
		if got := Find(Offered(all, true, keeps), "Artifact") != nil; got != keeps {
			t.Errorf("files are kept: %v, offered: %v", keeps, got)
		}
	}
	if err := Check(all); err != nil {
		t.Error(err)
	}
}
