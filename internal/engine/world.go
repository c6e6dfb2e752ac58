package engine

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/store"
)

// policy is what decisions depend on, from the state alone but for the machine's protected paths.
func (s *Session) policy() permission.Policy {
	st := s.state
	p := permission.Policy{
		Mode: permission.Mode(st.Config.Mode), Root: st.Config.Root, Cwd: st.Cwd, Dirs: st.Directories,
		Protected: s.eng.cfg.Protect, Programs: s.eng.cfg.Search, HomeDir: s.eng.cfg.UserHome, Links: s.eng.links(), Env: s.variables(), Look: s.look,
	}
	if s.eng.cfg.TempDir != nil {
		if dir, err := s.eng.cfg.TempDir(st.ID); err == nil { // else no command starts either
			p.TempDir, p.Env["TMPDIR"] = dir, dir
		}
	}
	if s.eng.cfg.Home != "" {
		p.Protected = append(p.Protected[:len(p.Protected):len(p.Protected)], s.eng.cfg.Home)
	}
	if own := s.eng.cfg.OwnDir; own != nil && st.Config.Root != "" {
		p.Own = own(st.ID, st.Config.Root)
	}
	if m, ok := s.memory().(interface{ Told() []string }); ok {
		p.Obeyed = m.Told()
	}
	if from := s.eng.cfg.Instructions; from != nil && st.Config.Root != "" {
		p.Obeyed = append(p.Obeyed[:len(p.Obeyed):len(p.Obeyed)], from.Told(st.Config.Root)...)
	}
	for name := range st.Env {
		p.Changed = append(p.Changed, name)
	}
	here := sync.OnceValue(s.inProject)
	for _, r := range st.Permissions.Rules {
		if r.Source == permission.SourceHere && !here() {
			continue // the same words mean another program elsewhere
		}
		p.Rules = append(p.Rules, permission.Rule{Effect: permission.Effect(r.Effect), Text: r.Text, Source: r.Source})
	}
	for _, g := range st.GrantsHere() {
		p.Grants = append(p.Grants, permission.Rule{Effect: permission.Allow, Text: g.Rule, Source: permission.SourceSession})
	}
	return p
}

// inProject reports whether the session works in the directory that it was opened in, or below it, behind all links.
func (s *Session) inProject() bool {
	dir, err := s.eng.cfg.Files.Resolve(s.state.Cwd)
	top := s.state.Config.Root
	return err == nil && top != "" && (dir == top || strings.HasPrefix(dir, strings.TrimSuffix(top, "/")+"/"))
}

// env is the world as a tool sees it now.
func (s *Session) env() tools.Env {
	view, policy := s.state.View(), s.policy()
	return tools.Env{
		Memory: s.memory(), Keep: s.eng.keeper(s.state.ID),
		Cwd: view.Cwd, Home: s.eng.cfg.UserHome, State: view, Files: s.eng.cfg.Files,
		Tasks: tasks{s: s, view: view}, Replace: s.eng.cfg.Secrets.Replace, Partial: s.eng.cfg.Secrets.Partial,
		Log:  func(ctx context.Context) iter.Seq2[tools.LogEntry, error] { return s.eng.log(ctx, view) },
		Past: s.saidBefore(view),
		Changed: func(path string, known store.Digest, now []byte) string {
			if permission.Hidden(policy, path) {
				return ""
			}
			return s.eng.changedLines(path, known, now, maxDiffBytes)
		},
		AwaitID: func() string { return s.newAwaitID(view.NextAwait) }, Hidden: func(abs string) bool { return permission.Hidden(policy, abs) },
	}
}

// memory is what the session remembers beyond its conversation, or nil.
func (s *Session) memory() tools.Memory {
	if s.eng.cfg.Memory == nil || s.state.Config.Root == "" {
		return nil
	}
	m, err := s.eng.cfg.Memory(s.state.Config.Root)
	if err != nil {
		s.eng.cfg.Log.Warn("the session has no memory", "session", s.state.ID, "error", err)
		return nil
	}
	return m
}

// variables are what a command starts from as far as it is known before: the process's environment, the session's
// changes to it, and ours.
func (s *Session) variables() map[string]string {
	vars := map[string]string{}
	for _, kv := range s.eng.cfg.Environ {
		k, v, _ := strings.Cut(kv, "=")
		vars[k] = v
	}
	guardGit(vars) // before the session's changes, which were made on top of it
	for k, v := range s.state.Env {
		if v == nil {
			delete(vars, k)
			continue
		}
		vars[k] = *v
	}
	guardGit(vars)
	vars["PERDURE_SESSION_ID"] = s.state.ID
	if s.eng.cfg.Home != "" {
		vars["PERDURE_HOME"] = s.eng.cfg.Home
		vars["PERDURE_ACT"] = s.eng.cfg.Home + "/acts/session/act" // of some act; the runner sets it for the one it starts
	}
	return vars
}

// environ is what a command starts from.
func (s *Session) environ() ([]string, error) {
	vars := s.variables()
	delete(vars, "PERDURE_ACT")
	if s.eng.cfg.TempDir != nil {
		dir, err := s.eng.cfg.TempDir(s.state.ID)
		if err != nil {
			return nil, fmt.Errorf("temporary directory: %w", err)
		}
		vars["TMPDIR"] = dir
	}
	s.tellPorts(vars)
	env := make([]string, 0, len(vars))
	for k, v := range vars {
		env = append(env, k+"="+v)
	}
	slices.Sort(env) // the same command is prepared with the same bytes
	return env, nil
}
