package tools

import (
	"context"
	"iter"

	"github.com/perdure/perdure/internal/lineage"
)

// fromOutside reports whether one of some lines repeats what a command, the web, another program or a file outside of
// the project said in this session, before the agent did, and the user did not. An ancestor's log counts too. Little of
// it is kept.
func (e Env) fromOutside(ctx context.Context, list []string) (bool, error) {
	return e.fromOthers(ctx, list, false)
}

// fromOthers is fromOutside; with inside a file of the project, and what the project gave the session at its start, is
// somebody else's too: it has no say in other projects.
func (e Env) fromOthers(ctx context.Context, list []string, inside bool) (bool, error) {
	var claims []string
	for _, text := range list {
		claims = append(claims, lineage.Parts(text, lineage.LeastLine)...)
	}
	if len(claims) == 0 || e.Log == nil {
		return false, nil
	}
	judge, user := lineage.NewJudge(claims), lineage.NewMatcher(claims)
	open := func(i int, from lineage.From) bool {
		switch from {
		case lineage.User:
			return !user.Repeats(i)
		case lineage.Agent, lineage.Outside:
			return !judge.Settled(i)
		case lineage.Inside:
			return inside && !judge.Settled(i)
		case lineage.Nowhere, lineage.Recalled:
		}
		return false
	}
	for said, err := range e.said(ctx, claims, open) {
		if err != nil {
			return false, err
		}
		for _, t := range said.Texts {
			switch said.From {
			case lineage.Outside:
				judge.Brought(t)
			case lineage.Agent:
				judge.Said(t)
			case lineage.User:
				for _, l := range lineage.Own(t) {
					user.Feed(l.Text)
				}
			case lineage.Inside:
				if inside {
					judge.Brought(t)
				}
			case lineage.Nowhere, lineage.Recalled:
			}
		}
		for _, t := range said.Others {
			judge.Brought(t)
		}
		if inside {
			for _, t := range said.Project {
				judge.Brought(t)
			}
		}
		for _, t := range said.Inputs {
			judge.Said(t)
		}
	}
	for i := range claims {
		if judge.Derived(i) && !user.Repeats(i) {
			return true, nil
		}
	}
	return false, nil
}

// said gives what came into the session, but for what cannot repeat one of the claims for which open is true.
func (e Env) said(ctx context.Context, claims []string, open func(claim int, from lineage.From) bool) iter.Seq2[lineage.Said, error] {
	if e.Past != nil {
		return e.Past(ctx, claims, open)
	}
	return func(yield func(lineage.Said, error) bool) {
		log := &lineage.Log{}
		for entry, err := range e.Log(ctx) {
			var said lineage.Said
			if err == nil {
				said = log.Of(entry.Event, entry.Body)
			}
			if !yield(said, err) || err != nil {
				return
			}
		}
	}
}
