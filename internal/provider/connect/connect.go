// Package connect finds the model API that a user means.
//
// A model is named PROVIDER/MODEL:
//
//	anthropic/claude-sonnet-5-5   ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL
//	openai/gpt-6-sol              OPENAI_API_KEY, OPENAI_BASE_URL: OpenAI, or any server that speaks Chat Completions
//	ollama/qwen3:8b               OLLAMA_HOST: a local Ollama, no key
//	scripted/FILE                 plays a file of turns
//
// Keys come from the environment that is handed in and from nowhere else. Whoever starts commands strips
// [KeyVariables] from their environment.
package connect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/provider/anthropic"
	"github.com/perdure/perdure/internal/provider/api"
	"github.com/perdure/perdure/internal/provider/openai"
	"github.com/perdure/perdure/internal/provider/raw"
	"github.com/perdure/perdure/internal/provider/scripted"
	"github.com/perdure/perdure/modelapi"
)

// The models that are taken when only a key is given.
const (
	DefaultAnthropic = "anthropic/claude-sonnet-5-5"
	DefaultOpenAI    = "openai/gpt-6-sol"
)

// ErrNoModel says that the environment names no model API. Its message says what to do.
var ErrNoModel = errors.New("no model is configured")

// ErrNoScript says that the file of a scripted model is not there.
var ErrNoScript = errors.New("no such script")

// ErrBadModel says that a MODEL argument can't be understood.
var ErrBadModel = errors.New("bad model")

// ErrBadKey says that a key can't be sent to its API. Its message says why, and not what the key is.
var ErrBadKey = errors.New("bad key")

// probeTime is how long a local Ollama may take to say that it is there.
const probeTime = 300 * time.Millisecond

// ollamaIdle is how long a local Ollama may be silent: it sends nothing while it loads a model and reads a prompt.
const ollamaIdle = 15 * time.Minute

// Connector opens providers. The zero value works on an empty environment.
type Connector struct {
	Getenv      func(string) string // nil: an empty environment
	HTTP        *http.Client        // nil: one of the provider's own
	Now         func() time.Time    // nil: the system's clock
	IdleTimeout time.Duration       // silence after which a reply is given up; 0: 5 minutes, of an Ollama 15
	UserAgent   string              // empty: "perdure"
}

// Open is Connector.Open with an environment only.
func Open(getenv func(string) string, spec string) (modelapi.Provider, string, error) {
	return Connector{Getenv: getenv}.Open(spec)
}

// Default is Connector.Default with an environment only.
func Default(getenv func(string) string) (string, error) {
	return Connector{Getenv: getenv}.Default(context.Background())
}

// KeyVariables names the variables that hold keys of model APIs, ours and those of their other clients. The slice is
// the caller's.
func KeyVariables() []string {
	return []string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_ADMIN_KEY", "ANTHROPIC_ADMIN_API_KEY",
		"ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_OAUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY",
		"AZURE_OPENAI_API_KEY", "OPENROUTER_API_KEY", "OLLAMA_API_KEY",
		"GEMINI_API_KEY", "GOOGLE_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY",
		"TOGETHER_API_KEY", "FIREWORKS_API_KEY", "COHERE_API_KEY", "CO_API_KEY", "PERPLEXITY_API_KEY", "CEREBRAS_API_KEY",
	}
}

// Open makes the provider of PROVIDER/MODEL and returns it with the model's name, as it is to be stored in a session:
// a script's file becomes absolute. Nothing is connected to. Errors wrap ErrBadModel, ErrNoModel
// or ErrNoScript, or are about the script's file.
func (c Connector) Open(spec string) (modelapi.Provider, string, error) {
	provider, name, ok := strings.Cut(spec, "/")
	if !ok || name == "" {
		return nil, "", fmt.Errorf("open model %q: %w: write PROVIDER/MODEL, as in %s", spec, ErrBadModel, example(spec))
	}
	var p modelapi.Provider
	var err error
	switch provider {
	case anthropic.Name:
		p, err = c.anthropic()
	case openai.Name:
		p, err = c.openai()
	case "ollama":
		p, err = c.ollama()
	case scripted.Name:
		if name, err = filepath.Abs(name); err == nil {
			p, err = scripted.Open(name)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %s", ErrNoScript, name)
		}
	default:
		err = fmt.Errorf("%w: the providers are anthropic, openai, ollama and scripted", ErrBadModel)
	}
	if err != nil {
		return nil, "", fmt.Errorf("open model %q: %w", spec, err)
	}
	return p, name, nil
}

// example guesses what was meant.
func example(spec string) string {
	switch {
	case strings.HasPrefix(spec, "claude"):
		return "anthropic/" + spec
	case strings.HasPrefix(spec, "gpt"):
		return "openai/" + spec
	}
	return DefaultAnthropic
}

func (c Connector) anthropic() (modelapi.Provider, error) {
	cfg := anthropic.Config{
		BaseURL: c.env("ANTHROPIC_BASE_URL"), Key: c.env("ANTHROPIC_API_KEY"),
		HTTP: c.HTTP, Now: c.Now, IdleTimeout: c.IdleTimeout, UserAgent: c.UserAgent,
	}
	if cfg.Key == "" {
		cfg.Key, cfg.Bearer = c.env("ANTHROPIC_AUTH_TOKEN"), true
	}
	if cfg.Key == "" && cfg.BaseURL == "" {
		return nil, fmt.Errorf("%w: set ANTHROPIC_API_KEY", ErrNoModel)
	}
	if err := c.check("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"); err != nil {
		return nil, err
	}
	return anthropic.New(cfg), nil
}

func (c Connector) openai() (modelapi.Provider, error) {
	cfg := openai.Config{
		BaseURL: c.env("OPENAI_BASE_URL"), Key: c.env("OPENAI_API_KEY"),
		HTTP: c.HTTP, Now: c.Now, IdleTimeout: c.IdleTimeout, UserAgent: c.UserAgent,
	}
	if cfg.Key == "" && cfg.BaseURL == "" {
		return nil, fmt.Errorf("%w: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server that needs no key", ErrNoModel)
	}
	if err := c.check("OPENAI_BASE_URL", "OPENAI_API_KEY"); err != nil {
		return nil, err
	}
	return openai.New(cfg), nil
}

func (c Connector) ollama() (modelapi.Provider, error) {
	base, err := ollamaURL(c.env("OLLAMA_HOST"))
	if err == nil {
		err = c.checkKey("OLLAMA_API_KEY")
	}
	if err != nil {
		return nil, err
	}
	idle := c.IdleTimeout
	if idle == 0 {
		idle = ollamaIdle
	}
	return openai.New(openai.Config{
		Name: "ollama", BaseURL: base + "/v1", Key: c.env("OLLAMA_API_KEY"),
		HTTP: c.HTTP, Now: c.Now, IdleTimeout: idle, UserAgent: c.UserAgent,
	}), nil
}

// Configured tells which variable of the environment decides about the model, and the model if it follows from that
// alone; both are empty if none does. Nothing is connected to.
func Configured(getenv func(string) string) (model, variable string) {
	c := Connector{Getenv: getenv}
	for _, v := range []struct{ variable, model string }{
		{"ANTHROPIC_API_KEY", DefaultAnthropic},
		{"ANTHROPIC_AUTH_TOKEN", DefaultAnthropic},
		{"ANTHROPIC_BASE_URL", DefaultAnthropic},
		{"OPENAI_BASE_URL", ""},
		{"OPENAI_API_KEY", DefaultOpenAI},
		{"OLLAMA_HOST", ""},
	} {
		if c.env(v.variable) != "" {
			return v.model, v.variable
		}
	}
	return "", ""
}

// Place is an address without what it may hold of a password.
func Place(address string) string {
	if address == "" {
		return ""
	}
	return api.Place(address)
}

// Way is something that a person without a model can do.
type Way struct{ What, How string }

// Guide are the ways, the usual one first.
func Guide() []Way {
	return []Way{
		{"a key", "export ANTHROPIC_API_KEY=…, or OPENAI_API_KEY=…"},
		{"a local model", "ollama pull MODEL, and it is found; OLLAMA_HOST: elsewhere"},
		{"your own server", "export OPENAI_BASE_URL=http://HOST/v1; --model openai/MODEL"},
		{"for good", "perdure config set model PROVIDER/MODEL; --model for once"},
		{"just to see it", "perdure demo: no key, no network"},
	}
}

// Default chooses a model by what the environment has: Anthropic, then OpenAI, then the Ollama that OLLAMA_HOST
// names. Without any of them it takes a model of an Ollama on this machine, see Local. Else the error wraps ErrNoModel
// and has the words of Guide. A server behind OPENAI_BASE_URL is asked for its models, an Ollama too.
func (c Connector) Default(ctx context.Context) (string, error) {
	model, variable := Configured(c.Getenv)
	switch {
	case model != "":
		return model, nil
	case variable == "OPENAI_BASE_URL":
		return "", fmt.Errorf("%w: OPENAI_BASE_URL is set, so name one of that server's models: --model openai/MODEL", ErrNoModel)
	case variable == "OLLAMA_HOST":
		models, err := c.ollamaModels(ctx, 10*time.Second)
		if err != nil {
			return "", fmt.Errorf("%w: OLLAMA_HOST is set, but %w", ErrNoModel, err)
		}
		if pick := pickLocal(models); pick != "" {
			return "ollama/" + pick, nil
		}
		return "", fmt.Errorf("%w: the Ollama at OLLAMA_HOST has no models: run ollama pull MODEL", ErrNoModel)
	}
	local, there := c.Local(ctx)
	if local != "" {
		return local, nil
	}
	why := ""
	if there {
		why = "; the Ollama on this machine has none: run ollama pull MODEL"
	}
	var ways strings.Builder
	for _, w := range Guide() {
		_, _ = fmt.Fprintf(&ways, "\n  %-15s  %s", w.What, w.How)
	}
	return "", fmt.Errorf("%w%s%s", ErrNoModel, why, ways.String())
}

// Local looks for a model of an Ollama at its usual address on this machine, where nothing else is configured: the one
// that was pulled last and is no model for embeddings. It asks the loopback interface alone, for at most 300 ms. there
// tells that one answers, with a model or without.
func (c Connector) Local(ctx context.Context) (model string, there bool) {
	if _, variable := Configured(c.Getenv); variable != "" {
		return "", false
	}
	models, err := c.ollamaModels(ctx, probeTime)
	if pick := pickLocal(models); pick != "" {
		return "ollama/" + pick, true
	}
	return "", err == nil
}

// pickLocal is the first model that can hold a conversation; empty: there is none.
func pickLocal(models []string) string {
	for _, m := range models {
		if !strings.Contains(strings.ToLower(m), "embed") && !strings.Contains(strings.ToLower(m), "rerank") {
			return m
		}
	}
	return ""
}

// ollamaModels asks an Ollama for its models, newest first.
func (c Connector) ollamaModels(ctx context.Context, wait time.Duration) ([]string, error) {
	base, err := ollamaURL(c.env("OLLAMA_HOST"))
	if err != nil {
		return nil, err
	}
	client := api.Client{HTTP: c.HTTP, Idle: wait, UserAgent: c.UserAgent, Now: c.Now}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	b, err := client.Fetch(ctx, base+"/api/tags", nil, nil, 1<<20)
	if err != nil {
		return nil, fmt.Errorf("list models of %s: %w", base, err)
	}
	if !raw.IsObject(b) {
		return nil, fmt.Errorf("list models of %s: the answer is no JSON object", base)
	}
	type tag struct{ name, modified string }
	var tags []tag
	for _, m := range raw.Elements(raw.Get(b, "models")) {
		if n := raw.GetString(m, "name"); n != "" {
			tags = append(tags, tag{n, raw.GetString(m, "modified_at")})
		}
	}
	slices.SortStableFunc(tags, func(a, b tag) int { // a time that is not told, or not in RFC 3339, leaves them as they came
		at, aerr := time.Parse(time.RFC3339, a.modified)
		bt, berr := time.Parse(time.RFC3339, b.modified)
		if aerr != nil || berr != nil {
			return 0
		}
		return bt.Compare(at)
	})
	names := make([]string, len(tags))
	for i, t := range tags {
		names[i] = t.name
	}
	return names, nil
}

// ollamaURL reads OLLAMA_HOST as Ollama does: a host, a port, a scheme may each be missing. An address to listen on
// stands for this machine.
func ollamaURL(host string) (string, error) {
	host = strings.Trim(strings.TrimSpace(host), `"'/`)
	scheme, rest, ok := strings.Cut(host, "://")
	if !ok {
		scheme, rest = "http", host
	}
	name, path, _ := strings.Cut(rest, "/")
	port := map[string]string{"http": "11434", "https": "443"}[scheme]
	if ok && scheme == "http" {
		port = "80"
	}
	if h, p, err := net.SplitHostPort(name); err == nil {
		name, port = h, p
	} else {
		name = strings.Trim(name, "[]")
	}
	switch name {
	case "", "0.0.0.0", "::":
		name = "127.0.0.1"
	}
	u := url.URL{Scheme: scheme, Host: net.JoinHostPort(name, port), Path: path}
	if err := checkURL("OLLAMA_HOST", u.String()); err != nil {
		return "", err
	}
	return u.String(), nil
}

// checkURL refuses an address that no request could be sent to.
func checkURL(variable, v string) error {
	if v == "" {
		return nil
	}
	u, err := url.Parse(v)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("%w: %s is no http or https address: %q", ErrBadModel, variable, api.Place(v))
	}
	return nil
}

// check looks at the variables of an API: its address, and the first of its keys that is set.
func (c Connector) check(address string, keys ...string) error {
	if err := checkURL(address, c.env(address)); err != nil {
		return err
	}
	for _, k := range keys {
		if c.env(k) != "" {
			return c.checkKey(k)
		}
	}
	return nil
}

// checkKey refuses a key that no header can carry, or with letters that no API gives out: a placeholder that was copied,
// or two lines of a file.
func (c Connector) checkKey(variable string) error {
	key := c.env(variable)
	for i, r := range key {
		var what string
		switch {
		case r == '\n' || r == '\r':
			what = "a line break"
		case r < ' ' || r == 0x7f:
			what = "a control character"
		case r > 0x7f:
			what = "a letter outside of ASCII"
		default:
			continue
		}
		return fmt.Errorf("%w: %s holds %s at byte %d: set it to the key alone", ErrBadKey, variable, what, i+1)
	}
	return nil
}

func (c Connector) env(name string) string {
	if c.Getenv == nil {
		return ""
	}
	return strings.TrimSpace(c.Getenv(name))
}

// Variables names the variables that the models of a provider need, or are reached by. The slice is the caller's.
func Variables(provider string) []string {
	switch provider {
	case anthropic.Name:
		return []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"}
	case openai.Name:
		return []string{"OPENAI_API_KEY", "OPENAI_BASE_URL"}
	case "ollama":
		return []string{"OLLAMA_HOST", "OLLAMA_API_KEY"}
	}
	return nil
}
