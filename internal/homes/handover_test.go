package homes_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// Goal: what a session is handed over with is in its log before anybody runs it: whoever resumes it without a word has the
// same rules, limits and directories, and runs the prompt once. The mode that lasts as long as a process is not among it.
func TestHandOver(t *testing.T) {
	dir := t.TempDir()
	h, err := homes.Open(t.Context(), filepath.Join(dir, "home"), homes.Config{
		Environ: []string{"HOME=" + dir}, Provider: func(string) (modelapi.Provider, error) { return puppet{}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	id, err := h.Create(t.Context(), homes.Spec{ID: "one", Cwd: dir, Agent: session.Agent{Provider: "mine", Model: "m", MaxTokens: 100}})
	if err != nil {
		t.Fatal(err)
	}
	steps := 7
	opt := homes.RunOptions{Prompt: "hello", Options: engine.Options{
		Mode: "plan", Rules: []session.Rule{{Effect: "deny", Text: "Read(.env)", Source: "flag"}}, SetRules: true, MaxSteps: &steps,
	}}
	if err := h.HandOver(t.Context(), id, opt); err != nil {
		t.Fatal(err)
	}
	st, err := h.State(t.Context(), id)
	if err != nil || st.Turn != nil || len(st.Queue) != 1 || st.Config.MaxSteps != 7 || st.Config.Mode != "plan" || len(st.Permissions.Rules) != 1 {
		t.Fatalf("%v %+v %+v", err, st.Config, st.Queue)
	}
	if info, err := h.Store().Get(t.Context(), id); err != nil || info.Holder != nil {
		t.Errorf("it is held by %+v: %v", info.Holder, err)
	}
	r, err := h.Run(t.Context(), id, homes.RunOptions{})
	if err != nil || r.Result != "hello" || r.NumTurns != 1 {
		t.Errorf("%+v %v", r, err)
	}
	if err := h.HandOver(t.Context(), id, homes.RunOptions{Prompt: " "}); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("a prompt without words: %v", err)
	}
	if err := h.HandOver(t.Context(), "gone", opt); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no such session: %v", err)
	}
	// A turn that has failed is given up for a prompt, and goes on without one.
	if r, err = h.Run(t.Context(), id, homes.RunOptions{Prompt: "refuse"}); err != nil || !r.TurnOpen {
		t.Fatalf("%+v %v", r, err)
	}
	if err := h.HandOver(t.Context(), id, homes.RunOptions{Prompt: "again"}); err != nil {
		t.Fatal(err)
	}
	if st, err = h.State(t.Context(), id); err != nil || st.Turn != nil || len(st.Queue) != 1 {
		t.Errorf("the failed turn is still there: %+v %v", st.Turn, err)
	}
	bypass := homes.RunOptions{Options: engine.Options{Mode: "bypassPermissions"}}
	if err := h.HandOver(t.Context(), id, bypass); err != nil {
		t.Fatal(err)
	}
	if r, err = h.Run(t.Context(), id, homes.RunOptions{Prompt: "write x"}); err != nil || len(r.Waiting) != 1 {
		t.Errorf("it does not ask: %+v %v", r, err)
	}
}
