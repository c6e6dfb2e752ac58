//go:build linux || darwin

package task

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/realdir"
)

// Import makes the directory of a command that ran in another home and is over: how it ended, and what is known of its
// output, which begins at the offset from. There was no process of it here, so nothing of this machine is named in it. It
// is durable but for its name. Errors: fs.ErrExist.
func (r *Runner) Import(sessionID, act string, st command.State, from int64, output io.Reader) error {
	if _, err := r.act(sessionID, act); err != nil {
		return err
	}
	home, acts := filepath.Split(filepath.Clean(r.Dir))
	root, err := realdir.Make(filepath.Clean(home), acts, sessionID, act)
	if err == nil {
		err = errors.Join(importInto(root, st, from, output), root.Close())
	}
	if err != nil {
		return fmt.Errorf("import command %s/%s: %w", sessionID, act, err)
	}
	return nil
}

func importInto(root *os.Root, st command.State, from int64, output io.Reader) error {
	exit := exitRecord{Version: formatVersion, Code: st.ExitCode, Signal: st.Signal, By: st.By, Started: st.Started, Ended: st.Ended}
	if st.Status == command.Lost || st.ExitCode == nil && st.Signal == "" {
		exit.Code, exit.Signal, exit.Reason = nil, "", cmp.Or(st.Reason, command.ReasonElsewhere)
	}
	n, err := importFile(root, segmentName(from), output)
	if err != nil {
		return err
	}
	exit.Output = max(st.Output, from+n)
	b, err := json.Marshal(exit)
	if err != nil {
		return err
	}
	_, err = importFile(root, exitName, bytes.NewReader(b))
	return err
}

// importFile writes a file that is not there, durably.
func importFile(root *os.Root, name string, content io.Reader) (int64, error) {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(f, content)
	return n, errors.Join(err, f.Sync(), f.Close())
}
