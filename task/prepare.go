package task

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/perdure/perdure/session"
)

// Bounds of a spec, in bytes.
const (
	maxScript = 8 << 20
	maxPlan   = 8 << 20
)

// Prepare creates the act's directory durably and starts nothing. It may be repeated as long as nobody has claimed the
// act; after that it fails with ErrClaimed. When it returns, a missing directory can only mean that somebody removed
// it: whoever records starts calls Prepare first.
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

func (r *Runner) prepare(d actDir, spec session.CommandSpec, boot string) error {
	made, err := makeDirs(r.Dir, d)
	if err != nil {
		return err
	}
	if !made {
		if done, err := d.prepared(boot); done || err != nil {
			return err
		}
	}
	if err := d.writePlan(spec); err != nil {
		return err
	}
	rec := specRecord{CommandSpec: spec, BootID: boot, Created: r.nowMS()}
	rec.Version, rec.Env, rec.Script = formatVersion, nil, ""
	// The name of spec.json is the mark that the rest is there; only it has to survive a power failure, because what
	// survives without a matching boot id never runs.
	if err := writeRecord(d.path(specName), rec, true); err != nil {
		return err
	}
	for _, dir := range []string{string(d), filepath.Dir(string(d))} {
		if err := syncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// prepared looks at a directory that exists already: ready to start, to be written again, or no longer available.
func (d actDir) prepared(boot string) (bool, error) {
	if c, err := d.readClaim(); err != nil || c.word != "" {
		return false, ErrClaimed
	}
	held, err := d.held()
	if err != nil {
		return false, err
	}
	var rec specRecord
	switch err := readRecord(d.path(specName), &rec); {
	case missing(err):
		return false, nil
	case err != nil:
		return false, err
	case held:
		return false, ErrClaimed
	case rec.BootID != boot:
		return false, fmt.Errorf("%w: prepared before a reboot", ErrClaimed)
	}
	return true, nil
}

// makeDirs creates the act directory and what is missing above it, each name durable. It reports whether the act
// directory is new.
func makeDirs(root string, d actDir) (bool, error) {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return false, err
	}
	parent := filepath.Dir(string(d))
	switch err := os.Mkdir(parent, 0o700); {
	case err == nil:
		if err := syncDir(root); err != nil {
			return false, err
		}
	case !os.IsExist(err):
		return false, err
	}
	switch err := os.Mkdir(string(d), 0o700); {
	case err == nil:
		return true, nil
	case !os.IsExist(err):
		return false, err
	}
	return false, nil
}

// writePlan writes what the exec stage reads.
func (d actDir) writePlan(spec session.CommandSpec) error {
	plan := execPlan{Cwd: spec.Cwd, Argv: spec.Argv, Env: spec.Env}
	if spec.Script != "" {
		plan = d.shellPlan(spec)
		if err := os.WriteFile(d.path(scriptName), []byte(spec.Script), 0o600); err != nil {
			return err
		}
		if captures(spec) {
			if err := d.writeCapture(); err != nil {
				return err
			}
		}
	}
	b := plan.encode()
	if len(b) > maxPlan {
		return fmt.Errorf("%w: arguments and environment of %d bytes, at most %d", ErrInvalid, len(b), maxPlan)
	}
	return os.WriteFile(d.path(execName), b, 0o600)
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
