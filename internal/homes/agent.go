package homes

import (
	"context"
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/meter"
	"github.com/perdure/perdure/internal/provider/connect"
	"github.com/perdure/perdure/internal/provider/pricing"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// provider opens a model API from the home's environment, once.
func (h *Home) provider(spec string) (modelapi.Provider, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p, ok := h.models[spec]; ok {
		return p, nil
	}
	p, _, err := h.connector().Open(spec)
	if err == nil {
		h.models[spec] = p
	}
	return p, err
}

func (h *Home) connector() connect.Connector {
	return connect.Connector{Getenv: h.getenv, Now: h.cfg.Now, UserAgent: "perdure/" + Version}
}

// Agent fills in what is known of a model: PROVIDER/MODEL, or empty for what the environment configures.
func (h *Home) Agent(ctx context.Context, spec string) (session.Agent, error) {
	if spec == "" {
		var err error
		if spec, err = h.connector().Default(ctx); err != nil {
			return session.Agent{}, err
		}
	}
	provider, name, err := h.named(spec)
	if err != nil {
		return session.Agent{}, err
	}
	a := session.Agent{Name: "default", Provider: provider, Model: name, MaxTokens: 16384}
	if m, ok := pricing.Lookup(a.Provider, name); ok {
		a.Window = m.Window
		if m.MaxOutput > 0 {
			a.MaxTokens = min(m.MaxOutput, 32768)
		}
	}
	for _, by := range []string{a.Provider + "/" + name, spec} {
		if w, ok := h.cfg.Windows[by]; ok {
			a.Window = w
		}
	}
	if a.Window > 0 {
		a.MaxTokens = min(a.MaxTokens, max(a.Window/4, 256))
	}
	a.Price = h.Price(a.Provider, name)
	return a, nil
}

// Price is what a call of a model costs: what Config.Prices says, else what is known; nil is unknown.
func (h *Home) Price(provider, name string) *model.Price {
	if p, ok := h.cfg.Prices[provider+"/"+name]; ok {
		return &p
	}
	m, _ := pricing.Lookup(provider, name)
	return m.Price
}

// named finds the provider's name and the model's, as a session keeps them.
func (h *Home) named(spec string) (provider, name string, err error) {
	if h.cfg.Provider == nil {
		p, name, err := h.connector().Open(spec)
		if err != nil {
			return "", "", err
		}
		return p.Name(), name, nil
	}
	provider, name, ok := strings.Cut(spec, "/")
	if !ok || provider == "" || name == "" {
		return "", "", fmt.Errorf("model %q: %w: write PROVIDER/MODEL", spec, connect.ErrBadModel)
	}
	p, err := h.cfg.Provider(spec)
	if err == nil && p == nil {
		err = fmt.Errorf("model %q: %w: Config.Provider knows none", spec, connect.ErrBadModel)
	}
	return provider, name, err
}

// cost prices a call of a known model, long prompts included.
func (h *Home) cost(spec string, u model.Usage) *int64 {
	if p, ok := h.cfg.Prices[spec]; ok {
		return meter.Cost(&p, u)
	}
	provider, name, _ := strings.Cut(spec, "/")
	return pricing.Cost(provider, name, u)
}
