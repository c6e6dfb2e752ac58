// Package settings reads configuration files: the user's, and the project's, which may only narrow.
//
// The model. The user's file may set everything. A project file comes with a repository that somebody else may have
// written: until a human trusts it, its deny and ask rules and its limits hold, and everything else in it is ignored
// and named in Loaded.Ignored, so that the caller can say so. Trusted, as it was when that was said, its allow rules hold
// too, and of model, mode, context and windows what the user's file leaves open; prices and knowledge are the user's
// alone, and no file sets bypassPermissions. Keys and addresses of model APIs are never read from files.
//
// What there is to set is in Keys, what the files say of it in Origins; Set changes the user's file by one setting.
package settings

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/permission"
)

// maxFile bounds a configuration file, in bytes.
const maxFile = 1 << 20

// Settings is what files may say. Zero fields say nothing.
type Settings struct {
	Model        string      `toml:"model"`           // PROVIDER/MODEL
	Mode         string      `toml:"permission_mode"` // as --permission-mode
	MaxSteps     int         `toml:"max_turns"`
	MaxBudgetUSD float64     `toml:"max_budget_usd"`
	RetryFor     string      `toml:"retry_for"` // as in 2h: how long a model that cannot be reached is waited for
	Secrets      []string    `toml:"secrets"`   // names of environment variables whose values are replaced
	Protect      []string    `toml:"protect"`   // absolute paths, or under ~, whose change always asks; Load makes them so
	Context      Context     `toml:"context"`
	Knowledge    Knowledge   `toml:"knowledge"`
	Files        Files       `toml:"files"` // of the user's file alone
	Limits       Limits      `toml:"limits"`
	Permissions  Permissions `toml:"permissions"`
	UI           UI          `toml:"ui"` // of the user's file alone
	// Prices are by PROVIDER/MODEL, for models that have none here or another one.
	Prices map[string]Price `toml:"prices"`
	// Windows are the sizes of models' context windows in tokens, by PROVIDER/MODEL.
	Windows map[string]int64 `toml:"windows"`
}

// Context says how full a model's window may get.
type Context struct {
	CompactAt float64 `toml:"compact_at"` // the part of the window at which the conversation is compacted
	Compact   *bool   `toml:"compact"`    // false: only when somebody asks
	// Instructions says whether AGENTS.md, or CLAUDE.md, is read; nil is true.
	Instructions *bool `toml:"instructions"`
}

// Instructed reports whether sessions read the files that people keep for agents.
func (c Context) Instructed() bool { return c.Instructions == nil || *c.Instructions }

// Knowledge says where the memory and the journal of a project lie.
type Knowledge struct {
	// Project is consent that they lie in the project: on, off, or ask, which is no consent where nobody can be asked.
	// Empty: nothing was said.
	Project string `toml:"project"`
	// Session is how long the turns of a session must have taken for it to leave a handoff at its end, as in 15m; empty: 15
	// minutes.
	Session string `toml:"min_session"`
	// Handoff says what a new session does with the handoff that an earlier one left: continue, ask or ignore; empty:
	// continue.
	Handoff string `toml:"handoff"`
	// Commit has the files of the project's knowledge committed, and them alone, when a session leaves them.
	Commit bool `toml:"commit"`
}

// Files says what is kept of the files that sessions work on.
type Files struct {
	Capture *bool    `toml:"capture"`          // false: nothing, so that there is no undo; nil is true
	Keep    []string `toml:"keep"`             // names of directories that are kept although they could be made again
	MaxFile int64    `toml:"max_file_mb"`      // a larger one is not kept; 0: 100
	Max     int64    `toml:"max_mb"`           // a directory with more is not captured; 0: 2048
	Count   int64    `toml:"max_files"`        // a directory with more is not captured; 0: 200,000
	Quota   int64    `toml:"quota_mb"`         // all that is kept may take so much; 0: 20,480
	Session int64    `toml:"session_quota_mb"` // what one session holds alone may take so much; 0: as much as all
}

// Captured reports whether files are kept.
func (f Files) Captured() bool { return f.Capture == nil || *f.Capture }

// MinSession is how long the turns of a session must have taken for it to leave a handoff at its end; nil: nothing is said.
func (s Settings) MinSession() *time.Duration {
	d, err := time.ParseDuration(s.Knowledge.Session)
	if err != nil {
		return nil // check has found none but the empty one
	}
	return &d
}

// InProject reports consent that knowledge lies in the project, without anybody being asked.
func (k Knowledge) InProject() bool { return k.Project == "on" }

// Asks reports that the user is to be asked, once for each project.
func (k Knowledge) Asks() bool { return k.Project == "ask" }

// UI says what the terminal is told while a session is on the screen; nil is true.
type UI struct {
	Title  *bool `toml:"title"`  // its title follows the session
	Bell   *bool `toml:"bell"`   // it rings when the session waits, or is done, and nobody looks
	Notify *bool `toml:"notify"` // the desktop shows a notification then
	Status *bool `toml:"status"` // terminals that show a program's status are told it
	Rewind *bool `toml:"rewind"` // esc twice goes back to an earlier turn
	Titles *bool `toml:"titles"` // the model is asked for a title of a session that has none
	// Passthrough has tmux hand notifications and status on to the terminal around it; its option allow-passthrough
	// must be on.
	Passthrough bool `toml:"tmux_passthrough"`
}

// Switches are the settings of a UI with what nobody said filled in.
type Switches struct{ Title, Bell, Notify, Status, Rewind, Titles, Passthrough bool }

// Switches gives what is on.
func (u UI) Switches() Switches {
	on := func(b *bool) bool { return b == nil || *b }
	return Switches{on(u.Title), on(u.Bell), on(u.Notify), on(u.Status), on(u.Rewind), on(u.Titles), u.Passthrough}
}

// Permissions are lists of rules, as in Bash(git log:*).
type Permissions struct {
	Allow []string `toml:"allow"`
	Ask   []string `toml:"ask"`
	Deny  []string `toml:"deny"`
}

// Loaded is what all files say together.
type Loaded struct {
	Settings
	Rules   []permission.Rule
	Bounds  command.Limits // what Limits say; of a project only what is tighter
	Retry   *time.Duration // what RetryFor says; nil: nothing
	Ignored []string       // what a project's file said in vain, in words
	// Untrusted are the projects' files that would say more if a person trusted them, the nearest first.
	Untrusted []Project
	Unknown   []string // rules for tools that there are none of, in words
}

// Load reads the user's file with the rules that are remembered beside it, and those of a directory's project: its own
// and those of the directories above it, whose rules and limits hold below them. Missing files say nothing; a file that
// cannot be read or understood is an error, which wraps ErrConfig, since ignoring a deny rule would widen.
func Load(userFile, projectDir string) (Loaded, error) {
	user, err := read(userFile)
	if err != nil {
		return Loaded{}, err
	}
	l, err := user.loaded()
	if err != nil {
		return l, err
	}
	if real, err := filepath.EvalSymlinks(projectDir); projectDir != "" && err == nil {
		projectDir = real
	}
	l.remembered(AllowedFile(userFile), projectDir)
	if projectDir == "" {
		return l, nil
	}
	trust := readTrust(userFile)
	if trust.err != nil {
		l.Ignored = append(l.Ignored, fmt.Sprintf("no project is trusted: %v", trust.err))
	}
	for _, file := range projectFiles(projectDir) {
		if err := l.project(file, projectDir, trust); err != nil {
			return l, err
		}
	}
	return l, nil
}

// loaded is what the user's file says.
func (s *source) loaded() (l Loaded, err error) {
	l.Settings = s.Settings
	if l.Protect, err = protectEntries(s.Protect, s.file, ""); err != nil {
		return l, err
	}
	if l.Bounds, err = s.Limits.bounds(); err != nil {
		return l, err // check has found none
	}
	if l.Retry, err = s.retryFor(); err != nil {
		return l, err // check has found none
	}
	return l, l.rules(*s, s.Permissions, permission.SourceUser, "")
}

// project takes what one project's file may say.
func (l *Loaded) project(file, dir string, trust trustStore) error {
	p, told, err := readProject(file)
	if err != nil {
		return err
	}
	if told != "" {
		l.Ignored = append(l.Ignored, told)
		return nil
	}
	bounds, err := p.Limits.bounds()
	if err != nil {
		return err // check has found none
	}
	if p.Protect, err = protectEntries(p.Protect, file, filepath.Dir(filepath.Dir(file))); err != nil {
		return err
	}
	l.Bounds = l.Bounds.Narrow(bounds)
	patience, err := p.retryFor()
	if err != nil {
		return err // check has found none
	}
	if patience != nil && (l.Retry == nil || *patience < *l.Retry) {
		l.Retry = patience
	}
	l.narrow(p.Settings)
	given := trust.trusts(file, p.text)
	l.widen(p, given)
	above := filepath.Dir(filepath.Dir(file))
	if above == dir {
		above = ""
	}
	// Allow rules that do not hold are read all the same: trusted, one that cannot be read would stop every later run.
	allowed := &Loaded{}
	if given == trustGiven {
		allowed = l
	}
	if err := allowed.rules(p, Permissions{Allow: p.Permissions.Allow}, permission.SourceTrusted, above); err != nil {
		return err
	}
	return l.rules(p, Permissions{Ask: p.Permissions.Ask, Deny: p.Permissions.Deny}, permission.SourceProject, above)
}

// retryFor reads how long a model is waited for; nil: the file says nothing.
func (s Settings) retryFor() (*time.Duration, error) {
	if s.RetryFor == "" {
		return nil, nil
	}
	d, err := time.ParseDuration(s.RetryFor)
	if err != nil || d < 0 {
		return nil, fmt.Errorf("retry_for %q is no span of time: write 30m or 24h, or 0 to try once", s.RetryFor)
	}
	return &d, nil
}

// UserFile is where the user's configuration is: under the XDG configuration directory. Empty if there is none.
func UserFile(getenv func(string) string) string {
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "perdure", "config.toml")
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".config", "perdure", "config.toml")
	}
	return ""
}

// rules adds a file's rules. Those of a directory above are anchored there.
func (l *Loaded) rules(s source, p Permissions, from, above string) error {
	for _, list := range []struct {
		effect permission.Effect
		texts  []string
	}{{permission.Deny, p.Deny}, {permission.Ask, p.Ask}, {permission.Allow, p.Allow}} {
		for _, line := range list.texts {
			texts, err := permission.ParseRules(line)
			if err != nil {
				return s.at(string(list.effect), line, "%v", err)
			}
			for _, text := range texts {
				switch told, slip := UnknownTool(text); {
				case slip:
					return s.at(string(list.effect), line, "%s", told)
				case told != "":
					l.Unknown = append(l.Unknown, s.at(string(list.effect), line, "%s", told).Error())
				}
				r, err := permission.ParseRule(list.effect, text, from)
				if err != nil {
					return s.at(string(list.effect), line, "%v", err)
				}
				if above != "" {
					r = permission.Anchor(r, above)
				}
				if !slices.Contains(l.Rules, r) {
					l.Rules = append(l.Rules, r)
				}
			}
		}
	}
	return nil
}

// narrow takes the limits of a project file.
func (l *Loaded) narrow(p Settings) {
	if p.MaxSteps > 0 && (l.MaxSteps == 0 || p.MaxSteps < l.MaxSteps) {
		l.MaxSteps = p.MaxSteps
	}
	if p.MaxBudgetUSD > 0 && (l.MaxBudgetUSD == 0 || p.MaxBudgetUSD < l.MaxBudgetUSD) {
		l.MaxBudgetUSD = p.MaxBudgetUSD
	}
	l.Protect = append(l.Protect, p.Protect...)
	l.Secrets = append(l.Secrets, p.Secrets...)
}
