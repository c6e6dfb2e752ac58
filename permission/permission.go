package permission

import (
	"errors"
	"fmt"
	"strings"
)

// MatcherVersion numbers the meaning of rule texts. It grows when a text begins
// to match less than before; a text never begins to allow more.
const MatcherVersion = 1

// ErrMode is returned for a permission mode that does not exist.
var ErrMode = errors.New("unknown permission mode")

// Mode says what happens to a call that no rule matches.
type Mode string

// The modes, from the most careful to the least. The zero value and any unknown
// value act as ModeDefault.
const (
	// ModePlan is ModeDefault, but Bash, Write and Edit are denied.
	ModePlan Mode = "plan"
	// ModeDefault allows Read, Glob and Grep inside, TodoWrite, AskUser, and
	// BashOutput and KillBash of own tasks; all else asks.
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

// Effect is what a rule wants and what a decision says.
type Effect string

// The effects. Deny is stronger than Ask, Ask is stronger than Allow.
const (
	Allow Effect = "allow"
	Ask   Effect = "ask"
	Deny  Effect = "deny"
)

// The names of the built-in tools, as models know them. Any other name is a
// foreign tool: it asks until a rule allows it.
const (
	toolBash       = "Bash"
	toolBashOutput = "BashOutput"
	toolKillBash   = "KillBash"
	toolRead       = "Read"
	toolWrite      = "Write"
	toolEdit       = "Edit"
	toolGlob       = "Glob"
	toolGrep       = "Grep"
	toolTodoWrite  = "TodoWrite"
	toolAskUser    = "AskUser"
)

// Policy is everything a decision depends on but the call itself. The zero value
// asks for everything that touches a file or runs a command.
type Policy struct {
	Mode   Mode
	Rules  []Rule // in any order: the strongest effect wins, not the first
	Grants []Rule // remembered answers; judged like rules
	// Root is the directory the session was opened in. Relative rule patterns
	// are anchored there and it counts as inside, so that a cd of the model
	// moves neither. Empty means Cwd.
	Root string
	// Cwd is where the next command runs: relative words of commands and
	// relative raw paths are resolved against it.
	Cwd string
	// Dirs are added directories that count as inside, absolute.
	Dirs []string
	// Protected are absolute files or directories that ask in every mode when
	// written to or named by a command, in addition to the built-in names.
	Protected []string
	// HomeDir is what ~ means. Empty: rules under ~/ match nothing.
	HomeDir string
}

func (p Policy) root() string {
	if p.Root != "" {
		return p.Root
	}
	return p.Cwd
}

// Request is one tool call, reduced to what a decision needs.
type Request struct {
	Tool       string // name as the model wrote it
	Command    string // Bash: the command, byte for byte
	Background bool   // Bash: run_in_background; judged like a foreground command
	// Path is the file or directory a file tool works on: absolute, symbolic
	// links resolved. Empty for Glob and Grep means the working directory.
	Path string
	// RawPath is the path as the model wrote it. Deny and ask rules and
	// protected paths look at both, allow rules only at Path.
	RawPath string
	// Pattern is the glob of Glob and Grep; one that leaves Path asks.
	Pattern string
	// OwnTask is true when the task of BashOutput is readable by this session,
	// or the task of KillBash belongs to it.
	OwnTask bool

	// Root, Cwd and HomeDir serve Matches; Decide fills them from the policy.
	Root, Cwd, HomeDir string
}

// Decision is the answer for one call.
type Decision struct {
	Effect Effect
	Rule   string // text of the rule that decided; "" when mode or matcher did
	Source string // source of that rule
	Reason string // plain words for the model and for a human
	// Refused: the bytes were refused before parsing. Effect is Deny and no
	// approval can help.
	Refused bool
	// Always: asks in every mode and whatever is granted. A human's approval
	// covers one call only; no session grant should be offered.
	Always bool
}

// Decide judges one call. It never panics, and its cost is bounded by the sizes
// of the command (16 KiB) and of the rule list.
func Decide(p Policy, r Request) Decision {
	r.Root, r.Cwd, r.HomeDir = p.root(), p.Cwd, p.HomeDir
	if why := refusedBytes(r); why != "" {
		return Decision{Effect: Deny, Refused: true, Reason: why}
	}
	j := newJudge(p, r)
	for _, step := range []func() (Decision, bool){
		j.denied, j.planned, j.always, j.asked, j.exactText, j.unsure, j.allowed,
	} {
		if d, ok := step(); ok {
			return d
		}
	}
	d := byMode(p, r)
	if d.Effect == Ask && j.why != "" {
		d.Reason = j.why
	}
	return d
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
	case toolTodoWrite, toolAskUser:
		return allow(r.Tool + " touches nothing outside the session")
	case toolBashOutput, toolKillBash:
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
	case toolRead, toolGlob, toolGrep, toolWrite, toolEdit:
		if oddPath(r) {
			return why + ": its path or pattern is not plain"
		}
		if r.Path != "" && !strings.HasPrefix(r.Path, "/") {
			return why + ": its path is not absolute"
		}
	}
	return why
}
