package tooltest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/tool"
)

const (
	patience  = 30 * time.Second
	maxChange = 32 << 20 // bytes that a Changer may make of a file
	maxSaid   = 10 << 20 // bytes of a result, which are more than any model reads
)

// outcome is what a tool made of a call.
type outcome struct {
	refused bool
	parts   []model.Part
	wish    any // what a Changer, Commander or Asker wants
	err     error
}

func (o outcome) failed() bool { return o.refused || o.err != nil }

// words is what the model is told.
func (o outcome) words() string {
	if o.err != nil {
		return o.err.Error()
	}
	return model.Text(o.parts)
}

// place makes a working directory.
func place(t *testing.T, files map[string]string) tool.Env {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return tool.Env{
		Session: "s", Cwd: dir, Home: dir,
		Hide:   func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("hunter2"), []byte("[secret:PASSWORD]")) },
		Hidden: func(string) bool { return false },
	}
}

// do makes a call as an agent does, but that nothing is changed, run or asked. A panic fails the test.
func do(t *testing.T, tl tool.Tool, env tool.Env, input string) (o outcome) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := tool.Call{Act: "t1.s1.b0", Name: tl.Spec().Name, Input: []byte(input)}
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("it panics with the input %.200q: %v", input, r)
			o = outcome{err: fmt.Errorf("panic: %v", r)}
		}
		if string(c.Input) != input {
			t.Errorf("it changes the bytes of the input %.200q", input)
		}
	}()
	var old []byte
	if p, ok := tl.(tool.Paths); ok {
		if path := p.Path(c); path != "" {
			if env.Target = path; !filepath.IsAbs(path) {
				env.Target = filepath.Join(env.Cwd, path)
			}
			old, _ = os.ReadFile(env.Target) // none: there is no such file
		}
	}
	var refusal *tool.Result
	switch tl := tl.(type) {
	case tool.Changer:
		var ch *tool.Change
		if ch, refusal, o.err = tl.Change(ctx, c, env, old); ch != nil {
			o.wish = *ch
		}
	case tool.Commander:
		var cmd *tool.Command
		if cmd, refusal = tl.Command(c); cmd != nil {
			o.wish = *cmd
		}
	case tool.Asker:
		var q *tool.Question
		if q, refusal = tl.Question(c); q != nil {
			o.wish = *q
		}
	case tool.Runner:
		var r tool.Result
		r, o.err = tl.Run(ctx, c, env)
		o.refused, o.parts = r.IsError, r.Content
		return o
	}
	if refusal != nil {
		o.refused, o.parts = refusal.IsError, refusal.Content
	}
	if o.err == nil && (refusal == nil) == (o.wish == nil) {
		t.Errorf("input %.200q: it has to give either what it wants or a refusal: %+v, %+v", input, o.wish, refusal)
	}
	if refusal != nil && !refusal.IsError {
		t.Errorf("input %.200q: its refusal is no error result", input)
	}
	return o
}

// runCase: the call ends as it should, changes nothing itself unless it is a Runner with an effect, and is told in text.
func runCase(t *testing.T, tl tool.Tool, c Case) {
	env := place(t, c.Files)
	before := content(t, env.Cwd)
	first := do(t, tl, env, c.Input)
	if first.failed() != c.Refused {
		t.Fatalf("refused %t: %q", first.failed(), first.words())
	}
	says(t, first)
	wants(t, first)
	if _, runs := tl.(tool.Runner); runs && !tl.Spec().ReadOnly {
		return
	}
	if after := content(t, env.Cwd); after != before {
		t.Errorf("the call itself changed the working directory from\n%s\nto\n%s", before, after)
	}
	second := do(t, tl, env, c.Input)
	if same := fmt.Sprint(first.wish, first.parts, first.refused) == fmt.Sprint(second.wish, second.parts, second.refused); !same && !c.Changing {
		t.Errorf("it comes to something else the second time:\n%+v\n%+v", first, second)
	}
}

// says: what the model is told is text or media with a type, not too much of it, and no secret.
func says(t *testing.T, o outcome) {
	t.Helper()
	size := 0
	for _, p := range o.parts {
		size += len(p.Data)
		switch {
		case p.Type == model.BlockText && !utf8.Valid(p.Data):
			t.Errorf("a part of its text is not UTF-8: %.100q", p.Data)
		case p.Type == "" || p.Type != model.BlockText && p.Media == "":
			t.Errorf("a part has the type %q and the media type %q", p.Type, p.Media)
		}
	}
	if size > maxSaid {
		t.Errorf("it says %d bytes, which are more than any model reads: shorten it, and give all of it as Full", size)
	}
	if o.failed() && strings.TrimSpace(o.words()) == "" {
		t.Error("it refuses without a word")
	}
}

// wants: a change has a bound, a command has text, a question has words.
func wants(t *testing.T, o outcome) {
	t.Helper()
	switch w := o.wish.(type) {
	case tool.Change:
		if len(w.Content) > maxChange {
			t.Errorf("it makes a file of %d bytes, at most %d are written", len(w.Content), maxChange)
		}
	case tool.Command:
		if strings.TrimSpace(w.Script) == "" {
			t.Error("its command is empty")
		}
	case tool.Question:
		if strings.TrimSpace(w.Question) == "" {
			t.Error("its question is empty")
		}
	}
}

// content is all that a directory holds.
func content(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		fmt.Fprintf(&out, "%s %q\n", path, b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// refuses: input that is no object, or not as the schema says, gives an error in words and no wish.
func refuses(t *testing.T, tl tool.Tool) {
	env := place(t, nil)
	for _, input := range append(wrong(tl.Spec().Schema), "", "nonsense", "{", "[]", "null", `"text"`, "7", "\xff\xfe", strings.Repeat("[", 20_000)) {
		o := do(t, tl, env, input)
		says(t, o)
		if !o.failed() {
			t.Errorf("it takes the input %.200q", input)
		}
	}
}

// wrong are inputs that break a schema: each property of another type, and each that is required left out.
func wrong(schema string) (out []string) {
	var s struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if json.Unmarshal([]byte(schema), &s) != nil {
		return nil
	}
	if len(s.Required) > 0 {
		out = append(out, "{}")
	}
	bad := map[string]any{"string": []int{1}, "integer": "many", "number": "many", "boolean": "perhaps", "array": "one", "object": "one"}
	right := map[string]any{"string": "x", "integer": 1, "number": 1, "boolean": true, "array": []int{}, "object": map[string]int{}}
	for broken := range s.Properties {
		in := map[string]any{}
		for name, p := range s.Properties {
			kind, _ := p.Type.(string)
			if v, ok := right[kind]; ok {
				in[name] = v
			}
		}
		kind, _ := s.Properties[broken].Type.(string)
		if v, ok := bad[kind]; ok {
			in[broken] = v
			text, err := json.Marshal(in)
			if err == nil {
				out = append(out, string(text))
			}
		}
	}
	return out
}

// atOnce: calls of one tool run beside each other.
func atOnce(t *testing.T, tl tool.Tool, c Case) {
	env := place(t, c.Files)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if o := do(t, tl, env, c.Input); o.failed() {
				t.Errorf("refused: %q", o.words())
			}
		})
	}
	all.Wait()
}
