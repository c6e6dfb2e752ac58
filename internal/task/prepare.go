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

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/internal/session"
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
func (r *Runner) Prepare(ctx context.Context, spec session.CommandSpec) error {
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
	spec session.CommandSpec
	plan execPlan
	file bool // the script is a file of its own
	now  int64
}

func (r *Runner) preparation(spec session.CommandSpec) (preparation, error) {
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
// id matches then.
func (p preparation) create() error {
	parent, act := filepath.Split(string(p.dir))
	tmp := actDir(filepath.Join(parent, newPrefix+act+"."+strconv.Itoa(os.Getpid())+"."+unique()))
	// Removing the last act of a session takes the session's directory along, perhaps just between the two calls.
	var err error = fs.ErrNotExist
	for tries := 0; missing(err) && tries < 3; tries++ {
		err = makeBelow(filepath.Clean(parent), filepath.Base(string(tmp)))
	}
	if err != nil {
		return err
	}
	if err = p.fill(tmp); err == nil {
		err = os.Rename(string(tmp), string(p.dir))
	}
	if err != nil {
		os.RemoveAll(string(tmp))
	}
	if errors.Is(err, fs.ErrExist) { // somebody else was faster
		_, err = p.existing()
	}
	return err
}

// makeBelow makes a directory in a session's, which it makes too. Links are not followed.
func makeBelow(session, name string) error {
	acts := filepath.Dir(session)
	root, err := realdir.Make(filepath.Dir(acts), filepath.Base(acts), filepath.Base(session))
	if err != nil {
		return err
	}
	return errors.Join(root.Mkdir(name, 0o700), root.Close())
}

// fill writes the files of the act.
func (p preparation) fill(tmp actDir) error {
	plan := p.plan.encode()
	if len(plan) > maxPlan {
		return fmt.Errorf("%w: arguments and environment of %d bytes, at most %d", ErrInvalid, len(plan), maxPlan)
	}
	rec := specRecord{CommandSpec: p.spec, BootID: p.plan.BootID, Created: p.now}
	rec.Version, rec.Env, rec.Script = formatVersion, nil, ""
	spec, err := json.Marshal(rec)
	if err != nil {
		return err
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
	for name, data := range files {
		if err := writeFile(tmp.path(name), data, false); err != nil {
			return &fs.PathError{Op: "write", Path: p.dir.path(name), Err: err}
		}
	}
	// Whoever starts the shim holds the FIFO from the beginning.
	fifos := []string{fifoName}
	if p.spec.Stdin || p.spec.TTY != nil {
		fifos = append(fifos, inputName)
	}
	for _, name := range fifos {
		if err := unix.Mkfifo(tmp.path(name), fifoMode); err != nil {
			return &fs.PathError{Op: "mkfifo", Path: p.dir.path(name), Err: err}
		}
	}
	return nil
}

// checkSpec refuses what cannot be run exactly as given.
func checkSpec(spec session.CommandSpec) error {
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
