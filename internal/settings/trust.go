package settings

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/perdure/perdure/internal/permission"
)

// Project is a project's file with what a person decided about it.
type Project struct {
	Dir    string `toml:"path"`   // the project's directory, absolute and without links
	Digest string `toml:"config"` // SHA-256 of the file as it was then
	// Trusted is the decision; false: it was seen and is not trusted.
	Trusted bool      `toml:"trusted"`
	At      time.Time `toml:"at"`
	Would   []string  `toml:"-"` // what it says that only a trusted file may, in words
	Refused bool      `toml:"-"` // somebody was asked about this file as it is, and did not trust it
}

// TrustFile is where it is kept which projects a person trusts: beside the user's configuration. Empty if there is none.
func TrustFile(userFile string) string {
	if userFile == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(userFile), "trusted.toml")
}

// trustStore is what the file holds.
type trustStore struct {
	Projects []Project `toml:"project"`
	err      error     // it cannot be read, and nothing is trusted
}

const maxTrusted = 10_000

const trustHead = `# The projects whose .perdure/config.toml you trust, as it was when you said so. perdure trust writes this file.
`

// What is known of a file.
const (
	trustOpen    = iota // nobody decided, or it has changed since
	trustGiven          //
	trustRefused        //
)

func readTrust(userFile string) (t trustStore) {
	file := TrustFile(userFile)
	if file == "" {
		return t
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return t
	}
	if err == nil && len(text) <= maxFile {
		err = toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&t)
	}
	if err != nil || len(text) > maxFile {
		return trustStore{err: fmt.Errorf("%s cannot be read: %s", file, plainWords(fmt.Sprint(err)))}
	}
	return t
}

// trusts tells what was decided about a project's file as it is.
func (t trustStore) trusts(file string, text []byte) int {
	dir, digest := projectOf(file), digestOf(text)
	for _, p := range t.Projects {
		if p.Dir == dir && p.Digest == digest {
			if p.Trusted {
				return trustGiven
			}
			return trustRefused
		}
	}
	return trustOpen
}

func projectOf(file string) string { return filepath.Dir(filepath.Dir(file)) }

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Trusted are the projects that were decided about, the newest first. Errors wrap ErrConfig.
func Trusted(userFile string) ([]Project, error) {
	t := readTrust(userFile)
	if t.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, t.err)
	}
	slices.Reverse(t.Projects)
	return t.Projects, nil
}

// Decide keeps what a person decided about a project's file, which stands for the one before. It holds for the file as it
// was when it was read: one that has changed since is open again.
func Decide(userFile string, p Project, trusted bool, now time.Time) error {
	return changeTrust(userFile, func(t *trustStore) bool {
		t.Projects = slices.DeleteFunc(t.Projects, func(o Project) bool { return o.Dir == p.Dir })
		if len(t.Projects) >= maxTrusted {
			t.Projects = t.Projects[1:]
		}
		t.Projects = append(t.Projects, Project{Dir: p.Dir, Digest: p.Digest, Trusted: trusted, At: now.UTC().Truncate(time.Second)})
		return true
	})
}

// Revoke forgets what was decided about a project, and reports whether there was anything.
func Revoke(userFile, dir string) (was bool, err error) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	err = changeTrust(userFile, func(t *trustStore) bool {
		n := len(t.Projects)
		t.Projects = slices.DeleteFunc(t.Projects, func(o Project) bool { return o.Dir == dir })
		was = len(t.Projects) < n
		return was
	})
	return was, err
}

// changeTrust reads the file, has it changed and writes it whole, while no other process does.
func changeTrust(userFile string, change func(*trustStore) bool) (err error) {
	file := TrustFile(userFile)
	if file == "" {
		return fmt.Errorf("%w: there is no place for it: neither XDG_CONFIG_HOME nor HOME is set", ErrConfig)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("trust: %w", err)
	}
	lock, err := os.OpenFile(strings.TrimSuffix(file, ".toml")+".lock", os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("trust: %w", err)
	}
	defer func() { _ = lock.Close() }() // which gives the lock back
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("trust: lock %s: %w", lock.Name(), err)
	}
	t := readTrust(userFile)
	if t.err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, t.err)
	}
	if !change(&t) {
		return nil
	}
	text, err := toml.Marshal(t)
	if err != nil {
		return fmt.Errorf("trust: %w", err)
	}
	return replaceFile(file, append([]byte(trustHead), text...))
}

// widen takes what a trusted project's file may say, and names what is not taken.
func (l *Loaded) widen(p source, given int) {
	said := would(p.Settings)
	if given == trustGiven {
		l.take(p.Settings)
		if p.Mode == "bypassPermissions" {
			l.Ignored = append(l.Ignored, p.file+": permission_mode (only a flag sets bypassPermissions)")
		}
	} else if len(said) > 0 {
		l.Untrusted = append(l.Untrusted, Project{Dir: projectOf(p.file), Digest: digestOf(p.text), Would: describe(p.Settings), Refused: given == trustRefused})
	}
	vain, why := never(p.Settings), "a project may only narrow"
	if given != trustGiven && len(said) > 0 {
		vain = slices.Concat(said[:len(said)-countAllow(p.Settings)], vain, said[len(said)-countAllow(p.Settings):])
		why += " until you trust it: perdure trust " + projectOf(p.file)
	}
	if len(vain) > 0 {
		l.Ignored = append(l.Ignored, fmt.Sprintf("%s: %s (%s)", p.file, strings.Join(vain, ", "), why))
	}
}

// countAllow is 1 if there are allow rules, which are named last.
func countAllow(s Settings) int { return min(len(s.Permissions.Allow), 1) }

// would names what a file says that holds only once it is trusted.
func would(s Settings) (out []string) {
	for _, x := range []struct {
		name string
		said bool
	}{{"model", s.Model != ""}, {"permission_mode", s.Mode != ""}, {"context", s.Context != Context{}}, {"windows", len(s.Windows) > 0}} {
		if x.said {
			out = append(out, x.name)
		}
	}
	switch n := len(s.Permissions.Allow); n {
	case 0:
	case 1:
		out = append(out, "1 allow rule")
	default:
		out = append(out, fmt.Sprintf("%d allow rules", n))
	}
	return out
}

// never names what a file says that no project may.
func never(s Settings) (out []string) {
	if len(s.Prices) > 0 {
		out = append(out, "prices")
	}
	if s.Knowledge != (Knowledge{}) {
		out = append(out, "knowledge")
	}
	if s.UI != (UI{}) {
		out = append(out, "ui")
	}
	if f := s.Files; f.Capture != nil || len(f.Keep) > 0 || f.MaxFile != 0 || f.Max != 0 || f.Count != 0 || f.Quota != 0 || f.Session != 0 {
		out = append(out, "files")
	}
	return out
}

// describe says what trusting a file would let hold, each with its value: what a person decides about.
func describe(s Settings) (out []string) {
	for _, rule := range s.Permissions.Allow {
		out = append(out, "allow "+rule)
		if w := permission.Warning(permission.Rule{Effect: permission.Allow, Text: rule, Source: permission.SourceTrusted}); w != "" {
			out = append(out, "  "+w)
		}
	}
	if s.Model != "" {
		out = append(out, "model "+s.Model)
	}
	if s.Mode != "" {
		out = append(out, "permission_mode "+s.Mode)
	}
	if s.Context != (Context{}) {
		out = append(out, "when the conversation is compacted, or whether instructions are read")
	}
	if n := len(s.Windows); n > 0 {
		out = append(out, "the size of models' windows")
	}
	return out
}

// take is what holds of a trusted file beside its rules: what the user's file and nearer ones leave open.
func (l *Loaded) take(p Settings) {
	if l.Model == "" {
		l.Model = p.Model
	}
	if l.Mode == "" && p.Mode != "bypassPermissions" {
		l.Mode = p.Mode
	}
	if l.Context.CompactAt == 0 {
		l.Context.CompactAt = p.Context.CompactAt
	}
	if l.Context.Compact == nil {
		l.Context.Compact = p.Context.Compact
	}
	if l.Context.Instructions == nil {
		l.Context.Instructions = p.Context.Instructions
	}
	for model, size := range p.Windows {
		if _, said := l.Windows[model]; !said {
			if l.Windows == nil {
				l.Windows = map[string]int64{}
			}
			l.Windows[model] = size
		}
	}
}
