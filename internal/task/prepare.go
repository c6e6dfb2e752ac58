//go:build linux || darwin

package task

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/realdir"
)

// Bounds of a spec, and room that is set aside, in bytes.
const (
	maxScript  = 8 << 20
	maxPlan    = 8 << 20
	lockRoom   = 96
	intentRoom = 512
	spareRoom  = 4096
)

// Prepare creates the act's directory and starts nothing. It may be repeated, with another spec too, as long as nobody
// has claimed the act; after that it fails with ErrClaimed. Once it returned, a missing directory means that somebody
// removed it, or a power failure did: whoever records the start of acts calls Prepare before the record, and Start
// after.
func (r *Runner) Prepare(ctx context.Context, spec command.Spec) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p, err := r.preparation(spec)
	if err == nil {
		var exists bool
		if exists, err = p.existing(); exists && errors.Is(err, errOther) {
			exists, err = false, p.retire()
		}
		if err == nil && !exists {
			err = p.create()
		}
	}
	if err != nil {
		return fmt.Errorf("prepare %s/%s: %w", spec.Session, spec.Act, err)
	}
	return nil
}

// preparation is an act directory to be.
type preparation struct {
	dir  actDir
	spec command.Spec
	plan execPlan
	file bool // the script is a file of its own
	now  int64
}

func (r *Runner) preparation(spec command.Spec) (preparation, error) {
	d, err := r.act(spec.Session, spec.Act)
	if err != nil {
		return preparation{}, err
	}
	if err := checkSpec(spec); err != nil {
		return preparation{}, err
	}
	boot, err := r.bootID()
	if err != nil {
		return preparation{}, err
	}
	p := preparation{dir: d, spec: spec, now: r.nowMS()}
	p.plan, p.file = d.newPlan(spec, boot, r.grace())
	p.plan.QuotaBytes, p.plan.FloorBytes = bound(r.SessionBytes, defaultQuota), bound(r.DiskFloor, defaultFloor)
	return p, nil
}

// errOther says that the directory belongs to another command or to another boot, and nobody has claimed it.
var errOther = fmt.Errorf("%w: prepared for another command or before a reboot", ErrClaimed)

// existing says whether the directory is there, and whether it can be started as it is.
func (p preparation) existing() (bool, error) {
	if _, err := os.Stat(string(p.dir)); err != nil {
		return false, ignoreMissing(err)
	}
	c, err := p.dir.readClaim()
	if err != nil {
		return true, err
	}
	held, err := p.dir.held()
	switch {
	case err != nil:
		return true, err
	case held || c.word != "":
		return true, ErrClaimed
	}
	plan, err := readBounded(p.dir.path(planName))
	if err == nil && !bytes.Equal(plan, p.plan.encode()) {
		return true, errOther
	}
	if err == nil && p.file {
		var script []byte
		if script, err = readBounded(p.dir.path(scriptName)); err == nil && string(script) != p.spec.Script {
			return true, errOther
		}
	}
	if missing(err) || errors.Is(err, errDamaged) {
		return true, errOther
	}
	return true, err
}

// retire takes an unclaimed directory out of the way, after making sure that it stays unclaimed.
func (p preparation) retire() error {
	won, err := p.dir.claimAct(claim{word: claimVoid})
	if err != nil {
		return err
	}
	if !won {
		return ErrClaimed
	}
	return p.dir.discard()
}

// create fills a directory under another name and renames it, so that an act directory is complete as soon as it
// exists. Nothing is synced: what a power failure takes or tears is lost on the next boot in any case, because no boot
// id matches then. Commands of the same session may write where it is made: a link that one of them puts in its place
// is not followed, and what is renamed is what was filled, or nothing is.
func (p preparation) create() error {
	parent, act := filepath.Split(string(p.dir))
	name := newPrefix + act + "." + strconv.Itoa(os.Getpid()) + "." + unique()
	// Removing the last act of a session takes the session's directory along, perhaps just between the two calls.
	var at, made *os.Root
	var err error = fs.ErrNotExist
	for tries := 0; missing(err) && tries < 3; tries++ {
		at, made, err = makeBelow(filepath.Clean(parent), name)
	}
	if err != nil {
		return err
	}
	defer func() { _, _ = at.Close(), made.Close() }()
	fault("act-made")
	if err = p.fill(made, filepath.Join(parent, name)); err == nil {
		fault("act-filled")
		if err = at.Rename(name, act); err == nil {
			return sameDir(at, act, made, p.dir)
		}
	}
	_ = at.RemoveAll(name)
	if errors.Is(err, fs.ErrExist) { // somebody else was faster
		_, err = p.existing()
	}
	return err
}

// makeBelow makes a directory in a session's, which it makes too, and opens both. Links are not followed.
func makeBelow(session, name string) (at, made *os.Root, err error) {
	acts := filepath.Dir(session)
	at, err = realdir.Make(filepath.Dir(acts), filepath.Base(acts), filepath.Base(session))
	if err != nil {
		return nil, nil, err
	}
	if err = at.Mkdir(name, 0o700); err == nil {
		made, err = realdir.Below(at, name)
	}
	if err != nil {
		_ = at.Close()
		return nil, nil, err
	}
	return at, made, nil
}

// sameDir fails if a name has come to stand for something else than the directory. That it is gone is no matter here.
func sameDir(at *os.Root, name string, made *os.Root, d actDir) error {
	now, err := at.Lstat(name)
	if err != nil {
		return ignoreMissing(err)
	}
	if own, err := made.Stat("."); err != nil || !os.SameFile(now, own) {
		return fmt.Errorf("%s was replaced meanwhile: %w", d, realdir.ErrLink)
	}
	return nil
}

// fill writes the files of the act into a directory. The path is for systems that cannot do without.
func (p preparation) fill(made *os.Root, path string) error {
	files, err := p.files()
	if err != nil {
		return err
	}
	for name, data := range files {
		if err := newFile(made, name, data); err != nil {
			return &fs.PathError{Op: "write", Path: p.dir.path(name), Err: err}
		}
	}
	// Whoever starts the shim holds the FIFO from the beginning.
	fifos := []string{fifoName}
	if p.spec.Stdin || p.spec.TTY != nil {
		fifos = append(fifos, inputName)
	}
	dir, err := made.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	for _, name := range fifos {
		if err := mkfifoIn(dir, path, name, fifoMode); err != nil {
			return &fs.PathError{Op: "mkfifo", Path: p.dir.path(name), Err: err}
		}
	}
	return nil
}

// newFile makes a file that is not there yet.
func newFile(dir *os.Root, name string, data []byte) error {
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// files are what an act's directory has from the beginning.
func (p preparation) files() (map[string][]byte, error) {
	plan := p.plan.encode()
	if len(plan) > maxPlan {
		return nil, fmt.Errorf("%w: arguments and environment of %d bytes, at most %d", ErrInvalid, len(plan), maxPlan)
	}
	rec := specRecord{Spec: p.spec, BootID: p.plan.BootID, Created: p.now}
	rec.Version, rec.Env, rec.Script = formatVersion, nil, ""
	spec, err := json.Marshal(rec)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{
		specName:    spec,
		planName:    plan,
		claimSource: claim{word: claimRun}.encode(),
		// Room on disk for what has to be written even when the disk is full later: where the shim can be reached,
		// that it shall kill, how the command ended.
		lockName:   bytes.Repeat([]byte{' '}, lockRoom),
		intentName: bytes.Repeat([]byte{' '}, intentRoom),
		spareName:  bytes.Repeat([]byte{' '}, spareRoom),
	}
	if p.file {
		files[scriptName] = []byte(p.spec.Script)
	}
	if p.plan.Capture {
		files[initName] = p.dir.initText()
		files[captureName] = nil // exists before, so that neither umask nor noclobber of the script matter
	}
	return files, nil
}

// checkSpec refuses what cannot be run exactly as given.
func checkSpec(spec command.Spec) error {
	switch {
	case spec.Script == "" && (len(spec.Argv) == 0 || spec.Argv[0] == ""):
		return fmt.Errorf("%w: neither script nor argv", ErrInvalid)
	case !filepath.IsAbs(spec.Cwd):
		return fmt.Errorf("%w: working directory %q is not absolute", ErrInvalid, spec.Cwd)
	case len(spec.Script) > maxScript:
		return fmt.Errorf("%w: script of %d bytes, at most %d", ErrInvalid, len(spec.Script), maxScript)
	case spec.TimeoutMS < 0 || spec.KeepBytes < 0:
		return fmt.Errorf("%w: negative timeout or output bound", ErrInvalid)
	case min(spec.Limits.CPUSeconds, spec.Limits.MemoryBytes, spec.Limits.OpenFiles, spec.Limits.WallMS) < 0:
		return fmt.Errorf("%w: negative limit", ErrInvalid)
	case spec.TTY != nil && (spec.TTY.Rows == 0 || spec.TTY.Cols == 0):
		return fmt.Errorf("%w: a terminal without size", ErrInvalid)
	}
	for _, list := range [][]string{{spec.Cwd, spec.Script}, spec.Argv, spec.Env} {
		for _, s := range list {
			// A shell would silently stop reading, or drop the byte: other text would run than was judged.
			if strings.IndexByte(s, 0) >= 0 {
				return fmt.Errorf("%w: NUL byte", ErrInvalid)
			}
		}
	}
	return nil
}
