//go:build linux || darwin

package task

import (
	"encoding/json"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// recordIntent makes the wish durable before any signal. An earlier intent stays: it is what ended the command.
func (d actDir) recordIntent(by string, now int64, grace time.Duration) error {
	if d.killedBy() != "" {
		return nil
	}
	if by == "" {
		by = "unknown"
	}
	rec := intentRecord{Version: formatVersion, By: by[:min(len(by), maxBy)], Time: now, GraceMS: grace.Milliseconds()}
	text, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	err = overwrite(d.path(intentName), text, true)
	if missing(err) || errors.Is(err, unix.ENXIO) { // or a pipe of the command's
		err = replaceFile(d.path(intentName), text, true)
	}
	return err
}

// killAll sends SIGKILL to exactly these processes.
func killAll(tree []process) {
	for _, p := range tree {
		signalProcess(p.PID, p.Ticks, unix.SIGKILL)
	}
}

// maxBy bounds the name of a killer, in bytes.
const maxBy = 64
