//go:build linux || darwin

package task

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/store"
)

// actDir is the directory of one act.
type actDir string

// The names inside an act directory.
const (
	specName    = "spec.json"
	planName    = "plan"
	scriptName  = "script"
	initName    = "init.sh"
	captureName = "capture"
	lockName    = "lock"
	claimName   = "claim"
	claimSource = "claim.run" // what the shim links to claim
	runName     = "run.json"
	fifoName    = "out.fifo"
	segPrefix   = "out."
	inputName   = "in.fifo"
	inputEnd    = "in.closed"
	sizeName    = "tty.size"
	detachName  = "detached"
	intentName  = "intent.json"
	exitName    = "exit.json"
	spareName   = "exit.spare" // room for exit.json
	endName     = "ended"      // what wait(2) said, until exit.json does
	noGoName    = "nogo"       // the exec stage exited without becoming the command
	logName     = "shim.log"
	newPrefix   = ".new."
	trashPrefix = ".removed."
)

func (d actDir) path(name string) string {
	if d == "." {
		return name
	}
	return string(d) + "/" + name
}

// act returns the directory of an act after checking that both ids are harmless as path elements.
func (r *Runner) act(sessionID, act string) (actDir, error) {
	if !filepath.IsAbs(r.Dir) {
		return "", fmt.Errorf("acts directory %q: %w: not absolute", r.Dir, ErrInvalid)
	}
	if !store.ValidID(sessionID) || !store.ValidID(act) {
		return "", fmt.Errorf("command %s/%s: %w: bad id", sessionID, act, ErrInvalid)
	}
	return actDir(filepath.Join(r.Dir, sessionID, act)), nil
}

// List returns the act ids of a session that have a directory, sorted. An unknown session has none.
func (r *Runner) List(sessionID string) ([]string, error) {
	if _, err := r.act(sessionID, "x"); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Join(r.Dir, sessionID))
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list commands of %s: %w", sessionID, err)
	}
	var acts []string
	for _, e := range entries {
		if e.IsDir() && store.ValidID(e.Name()) {
			acts = append(acts, e.Name())
		}
	}
	return acts, nil
}

// replaced reports that something that is no directory stands in the place of the act's: a command knows where that is,
// and a link there would lead to records that no shim wrote.
func (d actDir) replaced() bool {
	info, err := os.Lstat(string(d))
	return err == nil && !info.IsDir()
}

// open opens the act's directory. Links are not followed.
func (d actDir) open() (*os.Root, error) {
	session, act := filepath.Split(string(d))
	acts, id := filepath.Split(filepath.Clean(session))
	home, name := filepath.Split(filepath.Clean(acts))
	return realdir.Open(filepath.Clean(home), name, id, act)
}

// remake makes the directory of an act that has none, so that the end of the act can be settled in it. What a command
// put in its place is moved aside, to be swept away.
func (d actDir) remake() error {
	if d.replaced() {
		parent, act := filepath.Split(string(d))
		if err := os.Rename(string(d), filepath.Join(parent, trashPrefix+act+"."+unique())); err != nil && !missing(err) {
			return err
		}
	}
	session, act := filepath.Split(string(d))
	at, made, err := makeBelow(filepath.Clean(session), act)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(made.Close(), at.Close())
}

// leavePatience is how long Remove waits for a shim whose work is done to be gone.
const leavePatience = time.Second

// Remove deletes an act's directory with its output. It refuses with ErrRunning while a process of the act lives, is
// atomic for every reader, and is a no-op when there is no directory.
func (r *Runner) Remove(sessionID, act string) error {
	d, err := r.act(sessionID, act)
	if err == nil {
		err = r.remove(d)
	}
	if err != nil {
		return fmt.Errorf("remove %s/%s: %w", sessionID, act, err)
	}
	return nil
}

func (r *Runner) remove(d actDir) error {
	ctx, cancel := context.WithTimeout(context.Background(), leavePatience)
	defer cancel()
	for wait := newPoller(ctx); ; {
		st, err := r.look(d)
		if err == nil && st.orphan && r.Check() == nil {
			st, err = r.lookAfter(d, r.adopt(ctx, d, nil))
		}
		if err != nil {
			return err
		}
		held, err := d.held()
		if err != nil {
			return err
		}
		if !held && st.Status != command.Running {
			break
		}
		// A shim that has written its last record is on its way out; all others have something to look after.
		if st.Status == command.Running || st.Stragglers > 0 || wait.next() != nil {
			return ErrRunning
		}
	}
	return d.discard()
}

// discard deletes a directory that nobody uses. Half-deleted it could be read as an act that never ran: a rename takes
// all of it away at once.
func (d actDir) discard() error {
	parent, act := filepath.Split(string(d))
	trash := filepath.Join(parent, trashPrefix+act)
	if err := os.RemoveAll(trash); err != nil {
		return err
	}
	if err := os.Rename(string(d), trash); err != nil && !missing(err) {
		return err
	}
	if err := os.RemoveAll(trash); err != nil {
		return err
	}
	// What a Prepare left that died half-way.
	err := sweepDir(parent, func(name string) bool {
		rest, ours := strings.CutPrefix(name, newPrefix+act+".")
		return ours && strings.Count(rest, ".") == 1 // pid and counter: with more it is of an act whose id goes on
	})
	os.Remove(parent) // succeeds only for the last act of a session
	return err
}

// Sweep removes what a Prepare or a Remove left of a session's directories when it died half-way. The caller sees to it
// that nobody prepares or removes an act of this session meanwhile: it holds the session.
func (r *Runner) Sweep(sessionID string) error {
	d, err := r.act(sessionID, "x")
	if err != nil {
		return err
	}
	err = sweepDir(filepath.Dir(string(d)), func(name string) bool {
		return strings.HasPrefix(name, newPrefix) || strings.HasPrefix(name, trashPrefix)
	})
	if err != nil {
		return fmt.Errorf("sweep commands of %s: %w", sessionID, err)
	}
	return nil
}

// sweepDir removes the entries that match. A directory that is not there has none.
func sweepDir(dir string, match func(name string) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ignoreMissing(err)
	}
	for _, e := range entries {
		if match(e.Name()) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

var uniqueCounter atomic.Uint64

// unique tells apart the temporary names of one process.
func unique() string { return strconv.FormatUint(uniqueCounter.Add(1), 36) }
