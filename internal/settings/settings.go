// Package settings reads configuration files: the user's, and the project's, which may only narrow.
//
// The model. The user's file may set everything. A project file comes with a repository that somebody else may have
// written: until a human trusts it, its deny and ask rules and its limits hold, and everything else in it is ignored
// and named in Loaded.Ignored, so that the caller can say so. Keys and addresses of model APIs are never read from
// files.
package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/pelletier/go-toml/v2"

	"github.com/perdure/perdure/permission"
	"github.com/perdure/perdure/session"
)

// maxFile bounds a configuration file, in bytes.
const maxFile = 1 << 20

// Settings is what files may say. Zero fields say nothing.
type Settings struct {
	Model        string      `toml:"model"`           // PROVIDER/MODEL
	Mode         string      `toml:"permission_mode"` // as --permission-mode
	MaxSteps     int         `toml:"max_turns"`
	MaxBudgetUSD float64     `toml:"max_budget_usd"`
	Secrets      []string    `toml:"secrets"` // names of environment variables whose values are replaced
	Protect      []string    `toml:"protect"` // absolute paths, or under ~, whose change always asks; Load makes them so
	Limits       Limits      `toml:"limits"`
	Permissions  Permissions `toml:"permissions"`
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
	Bounds  session.CommandLimits // what Limits say; of a project only what is tighter
	Ignored []string              // what an untrusted project file said in vain, in words
}

// Load reads the user's file and the project's. Missing files say nothing; a file that cannot be read or understood
// is an error, since ignoring a deny rule would widen.
func Load(userFile, projectDir string) (Loaded, error) {
	var l Loaded
	user, err := read(userFile)
	if err != nil {
		return l, err
	}
	l.Settings = user
	if l.Protect, err = protectEntries(user.Protect, userFile, ""); err != nil {
		return l, err
	}
	if user.Mode != "" {
		if _, err := permission.ParseMode(user.Mode); err != nil {
			return l, fmt.Errorf("configuration %s: %w", userFile, err)
		}
	}
	if l.Bounds, err = user.Limits.bounds(); err != nil {
		return l, fmt.Errorf("configuration %s: %w", userFile, err)
	}
	if err := l.rules(user.Permissions, permission.SourceUser, userFile); err != nil {
		return l, err
	}
	if projectDir == "" {
		return l, nil
	}
	file := filepath.Join(projectDir, ".perdure", "config.toml")
	project, err := read(file)
	if err != nil {
		return l, err
	}
	bounds, err := project.Limits.bounds()
	if err != nil {
		return l, fmt.Errorf("configuration %s: %w", file, err)
	}
	if project.Protect, err = protectEntries(project.Protect, file, projectDir); err != nil {
		return l, err
	}
	l.Bounds = l.Bounds.Narrow(bounds)
	l.narrow(project, file)
	narrowing := Permissions{Ask: project.Permissions.Ask, Deny: project.Permissions.Deny}
	return l, l.rules(narrowing, permission.SourceProject, file)
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

func read(file string) (s Settings, err error) {
	if file == "" {
		return s, nil
	}
	// A repository may hold a named pipe where the file should be: opening one must not wait for a writer.
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read configuration: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return s, errors.Join(fmt.Errorf("configuration %s is no regular file", file), err)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return s, fmt.Errorf("read configuration %s: %w", file, err)
	}
	if len(b) > maxFile {
		return s, fmt.Errorf("configuration %s is larger than %d bytes", file, maxFile)
	}
	dec := toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return s, fmt.Errorf("configuration %s: %w", file, plain(err))
	}
	return s, nil
}

func (l *Loaded) rules(p Permissions, source, file string) error {
	for _, list := range []struct {
		effect permission.Effect
		texts  []string
	}{{permission.Deny, p.Deny}, {permission.Ask, p.Ask}, {permission.Allow, p.Allow}} {
		for _, text := range list.texts {
			r, err := permission.ParseRule(list.effect, text, source)
			if err != nil {
				return fmt.Errorf("configuration %s: %w", file, err)
			}
			l.Rules = append(l.Rules, r)
		}
	}
	return nil
}

// narrow takes the limits of a project file, and names what is not taken.
func (l *Loaded) narrow(p Settings, file string) {
	if p.MaxSteps > 0 && (l.MaxSteps == 0 || p.MaxSteps < l.MaxSteps) {
		l.MaxSteps = p.MaxSteps
	}
	if p.MaxBudgetUSD > 0 && (l.MaxBudgetUSD == 0 || p.MaxBudgetUSD < l.MaxBudgetUSD) {
		l.MaxBudgetUSD = p.MaxBudgetUSD
	}
	l.Protect = append(l.Protect, p.Protect...)
	l.Secrets = append(l.Secrets, p.Secrets...)
	var vain []string
	if p.Model != "" {
		vain = append(vain, "model")
	}
	if p.Mode != "" {
		vain = append(vain, "permission_mode")
	}
	if n := len(p.Permissions.Allow); n > 0 {
		vain = append(vain, fmt.Sprintf("%d allow rules", n))
	}
	if len(vain) > 0 {
		l.Ignored = append(l.Ignored, fmt.Sprintf("%s: %s (a project may only narrow)", file, strings.Join(vain, ", ")))
	}
}

// plain words an error of the decoder in one line: what is wrong, and where.
func plain(err error) error {
	var missing *toml.StrictMissingError
	if errors.As(err, &missing) && len(missing.Errors) > 0 {
		first := missing.Errors[0]
		line, _ := first.Position()
		return fmt.Errorf("line %d: unknown setting %q", line, strings.Join(first.Key(), "."))
	}
	var bad *toml.DecodeError
	if errors.As(err, &bad) {
		line, column := bad.Position()
		return fmt.Errorf("line %d, column %d: %w", line, column, err)
	}
	return err
}
