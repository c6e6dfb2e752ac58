package tools

import (
	"context"

	"github.com/perdure/perdure/internal/lineage"
)

// fromOutside tells whether one of some lines repeats what a command, the web, another program or a file outside of the
// project said in this session, before the agent did, and the user did not. The whole log is read, an ancestor's too; little of it is kept.
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
	judge, user, log := lineage.NewJudge(claims), lineage.NewMatcher(claims), &lineage.Log{}
	for entry, err := range e.Log(ctx) {
		if err != nil {
			return false, err
		}
		texts, from := log.Brings(entry.Event, entry.Body)
		for _, t := range texts {
			switch from {
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
		for _, t := range lineage.Given(entry.Body, inside) {
			judge.Brought(t)
		}
		for _, t := range lineage.Inputs(entry.Body) {
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
