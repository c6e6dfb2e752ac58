//go:build linux || darwin

package task

import "golang.org/x/sys/unix"

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

// How the FIFOs are made and opened: for both directions, so that opening never blocks.
const (
	fifoMode      = 0o600
	fifoOpenFlags = unix.O_RDWR | unix.O_CLOEXEC
)

// spareRoom is how much of the disk is set aside for exit.json, in bytes.
const spareRoom = 4096

func (d actDir) has(name string) bool {
	var info unix.Stat_t
	return unix.Stat(d.path(name), &info) == nil
}
