// Package openai speaks Chat Completions as OpenAI made it and many servers copy it: Ollama, llama.cpp, vLLM,
// OpenRouter and others, by base URL. It is written against what such servers really send: whole tool calls in one
// piece or cut, without indexes or ids, "stop" where tool calls are, no usage, no [DONE].
//
// A reply's blocks are stored in a form of our own that can be sent back byte for byte: text as
// {"type":"text","text":…}, a tool call as the object of the tool_calls array, its arguments a string as the server
// spelled it. Arguments that are no valid JSON are kept as they are, unless the output limit cut them off: this API
// takes them back, and the tool says what is wrong. Reasoning (reasoning_content or reasoning) is kept as a thinking
// block and not sent back, unless Config.ReturnReasoning asks for it.
//
// On the way out a user message of several texts becomes one text (a blank line between), tool results become tool
// messages right after the assistant's, those with an error begin with "Error: ", and the images in them follow in a
// user message, because tool messages hold only text.
//
// A server that sends no usage gives a Response with Unmetered set and zero counts; nothing is guessed here.
// Params.Effort is sent as reasoning_effort, Params.Thinking has no counterpart and is ignored. OpenAI's own GPT-5.6
// and later take tools over this API only without reasoning, so there "none" is sent when no effort is named.
package openai

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/provider/api"
	"github.com/perdure/perdure/internal/provider/raw"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// Name is the provider's name in MODEL arguments and in stored blocks, unless the configuration says another.
const Name = "openai"

// DefaultBaseURL is where OpenAI serves the API.
const DefaultBaseURL = "https://api.openai.com/v1"

// Config says how to reach a server.
type Config struct {
	Name            string           // empty: Name; "ollama" for a local Ollama
	BaseURL         string           // with its /v1, which is added to an address without a path; empty: DefaultBaseURL
	Key             string           // empty for servers that want none
	HTTP            *http.Client     // nil: one of our own; redirects are never followed
	IdleTimeout     time.Duration    // silence after which a stream is given up; 0: 5 minutes
	UserAgent       string           // empty: "perdure"
	Now             func() time.Time // for retry-after dates; nil: the system's clock
	ReturnReasoning bool             // send a reply's reasoning back with it
}

// Provider is one server. It is safe for concurrent use.
type Provider struct {
	cfg    Config
	base   string
	own    bool // OpenAI's own host, which differs from its copies
	client api.Client
}

// New makes a provider. It connects to nothing.
func New(cfg Config) *Provider {
	base := strings.TrimRight(cfg.BaseURL, "/")
	if base == "" {
		base = DefaultBaseURL
	}
	own := false
	if u, err := url.Parse(base); err == nil && u.Host != "" {
		own = u.Hostname() == "api.openai.com" || strings.HasSuffix(u.Hostname(), ".api.openai.com") ||
			strings.HasSuffix(u.Hostname(), ".openai.azure.com")
		if u.Path == "" {
			base += "/v1"
		}
	}
	if cfg.Name == "" {
		cfg.Name = Name
	}
	return &Provider{
		cfg: cfg, base: base, own: own,
		client: api.Client{HTTP: cfg.HTTP, Idle: cfg.IdleTimeout, UserAgent: cfg.UserAgent, Now: cfg.Now},
	}
}

// Name is the configured name.
func (p *Provider) Name() string { return p.cfg.Name }

// Prefix is the digest of the tools and messages as they are sent; the system prompt is the first of the messages.
func (p *Provider) Prefix(r modelapi.Request) ([32]byte, error) {
	b, err := p.appendPrefix(nil, r)
	if err != nil {
		return store.Digest{}, err
	}
	return store.Sum(b), nil
}

// Call sends the request once and reads the reply to its end.
func (p *Provider) Call(ctx context.Context, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
	body, err := p.render(r)
	if err != nil {
		return nil, err
	}
	h := http.Header{"Accept": {"text/event-stream"}}
	if p.cfg.Key != "" {
		h.Set("Authorization", "Bearer "+p.cfg.Key)
	}
	st, err := p.client.Stream(ctx, p.base+"/chat/completions", h, body)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	a := newAssembler(p.cfg.Name, r, st.RequestID, sink)
	whole, err := st.Whole()
	if err != nil {
		return nil, a.lost(err)
	}
	if whole != nil {
		if raw.IsNull(raw.Get(whole, "choices")) {
			return nil, st.NotStreamed()
		}
		if err := a.event(whole); err != nil {
			return nil, a.lost(err)
		}
		a.done = true
	}
	for !a.done {
		e, err := st.Next()
		if err == nil {
			err = a.event(e.Data)
		} else {
			err = a.end(err)
		}
		if err != nil {
			return nil, a.lost(err)
		}
	}
	resp, err := a.response()
	if err != nil {
		return nil, a.lost(err)
	}
	st.Finish()
	return resp, nil
}
