package run

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/background"
	"github.com/perdure/perdure/internal/cli/output"
	"github.com/perdure/perdure/internal/cli/sessions"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/store"
)

// Flags are the flags of a run.
type Flags struct {
	print        bool
	cont         bool
	resume       string
	sessionID    string
	name         string
	newest       bool // resume is what -c has found
	fork         bool
	conversation bool // the fork works in the session's directory
	branched     bool // the fork has a directory of its own: its files are what they are to be
	isolate      bool
	format       string
	verbose      bool
	model        string
	mode         string
	bypass       bool
	allowed      []string
	disallowed   []string
	dirs         []string
	maxSteps     int
	maxBudget    budget
	retryFor     time.Duration
	compactAt    float64
	noCompact    bool
	handoff      string
	labels       []string
	state        []string
	cwd          string
	onLost       string
	files        string // of a session that goes on: keep, restore or ask
	appendSystem string
	wait         bool
	detach       bool
	inline       bool
	attach       bool   // another process keeps the session
	prompt       string // of a session that goes on, on the screen
	answer       bool   // what waits has the keys at first
	words        string // that are looked for where a session is picked
	nested       bool   // a screen lies below that listens to signals
	atMost       int
	Changed      func(string) bool // reports whether a flag was given
	unknown      []string          // rules for tools that there are none of, in words
	watched      *watched          // of a supervisor
	root         string            // the directory whose settings were read for the run
}

// Pick is the value of --resume without one.
const Pick = "<list>"

// Register gives them to a command.
func (f *Flags) Register(c *cobra.Command) {
	fs := c.Flags()
	fs.SortFlags = false
	fs.SetNormalizeFunc(otherSpelling)
	fs.BoolVarP(&f.print, "print", "p", false, "run the prompt and print the outcome; on a terminal, what happens as it happens")
	fs.BoolVarP(&f.cont, "continue", "c", false, "go on with the newest session of this directory; on the screen, the newest that somebody wrote in there")
	fs.StringVarP(&f.resume, "resume", "r", "", "go on with a session, by `ID` or name")
	fs.Lookup("resume").NoOptDefVal = Pick
	fs.StringVar(&f.sessionID, "session-id", "", "open a new session with this `ID` (letters, digits and . _ -)")
	fs.StringVar(&f.name, "name", "", "`NAME` of the new session, or of the fork")
	fs.BoolVar(&f.wait, "wait", false, "sleep while the session awaits something or needs a human, and go on when it comes")
	fs.BoolVar(&f.detach, "detach", false, "let it run on without this terminal, as perdure start does")
	fs.IntVar(&f.atMost, "at-most", background.MostByDefault, "with --detach: begin while fewer than `N` background sessions work")
	fs.BoolVar(&f.fork, "fork-session", false, "with -c or -r: fork the session and go on with the fork, in a directory of its own with the session's files")
	fs.BoolVar(&f.conversation, "conversation", false, "with --fork-session: fork the conversation alone; the fork works in the session's directory")
	fs.BoolVar(&f.isolate, "isolate", false, "the new session works on a copy of this directory, of its own; a git worktree where it is a repository")
	fs.StringVar(&f.format, "output-format", output.Text, "`FORMAT` of the outcome: text, json, stream-json or claude-stream-json")
	fs.BoolVar(&f.verbose, "verbose", false, "with stream-json: the system prompt and the tools' descriptions too")
	fs.StringVar(&f.model, "model", "", "`PROVIDER/MODEL`, as in anthropic/claude-sonnet-5-5, openai/…, ollama/…, scripted/FILE")
	fs.Var(mode{&f.mode}, "permission-mode", "`MODE`: default, acceptEdits, plan or bypassPermissions")
	fs.BoolVar(&f.bypass, "dangerously-skip-permissions", false, "the same as --permission-mode bypassPermissions")
	fs.StringArrayVar(&f.allowed, "allowed-tools", nil, "`RULES` to allow, as in \"Read,Bash(git log:*)\"; also --allowedTools")
	fs.StringArrayVar(&f.disallowed, "disallowed-tools", nil, "`RULES` to deny; also --disallowedTools")
	fs.StringArrayVar(&f.dirs, "add-dir", nil, "another `DIR` that the agent may work in")
	fs.StringVar(&f.cwd, "cwd", "", "with -c or -r: go on in this `DIR`, if the session's own was moved or is gone")
	fs.StringVar(&f.files, "files", filesKeep, "with -c or -r: `keep` the files as they are, restore what they were when the session was left, or ask")
	fs.StringVar(&f.onLost, "on-lost", session.OnLostTell, "an interrupted act whose outcome nobody can tell: `tell` (how its changes of files are taken back), ask (halt until you have said whether they are), rollback (they are), or keep them")
	fs.IntVar(&f.maxSteps, "max-turns", 0, "stop after `N` steps (model calls) of a turn; exit 6, --resume allows as many again; 0: no limit")
	fs.Var(&f.maxBudget, "max-budget-usd", "stop before the session has spent `X` US dollars; exit 6; 0 or none: no limit")
	fs.DurationVar(&f.retryFor, "retry-for", 24*time.Hour, "wait up to this long for a model that cannot be reached, as in 30m; 0 tries once")
	fs.Float64Var(&f.compactAt, "compact-at", 0.8, "compact the conversation when it fills this `PART` of the model's context window")
	fs.BoolVar(&f.noCompact, "no-compact", false, "stop there instead; perdure compact ID makes room then")
	fs.StringArrayVar(&f.labels, "label", nil, "`KEY=VALUE` to find the new session by; may be repeated")
	fs.StringArrayVar(&f.state, "state", nil, "`KEY=VALUE` of the new session's scratch state, which the model is given; may be repeated")
	fs.StringVar(&f.handoff, "handoff", "continue", "`continue` from the handoff that an earlier session in this directory left, ask at the terminal, or ignore it")
	fs.BoolVar(&f.inline, "inline", false, "on the screen: what is finished goes into the terminal's scrollback, and only a few lines are live")
	fs.StringVar(&f.appendSystem, "append-system-prompt", "", "`TEXT` added to a new session's system prompt")
}

// otherSpelling gives the name of a flag that is also known by another one.
func otherSpelling(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	switch name {
	case "allowedTools":
		name = "allowed-tools"
	case "disallowedTools":
		name = "disallowed-tools"
	}
	return pflag.NormalizedName(name)
}

// check refuses what makes no sense together.
func (f *Flags) check() error {
	switch {
	case f.Changed("resume") && f.resume == "":
		return app.UsageError("--resume needs a session: what it was given is empty")
	case f.cont && f.resume != "":
		return app.UsageError("--continue and --resume exclude each other")
	case f.fork && !f.cont && f.resume == "":
		return app.UsageError("--fork-session needs --continue or --resume")
	case f.conversation && !f.fork:
		return app.UsageError("--conversation says what of a session is forked: it goes with --fork-session")
	case f.fork && f.files == filesAsk && !f.conversation:
		return app.UsageError("--files ask is about the session's directory, and the fork has one of its own: say --files keep or restore, or --conversation")
	case f.isolate && (f.cont || f.resume != ""):
		return app.UsageError("--isolate is for a new session: --fork-session gives a branch of one that is there a directory of its own")
	case f.sessionID != "" && (f.cont || f.resume != "") && !f.fork:
		return app.UsageError("--session-id opens a new session: it goes with --resume only to name a fork")
	case f.Changed("session-id") && !store.ValidID(f.sessionID):
		return store.CheckID(f.sessionID)
	case f.Changed("append-system-prompt") && (f.cont || f.resume != ""):
		return app.UsageError("--append-system-prompt is for a new session: the system prompt of one that goes on, or of its fork, stays as it is; say it in the prompt instead")
	case f.Changed("name") && (f.cont || f.resume != "") && !f.fork:
		return app.UsageError("--name names a new session or a fork: perdure rename ID NAME renames one")
	case !slices.Contains(output.Formats, f.format):
		return app.UsageError("output format %q: use one of %s", f.format, strings.Join(output.Formats, ", "))
	case f.maxSteps < 0:
		return app.UsageError("--max-turns cannot be negative")
	case f.bypass && f.mode != "" && f.mode != string(permission.ModeBypass):
		return app.UsageError("--dangerously-skip-permissions and --permission-mode %s contradict each other: give one of them", f.mode)
	case f.cwd != "" && !f.cont && f.resume == "":
		return app.UsageError("--cwd needs --continue or --resume: a new session works where the command is started")
	case f.Changed("on-lost") && session.CheckOnLost(f.onLost) != nil:
		return app.UsageError("--on-lost %v", session.CheckOnLost(f.onLost))
	case !slices.Contains([]string{"", filesKeep, filesRestore, filesAsk}, f.files):
		return app.UsageError("--files %q: use keep, restore or ask", f.files)
	case f.Changed("files") && !f.cont && f.resume == "":
		return app.UsageError("--files needs --continue or --resume: a new session has left no files")
	case f.files != filesKeep && f.files != "" && f.cwd != "":
		return app.UsageError("--files %s is about the session's own directory, --cwd about another one: give one of them", f.files)
	case !slices.Contains([]string{"", "continue", "ask", "ignore"}, f.handoff):
		return app.UsageError("--handoff %q: use continue, ask or ignore", f.handoff)
	case f.Changed("handoff") && (f.cont || f.resume != ""):
		return app.UsageError("--handoff is for a new session: one that goes on has begun already")
	case len(f.labels)+len(f.state) > 0 && (f.cont || f.resume != ""):
		return app.UsageError("--label and --state are for a new session: perdure label ID and perdure state ID change one that is there")
	case f.Changed("compact-at") && !settings.CompactAtFits(f.compactAt):
		return app.UsageError("--compact-at %g: want %s", f.compactAt, settings.CompactAtBounds)
	case f.atMost < 0 || f.Changed("at-most") && f.atMost == 0:
		return app.UsageError("--at-most %d: want 1 or more", f.atMost)
	case f.Changed("at-most") && !f.detach:
		return app.UsageError("--at-most is for sessions in the background: give --detach too")
	case f.retryFor < 0:
		return app.UsageError("--retry-for cannot be negative")
	}
	if f.Changed("name") {
		if err := sessions.CheckName(f.name); err != nil {
			return err
		}
	}
	if f.bypass {
		f.mode = string(permission.ModeBypass)
	}
	if f.mode != "" {
		if _, err := permission.ParseMode(f.mode); err != nil {
			return err
		}
	}
	return nil
}

// rules are the flags' permission rules.
func (f *Flags) rules() (out []session.Rule, err error) {
	for _, l := range []struct {
		effect permission.Effect
		flag   string
		lists  []string
	}{{permission.Deny, "disallowed-tools", f.disallowed}, {permission.Allow, "allowed-tools", f.allowed}} {
		for _, list := range l.lists {
			texts, err := permission.ParseRules(list)
			if err != nil {
				return nil, err
			}
			for _, t := range texts {
				switch told, slip := settings.UnknownTool(t); {
				case slip:
					return nil, app.UsageError("--%s: %s", l.flag, told)
				case told != "":
					f.unknown = append(f.unknown, told)
				}
				if _, err := permission.ParseRule(l.effect, t, permission.SourceFlag); err != nil {
					return nil, err
				}
				out = append(out, session.Rule{Effect: string(l.effect), Text: t, Source: permission.SourceFlag})
			}
		}
	}
	return out, nil
}

// directories are those that a flag names, absolute and without symbolic links: what is asked about has none either.
func directories(flag string, dirs []string, base string) ([]string, error) {
	var out []string
	for _, d := range dirs {
		abs := d
		if !filepath.IsAbs(d) {
			abs = filepath.Join(base, d)
		}
		real, err := filepath.EvalSymlinks(abs)
		if err == nil && !app.IsDir(real) {
			err = syscall.ENOTDIR
		}
		if err != nil {
			return nil, &app.ExitError{Code: app.ExitUsage, Text: fmt.Sprintf("%s %s: %v", flag, d, app.CauseOf(err)), Hint: "make it, or name another one"}
		}
		out = append(out, real)
	}
	return out, nil
}

// mode is the value of --permission-mode: given twice, both must say the same.
type mode struct{ name *string }

func (m mode) String() string {
	if m.name == nil {
		return ""
	}
	return *m.name
}

func (mode) Type() string { return "string" }

func (m mode) Set(text string) error {
	if *m.name != "" && *m.name != text {
		return fmt.Errorf("it was %q before: give one mode", *m.name)
	}
	*m.name = text
	return nil
}
