package permission

import (
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/invalid"
	"github.com/perdure/perdure/internal/session"
)

// ErrMode is returned for a permission mode that does not exist.
var ErrMode = invalid.New("unknown permission mode")

// Mode says what happens to a call that no rule matches.
type Mode = session.Mode

// The modes, from the most careful to the least. The zero value and any unknown
// value act as ModeDefault.
const (
	// ModePlan is ModeDefault, but Write, Edit, changes of the memory, and Bash that
	// does more than read are denied.
	ModePlan Mode = "plan"
	// ModeDefault allows Read, Glob, Grep and commands that only read inside,
	// TodoWrite, Note, History, AskUser, memory, Artifact of a file inside or of no file, and
	// BashOutput, Await and KillBash of own tasks; all else asks.
	ModeDefault Mode = "default"
	// ModeAcceptEdits also allows Write and Edit inside.
	ModeAcceptEdits Mode = "acceptEdits"
	// ModeBypass allows. Deny rules, ask rules, deciding commands and protected
	// paths still hold.
	ModeBypass Mode = "bypassPermissions"
)

// ParseMode returns the mode of that exact name; the empty name is ModeDefault.
// Its error wraps ErrMode.
func ParseMode(name string) (Mode, error) {
	switch m := Mode(name); m {
	case ModeDefault, ModeAcceptEdits, ModePlan, ModeBypass:
		return m, nil
	case "":
		return ModeDefault, nil
	}
	return "", fmt.Errorf("parse mode %q: %w (default, acceptEdits, plan, bypassPermissions)", name, ErrMode)
}

// byMode answers for a call that no rule matches.
func byMode(p Policy, r Request) Decision {
	mode := p.Mode
	switch mode {
	case ModeAcceptEdits, ModePlan, ModeBypass:
	default:
		mode = ModeDefault
	}
	allow := func(why string) Decision { return Decision{Effect: Allow, Reason: why} }
	if mode == ModeBypass {
		return allow("mode bypassPermissions allows what no rule forbids")
	}
	switch r.Tool {
	case toolTodoWrite, toolAskUser, toolNote, toolHistory:
		return allow(r.Tool + " touches nothing outside the session")
	case toolArtifact:
		if r.inline() {
			return allow("it keeps the model's own words with the session")
		}
		if readsInside(p, r) {
			return allow("reads inside the session's directories")
		}
	case toolMemory:
		return allow("memory touches nothing but its own files")
	case toolBashOutput, toolAwait, toolKillBash:
		if r.OwnTask {
			return allow("the task belongs to this session")
		}
	case toolRead, toolGlob, toolGrep:
		if readsInside(p, r) {
			return allow("reads inside the session's directories")
		}
	case toolWrite, toolEdit:
		if mode == ModeAcceptEdits && inside(p, r.Path) && !oddPath(r) {
			return allow("mode acceptEdits allows edits inside the session's directories")
		}
	}
	return Decision{Effect: Ask, Reason: noRule(mode, r)}
}

func noRule(mode Mode, r Request) string {
	why := "no rule allows this " + r.Tool + " call in mode " + string(mode)
	switch r.Tool {
	case toolRead, toolGlob, toolGrep, toolWrite, toolEdit, toolArtifact:
		if oddPath(r) {
			return why + ": its path or pattern is not plain"
		}
		if r.Path != "" && !strings.HasPrefix(r.Path, "/") {
			return why + ": its path is not absolute"
		}
	}
	return why
}
