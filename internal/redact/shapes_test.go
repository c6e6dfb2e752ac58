package redact_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/redact"
)

// key joins a key of a made-up kind, so that no tool that looks for keys finds one in this file.
func key(begins, rest string) string { return begins + rest }

var letters = "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cE3fG5hJ7kL9"

// What looks like a well-known key goes, wherever it stands, and what is around it stays.
func TestShapesFindKeys(t *testing.T) {
	pem := "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\nBG5vbmU=\n-----END OPENSSH PRIVATE KEY-----"
	for name, k := range map[string]string{
		"anthropic": key("sk-ant-", "api03-"+letters), "openai": key("sk-", letters), "project": key("sk-proj-", letters+"_"+letters),
		"github": key("ghp_", letters[:36]), "fine-grained": key("github_pat_", letters+"_"+letters),
		"gitlab": key("glpat-", letters[:20]), "slack": key("xoxb-", "123456789012-"+letters[:24]),
		"aws": key("AKIA", "Q3EGHLM7PR2STUVW"), "google": key("AIza", letters[:35]), "npm": key("npm_", letters[:36]),
		"stripe": key("sk_live_", letters[:24]), "hugging face": key("hf_", letters[:34]),
		"token": key("eyJ", "hbGciOiJIUzI1NiJ9."+"eyJzdWIiOiIxMjM0NTY3ODkwIn0."+letters),
		"pem":   pem, "pem that is cut off": pem[:60],
	} {
		for _, around := range []string{"|", "KEY=|", `{"a":"|"}`, "x |\ny", "(|)", "https://u:|@host/"} {
			text := strings.Replace(around, "|", k, 1)
			got, n := redact.Shapes([]byte(text))
			want := strings.Replace(around, "|", redact.Shaped, 1)
			if name == "pem that is cut off" && around != "|" {
				continue // what follows on its line cannot be told from it
			}
			if string(got) != want || n != 1 {
				t.Errorf("%s in %q: %q, %d", name, around, got, n)
			}
		}
	}
}

// What people and programs write all day is left as it is.
func TestShapesLeaveTheRest(t *testing.T) {
	for _, text := range []string{
		"", "-", "task-1234567890abcdefghij1234567890", "risk-assessment-of-the-2026-release-candidate", "sk-learn-2024-classification-pipeline-example",
		"sk-", "sk-short1", "git show 0f0f9f6a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e", "AKIA", "AKIAbcdefghijklmnopqrs", "XAKIAQ3EGHLM7PR2STUVW", "AKIAQ3EGHLM7PR2STUVWXYZ",
		"ghp_short", "ghp_is_a_prefix_of_tokens_that_github_gives_out_to_people", "npm_config_registry=https://registry", "npm_lifecycle_event_is_a_variable_of_npm_itself_here",
		"01a200bb-be00-7366-bc58-639e3e950621:t1.s1.b2.a1", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----", "----- a rule -----", "--begin private key",
		"eyJhbGciOiJIUzI1NiJ9", "eyJ.eyJ.x", "keyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.aaaaaaaaaaaa", "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
		"hf_transfer", "xoxb-", "the AIza prefix", "skeleton-key-of-the-old-house-1234567890", "日本語 sk-日本語",
	} {
		if got, n := redact.Shapes([]byte(text)); n != 0 || string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// A known value is counted each time that it stands there, a value within another once.
func TestCount(t *testing.T) {
	s := redact.New(map[string]string{"LONG": "secret-value-one", "IN": "value-one"})
	if n := s.Count([]byte("secret-value-one, value-one, secret-value-one")); n != 3 {
		t.Errorf("%d", n)
	}
	if n := (*redact.Set)(nil).Count([]byte("x")); n != 0 {
		t.Errorf("%d", n)
	}
}
