package engine

import (
	"errors"
	"fmt"
	"path/filepath"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
)

// MayRunTask says why a request for a task, or for another attempt of one, would be refused under the given rules; those
// that a human gave the session by flags hold besides. Nil: it would be taken, once the last attempt has ended. It fills
// in what the request shares with that attempt, returns the environment that the command would get, and changes nothing.
func (e *Engine) MayRunTask(st *session.State, rules []session.Rule, b *session.TaskRequested) (env []string, err error) {
	if e.cfg.Commands == nil {
		return nil, e.noCommands()
	}
	then := *st
	s := &world{held: &held{eng: e, state: &then}}
	then.Permissions.Rules = s.mergeRules(rules)
	if b.Task != "" {
		old, err := s.ownTask(b.Task)
		if err != nil {
			return nil, err
		}
		if err := s.mayRepeat(old); err != nil {
			return nil, err
		}
		repeat(b, old)
	}
	if err := s.mayRun(b); err != nil {
		return nil, err
	}
	return s.environ()
}

// mayRun says why the command of a request may not run. A deny rule holds for it, since the same command might be one
// that nothing allows.
func (s *world) mayRun(b *session.TaskRequested) error {
	switch {
	case b.Command == "":
		return errors.New("there is no command")
	case !utf8.ValidString(b.Command) || !utf8.ValidString(b.Cwd):
		return errors.New("command and directory must be UTF-8")
	case !filepath.IsAbs(b.Cwd):
		return fmt.Errorf("directory %q is not absolute", b.Cwd)
	case b.Restart != "" && b.Restart != session.RestartOnReboot:
		return fmt.Errorf("restart policy %q is not known", b.Restart)
	case s.holdsCommand(b.Argv, b.Command, b.Cwd):
		return errSecretGiven
	case b.Restart != "" && session.HidesCommand(b.Argv, b.Command, b.Cwd):
		return errSecretCommand // the policy could not be carried out
	}
	if err := s.admitSettings(b.TaskSettings); err != nil {
		return err
	}
	if d := permission.Decide(s.policy(), permission.Request{Tool: "Bash", Command: b.Command, Background: true}); d.Effect == permission.Deny {
		return fmt.Errorf("permission denied: %s", d.Reason)
	}
	return nil
}
