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
	"time"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/session"
)

// Bounds of a spec, and room that is set aside, in bytes.
const (
	maxScript  = 8 << 20
	maxPlan    = 8 << 20
	lockRoom   = 96
	intentRoom = 512
	spareRoom  = 4096
)

// Prepare creates the act's directory and starts nothing. It may be repeated as long as nobody has claimed the act, and
// the first spec stays; after that it fails with ErrClaimed. Once it returned, a missing directory means that somebody
// removed it, or a power failure did: whoever records the start of acts calls Prepare before the record, and Start
// after.
func (r *Runner) Prepare(ctx context.Context, spec session.CommandSpec) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d, err := r.act(spec.Session, spec.Act)
	if err != nil {
		return err
	}
	if err := checkSpec(spec); err != nil {
		return fmt.Errorf("command %s/%s: %w", spec.Session, spec.Act, err)
	}
	boot, err := r.bootID()
	if err != nil {
		return err
	}
	if err := r.prepare(d, spec, boot); err != nil {
		return fmt.Errorf("prepare %s/%s: %w", spec.Session, spec.Act, err)
	}
	return nil
}

// prepare fills a directory under another name and renames it, so that an act directory is complete as soon as it
// exists. Nothing is synced: what a power failure takes or tears is lost on the next boot in any case, because no
// boot id matches then.
func (r *Runner) prepare(d actDir, spec session.CommandSpec, boot string) error {
	if _, err := os.Stat(string(d)); err == nil {
		return d.prepared(boot)
	}
	parent, act := filepath.Split(string(d))
	tmp := actDir(filepath.Join(parent, newPrefix+act+"."+strconv.Itoa(os.Getpid())+"."+unique()))
	// Removing the last act of a session takes the session's directory along, perhaps just between the two calls.
	err := os.Mkdir(string(tmp), 0o700)
	for tries := 0; missing(err) && tries < 3; tries++ {
		if err = os.MkdirAll(parent, 0o700); err == nil {
			err = os.Mkdir(string(tmp), 0o700)
		}
	}
	if err != nil {
		return err
	}
	defer os.RemoveAll(string(tmp))
	if err := tmp.fill(d, spec, boot, r.nowMS(), r.grace()); err != nil {
		return err
	}
	err = os.Rename(string(tmp), string(d))
	if errors.Is(err, fs.ErrExist) || errors.Is(err, unix.ENOTEMPTY) {
		return d.prepared(boot)
	}
	return err
}

// prepared says whether a directory that exists already can still be started.
func (d actDir) prepared(boot string) error {
	var rec specRecord
	if err := readRecord(d.path(specName), &rec); err != nil && !missing(err) && !errors.Is(err, errDamaged) {
		return err // a damaged spec has no boot id, and is refused for that
	}
	c, err := d.readClaim()
	if err != nil {
		return err
	}
	held, err := d.held()
	switch {
	case err != nil:
		return err
	case held || c.word != "":
		return ErrClaimed
	case rec.BootID != boot:
		return fmt.Errorf("%w: prepared before a reboot", ErrClaimed)
	}
	return nil
}

// fill writes the files of an act that will live at d.
func (tmp actDir) fill(d actDir, spec session.CommandSpec, boot string, now int64, grace time.Duration) error {
	plan := newPlan(spec, boot, grace)
	if spec.Script != "" {
		d.planShell(&plan, spec)
		if err := writeFile(tmp.path(scriptName), []byte(spec.Script), false); err != nil {
			return err
		}
	}
	if plan.Capture {
		if err := tmp.writeCapture(d); err != nil {
			return err
		}
	}
	b := plan.encode()
	if len(b) > maxPlan {
		return fmt.Errorf("%w: arguments and environment of %d bytes, at most %d", ErrInvalid, len(b), maxPlan)
	}
	if err := writeFile(tmp.path(planName), b, false); err != nil {
		return err
	}
	if err := writeFile(tmp.path(claimSource), claim{word: claimRun}.encode(), false); err != nil {
		return err
	}
	// Room on disk for what has to be written even when the disk is full later: where the shim can be reached, that
	// it shall kill, how the command ended.
	for name, room := range map[string]int{lockName: lockRoom, intentName: intentRoom, spareName: spareRoom} {
		if err := writeFile(tmp.path(name), bytes.Repeat([]byte{' '}, room), false); err != nil {
			return err
		}
	}
	rec := specRecord{CommandSpec: spec, BootID: boot, Created: now}
	rec.Version, rec.Env, rec.Script = formatVersion, nil, ""
	text, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	return writeFile(tmp.path(specName), text, false)
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
