package homes_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

const token = "tok_canary_90b1c2d3e4f5a6b7"

// onDisk lists the files of a home that hold the token.
func onDisk(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(token)) {
			found = append(found, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestNothingSentKeepsASecret: whatever a person or a program brings to a session, no file of the home holds a known
// secret afterwards: not the log, not the inbox. What would mean something else without it is refused.
func TestNothingSentKeepsASecret(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	h, err := homes.Open(ctx, dir, homes.Config{Environ: []string{"MY_TOKEN=" + token, "HOME=/h"}})
	if err != nil {
		t.Fatal(err)
	}
	id, err := h.Create(ctx, engine.Spec{
		Cwd: "/", Title: "x " + token, Labels: map[string]string{"k": token, token: "v"},
		Agent: session.Agent{Name: token, Provider: "scripted", Model: "m", System: token, MaxTokens: 100},
	})
	if err != nil {
		t.Fatal(err)
	}
	title := "of " + token
	for _, body := range []session.Body{
		&session.MessageReceived{Content: []model.Part{model.TextPart(token)}},
		&session.Labelled{Title: &title, Labels: map[string]string{"l": token, token + "2": "v"}},
		&session.FactAdded{Fact: session.Fact{Kind: "fact", Text: token, Provenance: "user"}},
		&session.StateSet{Key: token, Value: []byte(token)},
		&session.App{Namespace: token, Data: []byte(token)},
		&session.AwaitSet{Await: session.Await{Event: session.AwaitTimer, AfterMS: 86_400_000, Note: token}},
	} {
		if err := h.Deliver(ctx, id, "", body); err != nil {
			t.Errorf("%s: %v", session.KindOf(body), err)
		}
	}
	for _, body := range []session.Body{
		&session.ApprovalAnswered{Act: "a", Message: token}, &session.QuestionAnswered{Act: "a", Text: token},
	} {
		if err := h.Deliver(ctx, id, "", body); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("%s: %v", session.KindOf(body), err)
		}
	}
	for _, body := range []session.Body{
		&session.TaskInput{Task: "bash_1", Text: []byte(token + "\n")},
		&session.TaskRequested{Command: "curl -H " + token}, &session.TaskRequested{Argv: []string{"curl", token}},
		&session.PermissionGranted{Rule: "Bash(curl " + token + ")"}, &session.ApprovalAnswered{Act: "a", Allow: true, Grant: "Bash(" + token + ")"},
	} {
		if err := h.Deliver(ctx, id, "", body); !errors.Is(err, homes.ErrSecret) {
			t.Errorf("%s: %v", session.KindOf(body), err)
		}
	}
	if _, _, err := h.Fork(ctx, id, 0, "child", "fork of "+token); err != nil {
		t.Error(err)
	}
	st, err := h.State(ctx, id)
	if err != nil || st.Title != "of [secret:MY_TOKEN]" || len(st.Facts) != 1 || len(st.Faults) > 0 {
		t.Errorf("%q, %v, %q, %v", st.Title, st.Facts, st.Faults, err)
	}
	found := onDisk(t, dir)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if found = append(found, onDisk(t, dir)...); len(found) > 0 {
		t.Errorf("files that hold the secret: %v", found)
	}
}

// TestWhatIsASecret: credentials of the environment are known by their names and their looks; ordinary words are not.
func TestWhatIsASecret(t *testing.T) {
	h, err := homes.Open(t.Context(), t.TempDir(), homes.Config{Environ: []string{
		"GITHUB_TOKEN=ghp_abcdef123456", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "GEMINI_API_KEY=AIzaSyA12345",
		"my_api_key=lower123case", "PGPASSWORD=postgres", "X_TOKEN=disabled", "KEY_FILE_TOKEN=/run/secrets/token1", "PLAIN=value12345",
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for text, hidden := range map[string]bool{
		"ghp_abcdef123456": true, "wJalrXUtnFEMI/K7MDENG": true, "AIzaSyA12345": true, "lower123case": true,
		"postgres": false, "disabled": false, "/run/secrets/token1": false, "value12345": false,
	} {
		if h.Hides([]byte(text)) != hidden {
			t.Errorf("%s: hidden %v", text, !hidden)
		}
	}
}
