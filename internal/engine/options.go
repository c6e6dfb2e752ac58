package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"

	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Configure applies options to an open session, as opening it does. Only the loop that runs it may call it: see
// [Session.Do].
func (s *Session) Configure(ctx context.Context, opt Options) error { return s.configure(ctx, opt) }

// configure appends what of the options differs from the state.
func (s *Session) configure(ctx context.Context, opt Options) error {
	actor := opt.Actor
	if actor.Type == "" {
		actor.Type = store.ActorUser
	}
	c := &session.Configured{AddDirs: slices.DeleteFunc(slices.Clone(opt.AddDirs), func(d string) bool {
		return slices.Contains(s.state.Directories, d)
	})}
	if opt.Mode != "" && string(opt.Mode) != s.state.Config.Mode {
		mode := string(opt.Mode)
		c.Mode = &mode
	}
	if opt.MaxSteps != nil && (*opt.MaxSteps != s.state.Config.MaxSteps || *opt.MaxSteps != 0) {
		c.MaxSteps = opt.MaxSteps
	}
	if opt.BudgetNano != nil && (*opt.BudgetNano != s.state.Config.BudgetNano || s.state.Claimed.Budget) {
		c.BudgetNano = opt.BudgetNano
	}
	if opt.CompactAt != nil && *opt.CompactAt != s.state.Config.CompactAt {
		c.CompactAt = opt.CompactAt
	}
	if opt.NoCompact != nil && *opt.NoCompact != s.state.Config.NoCompact {
		c.NoCompact = opt.NoCompact
	}
	if opt.OnLost != "" && opt.OnLost != orDefault(s.state.Config.OnLost, session.OnLostTell) {
		if err := session.CheckOnLost(opt.OnLost); err != nil {
			return fmt.Errorf("session %s: %w", s.state.ID, err)
		}
		c.OnLost = &opt.OnLost
	}
	if ms := s.retryForMS(opt); ms != nil {
		c.RetryForMS = ms
	}
	if a := opt.Agent; a != nil && (a.Provider != s.state.Agent.Provider || a.Model != s.state.Agent.Model) {
		s.switched = true
		c.Provider, c.Model, c.MaxTokens, c.Window, c.Price = &a.Provider, &a.Model, &a.MaxTokens, &a.Window, a.Price
		if s.thought(ctx) {
			s.recovered = append(s.recovered, Recovery{
				Kind: "model", ID: a.Provider + "/" + a.Model,
				Text: "the thinking of " + s.state.Agent.Provider + "/" + s.state.Agent.Model + " is not shown to the new model",
			})
		}
	}
	bodies := s.move(opt, c)
	if !reflect.DeepEqual(*c, session.Configured{AddDirs: c.AddDirs}) || len(c.AddDirs) > 0 {
		bodies = append(bodies, c)
	}
	if opt.SetRules {
		rules := s.mergeRules(opt.Rules)
		if digest := rulesDigest(rules); digest != s.state.Permissions.Digest {
			bodies = append(bodies, &session.PermissionRules{Rules: rules, Digest: digest})
		}
	}
	return s.append(ctx, actor, bodies...)
}

// move fills in where the session is to work from now on, and gives the words that tell the model.
func (s *Session) move(opt Options, c *session.Configured) []session.Body {
	if opt.Root != "" && opt.Root != s.state.Config.Root {
		c.Root = &opt.Root
		if was := s.state.Config.Root; was != "" {
			_, _, err := s.eng.cfg.Files.Read(was, 1)
			c.Renamed = errors.Is(err, fs.ErrNotExist)
		}
	}
	if opt.Cwd == "" || opt.Cwd == s.state.Cwd {
		return nil
	}
	c.Cwd = &opt.Cwd
	text := fmt.Sprintf("[The working directory is now %s. It was %s.]", opt.Cwd, s.state.Cwd)
	return []session.Body{&session.MessageReceived{Note: true, Content: []model.Part{model.TextPart(text)}}}
}

// retryForMS is the patience that the options ask for, or nil if it is the session's already.
func (s *Session) retryForMS(opt Options) *int64 {
	if opt.RetryFor == nil {
		return nil
	}
	ms := max(0, opt.RetryFor.Milliseconds())
	if now := s.state.Config.RetryForMS; now != nil && *now == ms && !s.state.Claimed.Retry {
		return nil
	}
	return &ms
}

// thought reports whether the conversation holds thinking, as far as it can be read.
func (s *Session) thought(ctx context.Context) bool {
	t, err := s.Transcript(ctx)
	return err == nil && slices.ContainsFunc(t.Messages(), func(m model.Message) bool {
		return slices.ContainsFunc(m.Blocks, func(b model.Block) bool { return b.Type == model.BlockThinking })
	})
}

// mergeRules adds to the rules of today those that a human gave this session by flags before: they are the session's
// own. Files are read anew each time.
func (s *world) mergeRules(now []session.Rule) []session.Rule {
	var out []session.Rule
	for _, r := range s.state.Permissions.Rules {
		if r.Source == permission.SourceFlag && !slices.Contains(now, r) {
			out = append(out, r)
		}
	}
	return append(out, now...)
}

func rulesDigest(rules []session.Rule) store.Digest {
	if len(rules) == 0 {
		return store.Digest{}
	}
	b, err := json.Marshal(rules)
	if err != nil {
		return store.Digest{}
	}
	return store.Sum(b)
}
