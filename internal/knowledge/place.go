package knowledge

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/realdir"

	"github.com/perdure/perdure/internal/sys"
)

// Config says whose knowledge it is.
type Config struct {
	Home      string // Perdure's home, absolute
	Dir       string // the directory that it is about, absolute; see [Root]
	InProject bool   // the user consented that the project's knowledge lies in the project
	Now       func() time.Time
	// Fault is called before every step of a change with the step's name. An error ends the change there. For tests.
	Fault func(step string) error
}

// Names of files and directories, as they lie in a scope's directory.
const (
	agentDir    = ".agent"    // of a project
	homeDir     = "knowledge" // of the home
	userDir     = "user"
	indexName   = "MEMORY.md"
	detailDir   = "memory"
	metaName    = ".meta.json"
	journalName = "journal.md"
)

// Memory is what a session can remember: two scopes. It is safe for concurrent use, by several processes too.
type Memory struct {
	Project, User *Scope
}

// Open names the places; nothing is made until something is written.
func Open(cfg Config) (*Memory, error) {
	if !filepath.IsAbs(cfg.Home) || !filepath.IsAbs(cfg.Dir) {
		return nil, errors.New("knowledge: home and directory must be absolute")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	home := filepath.Clean(cfg.Home)
	root := Root(cfg.Dir)
	key := Key(root)
	user := &Scope{Name: "user", cfg: cfg, anchor: home, path: []string{homeDir, userDir}, changes: []string{homeDir, userDir, "changes"}}
	project := &Scope{Name: "project", cfg: cfg, root: root, anchor: home, path: []string{homeDir, key}, changes: []string{homeDir, key, "changes"}}
	if cfg.InProject {
		project.anchor, project.path, project.shared = root, []string{agentDir}, true
		project.changes[2] = "changes-in-project"
		if info, err := os.Lstat(filepath.Join(root, indexName)); err == nil && info.Mode().IsRegular() {
			project.indexAbove = true
		}
	}
	return &Memory{Project: project, User: user}, nil
}

// IndexAbove is the file in a project's root that is its index once it is there, if the user has consented.
func IndexAbove(dir string) string { return filepath.Join(Root(dir), indexName) }

// HandoffAbove is the handoff in a project's root, which is read with and without consent.
func HandoffAbove(dir string) string { return filepath.Join(Root(dir), handoffName) }

// Root is what a directory belongs to: the git repository around it, links resolved, else the directory itself. A
// repository that another user made around it is none, as it is for git: its files would speak to this user's sessions.
func Root(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	dir = filepath.Clean(dir)
	here, err := os.Stat(dir)
	if err != nil {
		here = nil // a directory that is gone has no owner
	}
	for up := dir; ; up = filepath.Dir(up) {
		if info, err := os.Lstat(filepath.Join(up, ".git")); err == nil && realdir.Mine(info, here) {
			return up
		}
		if up == filepath.Dir(up) {
			return dir
		}
	}
}

// maxKeyName bounds the readable part of a key, in bytes.
const maxKeyName = 40

// Key names a project's directory in the home: its last name, for people, and the digest of the whole path.
func Key(root string) string {
	sum := sha256.Sum256([]byte(root))
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, filepath.Base(root))
	return name[:min(len(name), maxKeyName)] + "-" + hex.EncodeToString(sum[:8])
}

// ErrLink says that something on the way to a file is a link, or no directory.
var ErrLink = errors.New("a link, or no directory")

// openAt opens a directory below anchor, name by name. No link is followed. With make, what is missing is made; without,
// a missing one is fs.ErrNotExist.
func openAt(anchor string, path []string, make bool, perm fs.FileMode) (*os.Root, error) {
	if make {
		if err := os.MkdirAll(anchor, 0o700); err != nil {
			return nil, err
		}
	}
	at, err := os.OpenRoot(anchor)
	if err != nil {
		return nil, err
	}
	for i, name := range path {
		next, err := enter(at, name, make, perm)
		at.Close()
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", filepath.Join(append([]string{anchor}, path[:i+1]...)...), err)
		}
		at = next
	}
	return at, nil
}

func enter(at *os.Root, name string, make bool, perm fs.FileMode) (*os.Root, error) {
	info, err := at.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && make {
		if err = at.Mkdir(name, perm); err == nil || errors.Is(err, fs.ErrExist) {
			err = syncDir(at, ".")
		}
		if err == nil {
			info, err = at.Lstat(name)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, ErrLink
	}
	if err := notStranger(at, info); err != nil {
		return nil, err
	}
	next, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := next.Stat("."); err != nil || !os.SameFile(info, now) {
		next.Close()
		return nil, errors.Join(ErrLink, err) // it was put there just now
	}
	return next, nil
}

// notStranger refuses what another user put into a directory that is open to everybody.
func notStranger(at *os.Root, info fs.FileInfo) error {
	dir, err := at.Stat(".")
	if err != nil {
		return err
	}
	return realdir.Stranger(info, dir)
}

func syncDir(at *os.Root, name string) error {
	d, err := at.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return sys.Sync(d)
}
