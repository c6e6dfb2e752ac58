// Package anthropic speaks the streaming Messages API of Anthropic, and of servers that are compatible with it.
//
// The request's bytes are made here by hand, never by an encoder of somebody else: the same Request gives the same
// bytes in every process and version, because models bind their thinking to the exact system prompt, tools and
// messages before it. The system prompt and the tools go as they are; a block that this API made goes back verbatim;
// blocks of other providers are rendered from their thin view, without their thinking. Tool results stand first in
// their user message, user messages in a row become one, blank text is left out, as the API demands.
//
// Cache markers (at most four: tools, system, the two newest user messages) move from request to request; they are
// not compared by the API and are no part of [Provider.Prefix].
//
// A reply is assembled from its stream: strings are joined with their escapes as they came, tool input is the
// fragments' bytes verbatim, fields and block types that are unknown here stay as the stream's start gave them. A
// kind of delta that is unknown is a protocol error: what can't be assembled is never stored half. Unknown events
// between are skipped, as the API asks of its clients.
//
// Thinking: models from version 4.7 on decide themselves how much they think and refuse a budget. For them
// Params.Thinking > 0 asks for adaptive thinking, and Params.Effort says how hard. When Params.Thinking is not below
// MaxTokens, it is added to it, because the API counts thinking as part of the reply.
package anthropic

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/provider/api"
	"github.com/perdure/perdure/internal/provider/raw"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// Name is the provider's name in MODEL arguments and in stored blocks.
const Name = "anthropic"

// DefaultBaseURL is where Anthropic serves the API.
const DefaultBaseURL = "https://api.anthropic.com"

// The versions of the API that are known here. Another one may be named; it is sent as the default one is.
const (
	Version2023 = "2023-06-01" // the default; the key goes in x-api-key
	Version2026 = "2026-10-21" // the key goes as a bearer token
)

// Config says how to reach the API. Only Key is needed.
type Config struct {
	BaseURL     string           // with or without a trailing slash or /v1; empty: DefaultBaseURL
	Key         string           // API key
	Bearer      bool             // send the key as a bearer token in every version
	HTTP        *http.Client     // nil: one of our own; redirects are never followed
	IdleTimeout time.Duration    // silence after which a stream is given up; 0: 5 minutes
	UserAgent   string           // empty: "perdure"
	Now         func() time.Time // for retry-after dates; nil: the system's clock
}

// Provider is the API. It is safe for concurrent use.
type Provider struct {
	cfg    Config
	base   string
	client api.Client
}

// New makes a provider. It connects to nothing.
func New(cfg Config) *Provider {
	base := strings.TrimRight(cfg.BaseURL, "/")
	if base == "" {
		base = DefaultBaseURL
	}
	if !strings.HasSuffix(base, "/v1") {
		base += "/v1"
	}
	return &Provider{
		cfg: cfg, base: base,
		client: api.Client{HTTP: cfg.HTTP, Idle: cfg.IdleTimeout, UserAgent: cfg.UserAgent, Now: cfg.Now},
	}
}

// Name is "anthropic".
func (p *Provider) Name() string { return Name }

// Prefix is the digest of system, tools and messages as they are sent, without cache markers.
func (p *Provider) Prefix(r modelapi.Request) ([32]byte, error) {
	b, err := prefix(r)
	if err != nil {
		return store.Digest{}, err
	}
	return store.Sum(b), nil
}

// Call sends the request once and reads the reply to its end.
func (p *Provider) Call(ctx context.Context, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
	body, err := render(r, true)
	if err != nil {
		return nil, err
	}
	st, err := p.client.Stream(ctx, p.base+"/messages", p.header(r.Params), body)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	a := newAssembler(r, st.RequestID, sink)
	switch whole, err := st.Whole(); {
	case err != nil:
		return nil, a.lost(err)
	case whole != nil:
		return nil, st.NotStreamed()
	}
	for !a.done {
		e, err := st.Next()
		if err != nil {
			return nil, a.lost(err)
		}
		if err := a.event(e.Data); err != nil {
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

// CountTokens asks the API how many tokens the request takes.
func (p *Provider) CountTokens(ctx context.Context, r modelapi.Request) (int64, error) {
	body, err := render(r, false)
	if err != nil {
		return 0, err
	}
	b, err := p.client.Fetch(ctx, p.base+"/messages/count_tokens", p.header(r.Params), body, 1<<16)
	if err != nil {
		return 0, err
	}
	n := raw.Get(b, "input_tokens")
	if !raw.IsObject(b) || len(n) == 0 {
		return 0, api.Protocol("", "no input_tokens in the answer to count_tokens: %s", b)
	}
	return raw.Int(n), nil
}

func (p *Provider) header(pr modelapi.Params) http.Header {
	version := pr.APIVersion
	if version == "" {
		version = Version2023
	}
	h := http.Header{}
	h.Set("Anthropic-Version", version)
	h.Set("Accept", "application/json")
	switch {
	case p.cfg.Key == "":
	case p.cfg.Bearer || version == Version2026:
		h.Set("Authorization", "Bearer "+p.cfg.Key)
	default:
		h.Set("X-Api-Key", p.cfg.Key)
	}
	if len(pr.Betas) > 0 {
		h.Set("Anthropic-Beta", strings.Join(pr.Betas, ","))
	}
	return h
}
