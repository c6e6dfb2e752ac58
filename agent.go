package perdure

import (
	"context"
	"strings"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/model/connect"
	"github.com/perdure/perdure/model/pricing"
	"github.com/perdure/perdure/session"
)

// provider opens a model API from the home's environment, once.
func (h *Home) provider(spec string) (model.Provider, error) {
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
	provider, name, err := h.connector().Open(spec)
	if err != nil {
		return session.Agent{}, err
	}
	a := session.Agent{Name: "default", Provider: provider.Name(), Model: name, MaxTokens: 16384}
	if m, ok := pricing.Lookup(a.Provider, name); ok {
		a.Window = m.Window
		if m.MaxOutput > 0 {
			a.MaxTokens = min(m.MaxOutput, 32768)
		}
	}
	a.Price = h.Price(a.Provider, name)
	return a, nil
}

// Price is what a call of a model costs: what Config.Prices says, else what is known; nil is unknown.
func (h *Home) Price(provider, name string) *session.Price {
	if p, ok := h.cfg.Prices[provider+"/"+name]; ok {
		return &p
	}
	m, _ := pricing.Lookup(provider, name)
	return m.Price
}

// cost prices a call of a known model, long prompts included.
func (h *Home) cost(spec string, u session.Usage) *int64 {
	if p, ok := h.cfg.Prices[spec]; ok {
		return p.Cost(u)
	}
	provider, name, _ := strings.Cut(spec, "/")
	return pricing.Cost(provider, name, u)
}
