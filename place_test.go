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
	"github.com/perdure/perdure/store/memory"
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

// Goal: who gives no id is told so, whatever is asked of the session: an id that got lost on its way is a program's slip,
// and no session that is gone.
func TestAnEmptyIDIsSaidToBeEmpty(t *testing.T) {
	for name, open := range map[string]func(*testing.T) *perdure.Home{
		"on disk":   func(t *testing.T) *perdure.Home { return openHome(t, perdure.Config{}) },
		"in memory": func(t *testing.T) *perdure.Home { return openHome(t, perdure.Config{Store: memory.New()}) },
	} {
		h, ctx := open(t), t.Context()
		for what, do := range map[string]func() error{
			"view":     func() error { _, err := h.View(ctx, "", true); return err },
			"messages": func() error { _, err := h.Messages(ctx, ""); return err },
			"context":  func() error { _, err := h.Context(ctx, ""); return err },
			"verify":   func() error { _, err := h.Verify(ctx, ""); return err },
			"fork":     func() error { _, _, err := h.Fork(ctx, "", 0, "", ""); return err },
			"run":      func() error { _, err := h.Run(ctx, "", perdure.RunOptions{Prompt: "hi"}); return err },
			"hold":     func() error { _, err := h.Hold(ctx, "", perdure.HoldOptions{}); return err },
			"send":     func() error { return h.Send(ctx, "", "", "hi") },
			"cancel":   func() error { return h.Cancel(ctx, "") },
			"deliver":  func() error { return h.Deliver(ctx, "", "", perdure.AppEvent("n", nil)) },
			"takeover": func() error { return h.Takeover(ctx, "") },
			"delete":   func() error { return h.Delete(ctx, "") },
			"append": func() error {
				_, err := h.Append(ctx, "", perdure.AppendOptions{}, perdure.User, perdure.AppEvent("n", nil))
				return err
			},
			"events": func() error {
				for _, err := range h.Events(ctx, "", perdure.Range{}) {
					return err
				}
				return nil
			},
			"follow": func() error {
				for _, err := range h.Follow(ctx, "", 0) {
					return err
				}
				return nil
			},
		} {
			if err := do(); !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), "the id is empty") {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		if err := h.Send(ctx, "gone", "", "hi"); !errors.Is(err, store.ErrNotFound) || strings.Contains(err.Error(), "empty") {
			t.Errorf("%s, of one that is gone: %v", name, err)
		}
	}
}
