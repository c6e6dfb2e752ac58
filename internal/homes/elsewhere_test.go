package homes_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// onlyCommands is a model that has a command run, and ends when it hears what came of it.
type onlyCommands struct{ asker }

func (onlyCommands) Call(_ context.Context, r modelapi.Request, _ func(modelapi.Delta)) (*modelapi.Response, error) {
	if len(r.Messages) > 1 {
		return &modelapi.Response{Stop: modelapi.StopEndTurn, Blocks: []model.Block{{Type: model.BlockText, Text: "a pity"}}}, nil
	}
	return &modelapi.Response{Stop: modelapi.StopToolUse, Blocks: []model.Block{{
		Type: model.BlockToolUse, Tool: &model.ToolUse{ID: "u", Name: "Bash", Input: []byte(`{"command":"true"}`)},
	}}}, nil
}

// Where a system has no commands, a person who asks for one and a model that does are told the thing and the system,
// nothing of it is in the log, and the session goes on.
func TestWhereThereAreNoCommandsTheyAreRefusedByName(t *testing.T) {
	const words = "commands need Linux or macOS; this is plan9"
	h, err := homes.Open(t.Context(), t.TempDir(), homes.OnSystem(homes.Config{
		Provider: func(string) (modelapi.Provider, error) { return onlyCommands{}, nil },
	}, errors.New(words)))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	id, err := h.Create(t.Context(), engine.Spec{Cwd: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	head := headSeq(t, h, id)
	if _, err := h.Tasks().Start(t.Context(), id, homes.TaskSpec{Argv: []string{"true"}, Command: "true", Cwd: t.TempDir()}, nil); err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("a task of a person: %v", err)
	}
	if now := headSeq(t, h, id); now != head {
		t.Errorf("the log went from %d to %d by it", head, now)
	}
	if _, err := h.Run(t.Context(), id, homes.RunOptions{Prompt: "do it"}); err != nil {
		t.Fatal(err)
	}
	var told []string
	for e, err := range h.Store().Read(t.Context(), id, 1, 1<<40) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == session.KindToolFinished {
			told = append(told, string(e.Body))
		}
	}
	if len(told) != 1 || !strings.Contains(told[0], "C"+words[1:]+".") {
		t.Errorf("the model is told %q", told)
	}
}

// Where a system has no way to capture files, a home that is to keep them is not opened, and says so.
func TestWhereFilesAreNotCapturedAHomeThatKeepsThemIsRefused(t *testing.T) {
	refusal := errors.New("checkpoints, undo and restores of files need Linux or macOS; this is plan9")
	h, err := homes.Open(t.Context(), t.TempDir(), homes.OnSystem(homes.Config{Files: &homes.Files{}}, refusal))
	if !errors.Is(err, refusal) {
		t.Fatalf("opened: %v", err)
	}
	if h != nil {
		t.Error("there is a home beside the error")
	}
}

func headSeq(t *testing.T, h *homes.Home, id string) int64 {
	t.Helper()
	st, err := h.State(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return st.Head.Seq
}
