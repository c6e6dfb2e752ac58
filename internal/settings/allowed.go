package settings

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/plain"
)

// AllowedFile is where perdure keeps the rules that people had it remember beyond a session: beside the user's
// configuration, which it never writes. Empty if there is none.
func AllowedFile(userFile string) string {
	if userFile == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(userFile), "allowed.toml")
}

// Remembered is a rule that a person had perdure remember. It allows, as an allow rule of the user's configuration does:
// deny and ask rules, and what is protected, win over it.
type Remembered struct {
	Rule string `toml:"rule"`
	// Project is the directory of the sessions that it holds in, as they name it: absolute, without links. It holds while
	// they work there or below. Empty: it holds in every session.
	Project string    `toml:"project,omitempty"`
	By      string    `toml:"by,omitempty"`
	At      time.Time `toml:"at"`
}

// Source is where the rule comes from, as decisions tell it.
func (r Remembered) Source() string {
	if r.Project != "" {
		return permission.SourceHere
	}
	return permission.SourceRemembered
}

// IsRemembered reports whether the source of a session's rule is a remembered one.
func IsRemembered(source string) bool {
	return source == permission.SourceRemembered || source == permission.SourceHere
}

// allowed is what the file holds.
type allowed struct {
	Allow []Remembered `toml:"allow"`
}

// maxRemembered bounds the rules that are remembered.
const maxRemembered = 1000

// allowedHead stands at the beginning of the file.
const allowedHead = `# Rules that people answered "project" or "user" to. perdure writes this file; it may be edited and removed.
# perdure permissions list shows them, perdure permissions forget RULE takes one back.

`

// ReadAllowed reads the rules that are remembered, the oldest first. A file that is missing has none. One that cannot be
// read, or says what this version does not understand, is an error that wraps ErrConfig: none of it holds.
func ReadAllowed(file string) ([]Remembered, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.OpenFile(file, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, errors.Join(&fault{file: file, text: "it cannot be read"}, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(&fault{file: file, text: "it is no regular file"}, err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil || len(text) > maxFile {
		return nil, errors.Join(&fault{file: file, text: fmt.Sprintf("it cannot be read, or is larger than %d bytes", maxFile)}, err)
	}
	var a allowed
	err = toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&a)
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) && len(unknown.Errors) > 0 { // a newer version may have narrowed a rule by it
		line, _ := unknown.Errors[0].Position()
		return nil, &fault{file, line, fmt.Sprintf("this version does not know %s", plain.Shown(strings.Join(unknown.Errors[0].Key(), "."), 100))}
	}
	if err != nil {
		s := source{file: file, text: text}
		return nil, s.explain(err)
	}
	for _, r := range a.Allow {
		if err := r.check(); err != nil {
			return nil, &fault{file: file, text: err.Error()}
		}
	}
	return a.Allow, nil
}

func (r Remembered) check() error {
	if r.Project != "" && (!filepath.IsAbs(r.Project) || filepath.Clean(r.Project) != r.Project) {
		return fmt.Errorf("project %s is no absolute path", plain.Shown(r.Project, 200))
	}
	_, err := permission.ParseRule(permission.Allow, r.Rule, r.Source())
	return err
}

// Remember adds a rule to the file, which it makes if it is missing; added is false for one that is there already,
// which stays as it is. Others may do the same at once. Errors: ErrConfig for a file that is not understood, which is
// left alone, and of the disk.
func Remember(ctx context.Context, file string, r Remembered) (added bool, err error) {
	if file == "" {
		return false, fmt.Errorf("%w: there is no place for remembered rules: neither XDG_CONFIG_HOME nor HOME is set", ErrConfig)
	}
	if err := r.check(); err != nil {
		return false, fmt.Errorf("remember %s: %w", plain.Shown(r.Rule, 200), err)
	}
	err = changeAllowed(ctx, file, func(list []Remembered) ([]Remembered, error) {
		if slices.ContainsFunc(list, func(o Remembered) bool { return o.Rule == r.Rule && o.Project == r.Project }) {
			return nil, nil
		}
		if len(list) >= maxRemembered {
			return nil, fmt.Errorf("%w: %d rules are remembered, which is as many as there may be", ErrConfig, len(list))
		}
		r.At = r.At.UTC().Truncate(time.Second)
		added = true
		return append(list, r), nil
	})
	return added && err == nil, err
}

// Forget takes the rules that match out of the file, and returns them.
func Forget(ctx context.Context, file string, match func(Remembered) bool) (gone []Remembered, err error) {
	if _, err := os.Stat(file); file == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	err = changeAllowed(ctx, file, func(list []Remembered) ([]Remembered, error) {
		left := []Remembered{}
		for _, r := range list {
			if match(r) {
				gone = append(gone, r)
			} else {
				left = append(left, r)
			}
		}
		if len(gone) == 0 {
			return nil, nil
		}
		return left, nil
	})
	if err != nil {
		return nil, err
	}
	return gone, nil
}

// changeAllowed reads the file, has it changed and writes it whole, while no other process does. nil from change leaves
// it alone.
func changeAllowed(ctx context.Context, file string, change func([]Remembered) ([]Remembered, error)) error {
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("remembered rules: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "allowed.lock"), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("remembered rules: %w", err)
	}
	defer lock.Close() // which gives the lock back
	if err := lockFile(ctx, lock); err != nil {
		return fmt.Errorf("remembered rules: %s: %w", lock.Name(), err)
	}
	list, err := ReadAllowed(file)
	if err != nil {
		return err
	}
	if list, err = change(list); err != nil || list == nil {
		return err
	}
	text, err := toml.Marshal(allowed{Allow: list})
	if err != nil {
		return fmt.Errorf("remembered rules: %w", err)
	}
	if len(allowedHead)+len(text) > maxFile {
		return fmt.Errorf("%w: %s would be larger than %d bytes", ErrConfig, file, maxFile)
	}
	if err := replaceFile(file, append([]byte(allowedHead), text...)); err != nil {
		return fmt.Errorf("remembered rules: %w", err)
	}
	return nil
}

// Another process holds the lock for as long as it writes one file.
const (
	lockPatience = 10 * time.Second
	lockPause    = 5 * time.Millisecond
)

var errBusy = errors.New("another process holds the lock")

func lockFile(ctx context.Context, f *os.File) error {
	ctx, cancel := context.WithTimeoutCause(ctx, lockPatience, errBusy)
	defer cancel()
	pause := time.NewTicker(lockPause)
	defer pause.Stop()
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-pause.C:
		}
	}
}

// remembered adds the rules that hold in a project; empty: those that hold everywhere. A file that is not understood
// widens nothing: that is told, and stops nobody.
func (l *Loaded) remembered(file, projectDir string) {
	list, err := ReadAllowed(file)
	if err != nil {
		l.Ignored = append(l.Ignored, fmt.Sprintf("all rules that are remembered: %v", err))
		return
	}
	for _, r := range list {
		if r.Project != "" && r.Project != projectDir {
			continue
		}
		rule := permission.Rule{Effect: permission.Allow, Text: r.Rule, Source: r.Source()}
		if !slices.Contains(l.Rules, rule) {
			l.Rules = append(l.Rules, rule)
		}
	}
}
