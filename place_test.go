package perdure_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// Goal: a program that names no directory has the home of the perdure command, never the directory that it runs in.
func TestOpenNamesNoDirectory(t *testing.T) {
	dir, work := t.TempDir(), t.TempDir()
	t.Chdir(work)
	for _, environ := range [][]string{
		{"PERDURE_HOME=" + filepath.Join(dir, "a", "perdure")},
		{"XDG_DATA_HOME=" + filepath.Join(dir, "b"), "HOME=/"},
		{"HOME=" + filepath.Join(dir, "c")},
	} {
		h, err := perdure.Open(t.Context(), "", perdure.Config{Environ: environ})
		if err != nil {
			t.Fatal(err)
		}
		_, made := h.Create(t.Context(), perdure.Spec{ID: "s"})
		if err := errors.Join(made, h.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for _, place := range []string{"a/perdure", "b/perdure", "c/.local/share/perdure"} {
		h, err := perdure.Open(t.Context(), filepath.Join(dir, filepath.FromSlash(place)), perdure.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.View(t.Context(), "s", false); err != nil {
			t.Errorf("%s: %v", place, err)
		}
		_ = h.Close()
	}
	if left, err := filepath.Glob(filepath.Join(work, "*")); err != nil || len(left) > 0 {
		t.Errorf("left where it ran: %v, %v", left, err)
	}
	for dir, environ := range map[string][]string{"": {}, "~/sessions": {"HOME=" + dir}} {
		if _, err := perdure.Open(t.Context(), dir, perdure.Config{Environ: environ}); !errors.Is(err, perdure.ErrInvalid) {
			t.Errorf("open %q: %v", dir, err)
		}
	}
}

// Goal: what a program forgot is said in words that name the remedy.
func TestErrorsNameTheRemedy(t *testing.T) {
	h := openHome(t, perdure.Config{})
	ctx := t.Context()
	id, err := h.Create(ctx, perdure.Spec{Cwd: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	_, run := h.Run(ctx, id, perdure.RunOptions{Prompt: "hi"})
	_, actor := h.Append(ctx, id, perdure.AppendOptions{}, store.Actor{}, perdure.AppEvent("a", nil))
	_, zero := h.Append(ctx, id, perdure.AppendOptions{}, perdure.User, perdure.Entry{})
	_, kind := h.Append(ctx, id, perdure.AppendOptions{}, perdure.User, perdure.FactEvent("opinion", "x", "user"))
	_, from := h.Append(ctx, id, perdure.AppendOptions{}, perdure.User, perdure.FactEvent("fact", "x", "me"))
	_, empty := h.Append(ctx, id, perdure.AppendOptions{}, perdure.User, perdure.FactEvent("fact", " ", "user"))
	before, err := h.View(ctx, id, false)
	if err != nil {
		t.Fatal(err)
	}
	sentKind := h.Deliver(ctx, id, "", perdure.FactEvent("opinion", "x", "user"))
	sentFrom := h.Deliver(ctx, id, "", perdure.FactEvent("fact", "x", "me"))
	sentEmpty := h.Deliver(ctx, id, "", perdure.FactEvent("fact", " ", "user"))
	sentNowhere := h.Deliver(ctx, id, "", perdure.AppEvent("", nil))
	if now, err := h.View(ctx, id, false); err != nil || now.Head != before.Head {
		t.Errorf("what is refused at once is in the log: it ends at %v, was %v, %v", now.Head, before.Head, err)
	}
	for _, tt := range []struct {
		err   error
		is    error
		words string
	}{
		{sentKind, perdure.ErrRefused, "failed_approach"},
		{sentFrom, perdure.ErrRefused, "user, tool, model and import"},
		{sentEmpty, perdure.ErrRefused, "without words"},
		{sentNowhere, perdure.ErrRefused, "namespace"},
		{sentKind, perdure.ErrUnfit, "opinion"},
		{run, perdure.ErrInvalid, "Home.Agent"},
		{actor, perdure.ErrUnfit, "user, model, tool, engine or import"},
		{zero, perdure.ErrUnfit, "AppEvent"},
		{kind, perdure.ErrUnfit, "failed_approach"},
		{from, perdure.ErrUnfit, "user, tool, model and import"},
		{empty, perdure.ErrUnfit, "without words"},
	} {
		if !errors.Is(tt.err, tt.is) || !strings.Contains(tt.err.Error(), tt.words) {
			t.Errorf("%v: want %q", tt.err, tt.words)
		}
	}
}

// Goal: a reply that no model API would take back is refused whole, and says which block it is; words are never lost in
// silence.
func TestRecorderRefusesWhatNoModelTakes(t *testing.T) {
	h := openHome(t, perdure.Config{})
	ctx := t.Context()
	r, err := h.Record(ctx, "mine")
	if err != nil {
		t.Fatal(err)
	}
	head, err := r.User(ctx, "hello")
	if err != nil {
		t.Fatal(err)
	}
	call := func(id, name string) model.Block {
		return model.Block{Type: model.BlockToolUse, Tool: &model.ToolUse{ID: id, Name: name}}
	}
	for what, blocks := range map[string][]model.Block{
		"no type":             {{Text: "lost?"}},
		"a type without Raw":  {{Type: model.BlockOther, Text: "lost?"}},
		"a result":            {{Type: model.BlockToolResult, Result: &model.ToolResult{ID: "a"}}},
		"a call without Tool": {{Type: model.BlockToolUse}},
		"a call without ID":   {call("", "look")},
		"a call without Name": {call("a", "")},
		"two with one id":     {call("a", "look"), call("a", "look")},
	} {
		if _, err := r.Assistant(ctx, "mine", &modelapi.Response{Blocks: blocks}); !errors.Is(err, perdure.ErrUnfit) || !strings.Contains(err.Error(), "block") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := r.Assistant(ctx, "mine", nil); !errors.Is(err, perdure.ErrUnfit) {
		t.Errorf("no reply: %v", err)
	}
	now, err := r.Assistant(ctx, "mine", &modelapi.Response{Blocks: []model.Block{
		{Type: model.BlockText, Text: "I look."}, call("a", "look"), {Type: "server_search", Raw: []byte(`{"x":1}`)},
	}})
	if err != nil || now.Seq != head.Seq+2 {
		t.Errorf("a good one: %+v after %+v, %v", now, head, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	_, said := r.User(ctx, "after the end")
	_, replied := r.Assistant(ctx, "mine", nil)
	_, done := r.ToolResult(ctx, "zz", false, "x")
	for _, err := range []error{said, replied, done} {
		if !errors.Is(err, perdure.ErrReleased) {
			t.Errorf("after Close: %v", err)
		}
	}
}
