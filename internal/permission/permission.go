package permission

import (
	"path"
	"strings"
)

// MatcherVersion numbers the meaning of rule texts. It grows when a text begins
// to match less than before; a text never begins to allow more.
const MatcherVersion = 1

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
	toolAwait      = "Await"
	toolBashInput  = "BashInput"
	toolKillBash   = "KillBash"
	toolRead       = "Read"
	toolWrite      = "Write"
	toolEdit       = "Edit"
	toolGlob       = "Glob"
	toolGrep       = "Grep"
	toolTodoWrite  = "TodoWrite"
	toolAskUser    = "AskUser"
	toolNote       = "Note"
	toolHistory    = "History"
	toolMemory     = "memory"
	toolArtifact   = "Artifact"
)

// inline reports a call that keeps a text and touches no file.
func (r Request) inline() bool { return r.Tool == toolArtifact && r.Path == "" && r.RawPath == "" }

// Tools are the names of the built-in tools. The slice is the caller's.
func Tools() []string {
	return []string{
		toolAskUser, toolAwait, toolBash, toolBashInput, toolBashOutput, toolEdit, toolGlob, toolGrep, toolHistory, toolKillBash, toolNote,
		toolRead, toolTodoWrite, toolWrite, toolMemory, toolArtifact,
	}
}

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
	// Obeyed are absolute files that sessions are told later, in addition to the built-in names: a change of one asks in
	// every mode, reading it does not.
	Obeyed []string
	// Programs are absolute directories where programs are looked for by their names, those of PATH for instance. Where
	// one lies below HomeDir or inside, a change in it asks in every mode; running and reading what is there does not.
	Programs []string
	// Look says where a path, or with glob every path that matches a shell
	// pattern, leads now, links followed: what does not exist leads to itself. ok
	// is false when that cannot be told, or when there are too many. Commands that
	// only read run without a rule only where Look says that they stay inside; nil:
	// they ask. Rules on files and protected paths hold for what the words of commands
	// lead to; nil: links are not followed. A prefix rule for git push, pull, fetch or ls-remote covers NAME only
	// where Look finds no file NAME or NAME.git, which git may take for the
	// repository; nil: files are not looked for.
	Look func(path string, glob bool) (places []Place, ok bool)
	// HomeDir is what ~ means. Empty: rules under ~/ match nothing.
	HomeDir string
	// TempDir is the session's own directory for temporary files. It is not
	// protected, also where it lies in a protected directory.
	TempDir string
	// Own is a directory of the session's own, absolute, that lies in a protected one: what is in it is protected by its
	// name only. Empty: there is none.
	Own string
	// Links are directories with two names: a symbolic link, and where it leads.
	// Rules, protected paths and the home hold under both.
	Links []Link
	// Env is the environment that a command starts with. Words are compared with
	// the values of the variables in them. Nil: nothing is known about it, and
	// commands that only read ask.
	Env map[string]string
	// Changed are the names of the variables that are not as they were when the
	// session began. Where they choose programs, prefix rules ask.
	Changed []string

	owns                      []string   // Own under all its names
	protects, obeys, searches []segments // of Protected, of Obeyed, and of what counts of Programs; Decide prepares them
}

// Link is a directory, absolute, and the other name that symbolic links give it.
type Link struct{ Name, Target string }

// respelled gives the other names of an absolute path.
func respelled(links []Link, abs string) []string {
	var out []string
	for _, l := range links {
		for _, way := range [][2]string{{l.Name, l.Target}, {l.Target, l.Name}} {
			if !strings.HasPrefix(way[0], "/") || !strings.HasPrefix(way[1], "/") {
				continue
			}
			if rest, in := relative(way[0], abs); in {
				out = append(out, path.Join(way[1], rest))
			}
		}
	}
	return out
}

// spelledOut is the policy with the other names of what it protects.
func (p Policy) spelledOut() Policy {
	for _, prot := range p.Protected[:len(p.Protected):len(p.Protected)] {
		p.Protected = append(p.Protected, respelled(p.Links, prot)...)
	}
	for _, file := range p.Obeyed[:len(p.Obeyed):len(p.Obeyed)] {
		p.Obeyed = append(p.Obeyed, respelled(p.Links, file)...)
	}
	for _, dir := range p.Programs[:len(p.Programs):len(p.Programs)] {
		p.Programs = append(p.Programs, respelled(p.Links, dir)...)
	}
	if p.owns = nil; strings.HasPrefix(p.Own, "/") {
		p.owns = append(respelled(p.Links, p.Own), p.Own)
	}
	p.protects, p.obeys, p.searches = guarded(p.Protected), guarded(p.Obeyed), nil
	for _, dir := range p.Programs {
		if p.foundByName(dir) {
			p.searches = append(p.searches, guarded([]string{dir})...)
		}
	}
	return p
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
	Command    string // Bash: the command, byte for byte; BashInput: what is typed
	Background bool   // Bash: run_in_background; judged like a foreground command
	Reads      bool   // memory: the call only looks
	// Path is the file or directory a file tool works on: absolute, symbolic
	// links resolved. Empty for Glob and Grep means the working directory.
	Path string
	// RawPath is the path as the model wrote it. Deny and ask rules and
	// protected paths look at both, allow rules only at Path.
	RawPath string
	// GitDir: the file of Write or Edit lies in a directory that git takes for
	// its own, or that it takes for its own once the file is there.
	GitDir bool
	// Pattern is the glob of Glob and Grep; one that leaves Path asks.
	Pattern string
	// OwnTask is true when the task of BashOutput or Await is readable by this session,
	// or the task of KillBash belongs to it.
	OwnTask bool

	// Root, Cwd and HomeDir serve Matches; Decide fills them from the policy.
	Root, Cwd, HomeDir string

	env   map[string]string // of the policy
	links []Link
}

// Decision is the answer for one call.
type Decision struct {
	Effect Effect
	Rule   string // the rule that decided, or rules joined by commas; "" when mode or matcher did
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
	p = p.spelledOut()
	r.Root, r.Cwd, r.HomeDir, r.env, r.links = p.root(), p.Cwd, p.HomeDir, p.Env, p.Links
	if why := refusedBytes(r); why != "" {
		return Decision{Effect: Deny, Refused: true, Reason: why}
	}
	j := newJudge(p, r)
	for _, step := range []func() (Decision, bool){
		j.denied, j.planned, j.always, j.asked, j.exactText, j.unsure, j.allowed, j.readOnly,
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
