package homes_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/search"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// talks makes a session with some bodies.
func talks(t *testing.T, h *homes.Home, id string, bodies ...session.Body) {
	t.Helper()
	if _, err := h.Store().Get(t.Context(), id); errors.Is(err, store.ErrNotFound) {
		if _, err := h.Create(t.Context(), engine.Spec{ID: id, Agent: session.Agent{Provider: "none", Model: "none"}, Cwd: t.TempDir()}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := h.Record(t.Context(), id)
	if err == nil {
		_, err = s.Append(t.Context(), store.Actor{Type: store.ActorUser}, bodies...)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func message(text string) session.Body {
	return &session.MessageReceived{Content: []model.Part{model.TextPart(text)}}
}

// replies begins the first turn of a session with a reply.
func replies(t *testing.T, h *homes.Home, id string, stop modelapi.StopReason, blocks ...session.SealedBlock) {
	t.Helper()
	st, err := h.State(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	cost := int64(0)
	talks(t, h, id,
		&session.TurnStarted{N: 1, Message: st.Head.Seq - 1},
		&session.ModelRequested{Act: "t1.s1.b0.a1", Turn: 1, Step: 1, Attempt: 1, Epoch: st.Epoch + 1, Model: "none/none", Through: st.Head.Seq, MaxTokens: 10},
		&session.ModelResponded{Act: "t1.s1.b0.a1", Model: "none/none", Provider: "none", Stop: stop, Cost: &cost, Blocks: blocks})
}

// seqs are the places of what a search finds, as session/turn/place.
func seqs(t *testing.T, h *homes.Home, query string) string {
	t.Helper()
	found, err := h.Search(t.Context(), homes.SearchOptions{Query: query})
	if err != nil || found.Why != nil {
		t.Fatal(found.Why, err)
	}
	var out []string
	for _, hit := range found.Hits {
		out = append(out, fmt.Sprintf("%s/%d/%s", hit.Name, hit.Turn, hit.Place))
	}
	return strings.Join(out, " ")
}

// Goal: a hit names the turn that its text belongs to, also where the index goes on in the middle of one; a long text is
// found by its beginning and its end; what JSON escapes is searched as what it stands for.
func TestSearchedTexts(t *testing.T) {
	h := openScripted(t, t.TempDir(), "{}", nil)
	defer func() { _ = h.Close() }()
	talks(t, h, "s", message("firstword"))
	talks(t, h, "t", message("hello"))
	if got := seqs(t, h, "firstword"); got != "s/1/message" {
		t.Error(got)
	}
	replies(t, h, "s", modelapi.StopEndTurn, session.SealedBlock{Type: model.BlockText, Text: true, Raw: []byte(`{}`), Shown: []byte("secondword")})
	replies(t, h, "t", modelapi.StopToolUse, session.SealedBlock{
		Type: model.BlockToolUse, ID: "x", Name: "Bash", Raw: []byte(`{}`), Input: []byte(`{"command":"one\nthirdword \u00e9t\u00e9"}`),
	})
	if got := seqs(t, h, "secondword"); got != "s/1/reply" {
		t.Error(got)
	}
	if got := seqs(t, h, `"one thirdword ete"`); got != "t/1/reply" {
		t.Error(got)
	}
	talks(t, h, "s", &session.TurnEnded{N: 1, Stop: string(modelapi.StopEndTurn)}, message("beginword "+strings.Repeat("é", 100_000)+" middleword "+strings.Repeat("é", 100_000)+" endword"))
	for word, want := range map[string]string{"beginword": "s/2/message", "endword": "s/2/message", "middleword": ""} {
		if got := seqs(t, h, word); got != want {
			t.Errorf("%s: %q", word, got)
		}
	}
}

// Goal: a session that was deleted behind the index's back and made anew under its id is found with its new texts alone.
func TestSessionMadeAnew(t *testing.T) {
	h := openScripted(t, t.TempDir(), "{}", nil)
	defer func() { _ = h.Close() }()
	talks(t, h, "s", message("oldword"), message("x"), message("y"))
	if got := seqs(t, h, "oldword"); got != "s/1/message" {
		t.Error(got)
	}
	if err := h.Store().Delete(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	talks(t, h, "s", message("a"), message("b"), message("newword"), message("c"), message("d"))
	if got := seqs(t, h, "oldword") + seqs(t, h, "newword"); got != "s/1/message" {
		t.Error(got)
	}
	b, err := os.ReadFile(filepath.Join(h.Dir(), search.Dir, "index.db"))
	if err != nil || strings.Contains(string(b), "oldword") {
		t.Errorf("its words are left: %v", err)
	}
}

// Goal: the words of a search are not those of an error, and a closed home fails.
func TestSearchErrors(t *testing.T) {
	h := openScripted(t, t.TempDir(), "{}", nil)
	talks(t, h, "s", message("word"))
	if _, err := h.Search(t.Context(), homes.SearchOptions{Query: "!!"}); !errors.Is(err, search.ErrNoWords) {
		t.Error(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Search(t.Context(), homes.SearchOptions{Query: "word"}); err == nil {
		t.Error("a closed home was searched")
	}
}

// Goal: a known secret is not found in sessions, since no log has it, and one that a person wrote into a file is not shown.
func TestSearchShowsNoSecret(t *testing.T) {
	dir := t.TempDir()
	h, err := homes.Open(t.Context(), dir, homes.Config{Environ: []string{"MY_TOKEN=" + token, "HOME=/h"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	talks(t, h, "s", message("the canary is "+token))
	if got := seqs(t, h, "90b1c2d3e4f5a6b7"); got != "" {
		t.Errorf("found in %s", got)
	}
	if got := seqs(t, h, "canary"); got != "s/1/message" {
		t.Errorf("found in %q", got)
	}
	memory := filepath.Join(dir, "knowledge", "user")
	if err := os.MkdirAll(memory, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(memory, "HANDOFF.md"), []byte(strings.Repeat("so ", 33)+"the other canary "+token+" is here\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := h.Search(t.Context(), homes.SearchOptions{Query: "other canary", In: []string{search.Handoffs}})
	if err != nil || len(found.Hits) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	hit := found.Hits[0]
	if text := hit.Snippet.Text + hit.Text.Title; strings.Contains(text, token[:4]) || !strings.Contains(text, "[secret:MY_TOKEN]") {
		t.Errorf("it shows %q", text)
	}
}
