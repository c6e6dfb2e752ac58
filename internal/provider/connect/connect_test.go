package connect

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

func env(kv ...string) func(string) string {
	return func(k string) string {
		for i := 0; i < len(kv); i += 2 {
			if kv[i] == k {
				return kv[i+1]
			}
		}
		return ""
	}
}

// net answers without a network and keeps the requests.
type network struct {
	answer string // empty: nobody is there
	got    []*http.Request
}

func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	n.got = append(n.got, r)
	if n.answer == "" {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(n.answer)), Request: r}, nil
}

// A model argument opens the provider that it names, or is refused with a hint.
func TestOpen(t *testing.T) {
	keys := env("ANTHROPIC_API_KEY", "a", "OPENAI_API_KEY", "o")
	script := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(script, []byte(`{"turns":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ spec, provider, name string }{
		{"anthropic/claude-x", "anthropic", "claude-x"},
		{"openai/org/model:tag", "openai", "org/model:tag"},
		{"ollama/qwen3:8b", "ollama", "qwen3:8b"},
		{"scripted/" + script, "scripted", script},
	} {
		p, name, err := Open(keys, c.spec)
		if err != nil || p.Name() != c.provider || name != c.name {
			t.Errorf("%s: %v %q %v", c.spec, p, name, err)
		}
	}
	for _, c := range []struct {
		spec, hint string
		kind       error
	}{
		{"claude-x", "anthropic/claude-x", ErrBadModel},
		{"gpt-6-sol", "openai/gpt-6-sol", ErrBadModel},
		{"", "PROVIDER/MODEL", ErrBadModel},
		{"anthropic/", "PROVIDER/MODEL", ErrBadModel},
		{"google/gemini", "ollama", ErrBadModel},
		{"scripted/" + script + "x", script + "x", ErrNoScript},
	} {
		if _, _, err := Open(keys, c.spec); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.hint) {
			t.Errorf("%q: %v", c.spec, err)
		}
	}
	for spec, variable := range map[string]string{"anthropic/m": "ANTHROPIC_API_KEY", "openai/m": "OPENAI_API_KEY"} {
		if _, _, err := Open(nil, spec); !errors.Is(err, ErrNoModel) || !strings.Contains(err.Error(), variable) {
			t.Errorf("%s without a key: %v", spec, err)
		}
	}
	if _, _, err := Open(env("OPENAI_BASE_URL", "localhost:8080"), "openai/m"); !errors.Is(err, ErrBadModel) {
		t.Errorf("an address without a scheme: %v", err)
	}
}

// The environment decides about the model; without one the error names every way out, and a local Ollama if it is
// there.
func TestDefault(t *testing.T) {
	const tags = `{"models":[{"name":"qwen3:8b"},{"name":"old"}]}`
	for _, c := range []struct {
		env    func(string) string
		answer string
		want   string
	}{
		{env("ANTHROPIC_API_KEY", "k", "OPENAI_API_KEY", "k"), "", DefaultAnthropic},
		{env("ANTHROPIC_AUTH_TOKEN", "k"), "", DefaultAnthropic},
		{env("OPENAI_API_KEY", "k"), "", DefaultOpenAI},
		{env("OLLAMA_HOST", "box"), tags, "ollama/qwen3:8b"},
		{nil, tags, "ollama/qwen3:8b"},
		{nil, `{"models":[{"name":"old","modified_at":"2026-01-02T03:04:05Z"},{"name":"nomic-embed-text","modified_at":"2026-03-02T03:04:05+02:00"},{"name":"new","modified_at":"2026-02-02T03:04:05.123+02:00"}]}`, "ollama/new"},
	} {
		got, err := Connector{Getenv: c.env, HTTP: &http.Client{Transport: &network{answer: c.answer}}}.Default(context.Background())
		if err != nil || got != c.want {
			t.Errorf("got %q %v, want %q", got, err, c.want)
		}
	}
	all := []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST", "--model", "perdure demo"}
	for _, c := range []struct {
		env    func(string) string
		answer string
		words  []string
	}{
		{nil, "", all},
		{nil, `{"models":[{"name":"nomic-embed-text"}]}`, append(all, "the Ollama on this machine has none: run ollama pull")},
		{nil, "<html>", all},
		{env("OPENAI_BASE_URL", "http://x/v1"), "", []string{"openai/MODEL"}},
		{env("OLLAMA_HOST", "box"), "", []string{"OLLAMA_HOST", "connection refused"}},
		{env("OLLAMA_HOST", "box"), `{"models":[]}`, []string{"ollama pull"}},
	} {
		_, err := Connector{Getenv: c.env, HTTP: &http.Client{Transport: &network{answer: c.answer}}}.Default(context.Background())
		if !errors.Is(err, ErrNoModel) {
			t.Fatalf("error is %v", err)
		}
		for _, w := range c.words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q is not in: %v", w, err)
			}
		}
		if c.answer == "" && strings.Contains(err.Error(), "answers") {
			t.Errorf("an Ollama is claimed: %v", err)
		}
	}
}

// OLLAMA_HOST is read as Ollama reads it.
func TestOllamaURL(t *testing.T) {
	for in, want := range map[string]string{
		"":                     "http://127.0.0.1:11434",
		"0.0.0.0":              "http://127.0.0.1:11434",
		"0.0.0.0:1234":         "http://127.0.0.1:1234",
		"box":                  "http://box:11434",
		"box:1":                "http://box:1",
		"http://box":           "http://box:80",
		"https://box/":         "https://box:443",
		"[::1]:1":              "http://[::1]:1",
		"http://box:1/ollama/": "http://box:1/ollama",
	} {
		if got, err := ollamaURL(in); err != nil || got != want {
			t.Errorf("%q: got %q %v, want %q", in, got, err, want)
		}
	}
	if _, err := ollamaURL("ftp://box"); err == nil {
		t.Error("ftp is taken")
	}
}

// A key that no header can carry is refused before anything is sent, and is not repeated in the message.
func TestKeysThatNoHeaderCarries(t *testing.T) {
	for _, c := range []struct{ variable, spec, key, words string }{
		{"ANTHROPIC_API_KEY", "anthropic/m", "sk-se\ncret", "a line break at byte 6"},
		{"ANTHROPIC_AUTH_TOKEN", "anthropic/m", "se\rcret", "a line break at byte 3"},
		{"OPENAI_API_KEY", "openai/m", "se\x00cret", "a control character at byte 3"},
		{"OPENAI_API_KEY", "openai/m", "secret\x7f", "a control character at byte 7"},
		{"OLLAMA_API_KEY", "ollama/m", "sécret", "a letter outside of ASCII at byte 2"},
		{"ANTHROPIC_API_KEY", "anthropic/m", "…", "a letter outside of ASCII at byte 1"},
	} {
		_, _, err := Open(env(c.variable, c.key), c.spec)
		if !errors.Is(err, ErrBadKey) || !strings.Contains(err.Error(), c.variable+" holds "+c.words) || strings.Contains(err.Error(), "cret") {
			t.Errorf("%q: %v", c.key, err)
		}
	}
	if _, _, err := Open(env("ANTHROPIC_API_KEY", "  sk-ant-key_1 two\r\n"), "anthropic/m"); err != nil {
		t.Error(err) // line breaks around a key are those of the file that it was read from
	}
}

// Keys go in the header that the variable stands for, to the address that was set.
func TestKeys(t *testing.T) {
	for _, c := range []struct {
		env                      func(string) string
		spec, url, header, value string
	}{
		{env("ANTHROPIC_API_KEY", " k\n"), "anthropic/m", "https://api.anthropic.com/v1/messages", "X-Api-Key", "k"},
		{env("ANTHROPIC_AUTH_TOKEN", "t", "ANTHROPIC_BASE_URL", "http://gw/x/"), "anthropic/m", "http://gw/x/v1/messages", "Authorization", "Bearer t"},
		{env("OPENAI_API_KEY", "k"), "openai/m", "https://api.openai.com/v1/chat/completions", "Authorization", "Bearer k"},
		{env("OPENAI_BASE_URL", "http://box:8080"), "openai/m", "http://box:8080/v1/chat/completions", "Authorization", ""},
		{env("OPENAI_API_KEY", "k"), "ollama/m", "http://127.0.0.1:11434/v1/chat/completions", "Authorization", ""},
	} {
		n := &network{}
		p, name, err := Connector{Getenv: c.env, HTTP: &http.Client{Transport: n}}.Open(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Call(context.Background(), hello(name), nil)
		if e, ok := errors.AsType[*modelapi.Error](err); !ok || e.Class != modelapi.ClassUnreached {
			t.Errorf("%s: %v", c.spec, err)
		}
		if got := n.got[0]; got.URL.String() != c.url || got.Header.Get(c.header) != c.value {
			t.Errorf("%s: %s %q", c.spec, got.URL, got.Header)
		}
	}
	for _, want := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"} {
		if !slices.Contains(KeyVariables(), want) {
			t.Errorf("%s is not named", want)
		}
	}
}

func hello(name string) modelapi.Request {
	return modelapi.Request{
		Model: name, MaxTokens: 1,
		Messages: []model.Message{{Role: model.RoleUser, Blocks: []model.Block{{Type: model.BlockText, Text: "hi"}}}},
	}
}

// Nothing is asked on the network where the environment says what the model is, and where it does not, this machine alone.
func TestLocalAsksThisMachineAlone(t *testing.T) {
	for _, e := range []func(string) string{env("ANTHROPIC_API_KEY", "k"), env("OPENAI_BASE_URL", "http://x/v1"), env("OLLAMA_HOST", "box")} {
		n := &network{answer: `{"models":[{"name":"m"}]}`}
		if m, there := (Connector{Getenv: e, HTTP: &http.Client{Transport: n}}).Local(context.Background()); m != "" || there {
			t.Errorf("%q was taken", m)
		}
	}
	asked := ""
	took := roundTrip(func(r *http.Request) (*http.Response, error) {
		asked = r.URL.Host
		_, bound := r.Context().Deadline()
		if !bound {
			t.Error("it is asked without a bound")
		}
		return nil, errors.New("connection refused")
	})
	if m, there := (Connector{HTTP: &http.Client{Transport: took}}).Local(context.Background()); m != "" || there || asked != "127.0.0.1:11434" {
		t.Errorf("asked %q, took %q", asked, m)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// What a person without a model can do fits the usual terminal: a line that is broken has commands that nobody can copy.
func TestTheGuideFitsATerminal(t *testing.T) {
	_, err := Connector{Getenv: env(), HTTP: &http.Client{Transport: &network{}}}.Default(context.Background())
	if err == nil {
		t.Fatal("there is a model")
	}
	for line := range strings.Lines(err.Error()) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
			t.Errorf("%d cells: %s", n, line)
		}
	}
}
