// Package command is what a command is, for whoever runs one, keeps its end in a log or shows it: what to run and within
// which limits, where it stands, and how it ended. It runs nothing.
package command

import (
	"errors"
	"fmt"
)

// What a running command may answer to whoever steers it.
var (
	// ErrEnded says that the command is not there any more to be written to or detached.
	ErrEnded = errors.New("command has ended")
	// ErrNoInput says that the command was started without input, or that its input was closed.
	ErrNoInput = errors.New("command has no open input")
	// ErrInputFull says that the command has not read what was written before. Some of the bytes may have been taken.
	ErrInputFull = errors.New("command does not read its input")
)

// ErrNoProgram says that the program of a command is not there, so that it was not begun.
var ErrNoProgram = errors.New("no such program")

// Spec says how to run one command under its shim. It is written to the act directory before the shim starts
// and is all that the shim knows.
type Spec struct {
	Version   int      `json:"version"`    // of the act directory's format, now 1
	Session   string   `json:"session"`    // session id
	Act       string   `json:"act"`        // act id
	Argv      []string `json:"argv"`       // program and arguments, run without a shell
	Script    string   `json:"script"`     // shell text for Argv's shell, any length; by default bash -c
	Cwd       string   `json:"cwd"`        // absolute
	Env       []string `json:"env"`        // complete environment, KEY=VALUE
	TimeoutMS int64    `json:"timeout_ms"` // the shim kills the tree after this long; 0 means never
	Capture   bool     `json:"capture"`    // capture cwd and exported environment when the shell exits
	KeepBytes int64    `json:"keep_bytes"` // bound of kept output; 0 means 64 MiB

	Stdin  bool          `json:"stdin,omitempty"` // input can be written while it runs; else it reads the null device
	TTY    *TerminalSize `json:"tty,omitempty"`   // run it on a terminal of its own, of this size at first
	Limits Limits        `json:"limits,omitzero"`
}

// TerminalSize is in characters.
type TerminalSize struct {
	Rows uint16 `json:"rows"`
	Cols uint16 `json:"cols"`
}

// Limits bound what a command may use. Zero means no bound.
type Limits struct {
	CPUSeconds  int64 `json:"cpu_seconds,omitempty"`  // of each of its processes
	MemoryBytes int64 `json:"memory_bytes,omitempty"` // of address space, of each of its processes
	OpenFiles   int64 `json:"open_files,omitempty"`   // of each of its processes
	WallMS      int64 `json:"wall_ms,omitempty"`      // of the whole tree, in the background too
}

// Status is where a command stands.
type Status string

// The states of a command. A code is never guessed: lost has none.
const (
	Absent   Status = "absent"   // provably never ran (nobody claimed it, or the claim was void)
	Starting Status = "starting" // a task's start is intended and not yet known
	Running  Status = "running"  // its shim holds the lock, or its process is alive
	Exited   Status = "exited"   // ExitCode is real
	Killed   Status = "killed"   // ended by a signal: Signal, By
	Lost     Status = "lost"     // may have run, end unseen: Reason
)

// State is what an act directory says about its command. Sizes are bytes, times are milliseconds UTC.
type State struct {
	Status     Status `json:"status"`
	PID        int    `json:"pid,omitempty"`         // of the command itself, kept after its end
	StartTicks uint64 `json:"start_ticks,omitempty"` // with PID and boot id: its identity
	BootID     string `json:"boot_id,omitempty"`
	ExitCode   *int   `json:"exit_code,omitempty"` // only when exited
	Signal     string `json:"signal,omitempty"`    // only when killed, as in SIGKILL
	By         string `json:"by,omitempty"`        // who killed it, see [ByUser]; lost: who had asked
	Reason     string `json:"reason,omitempty"`    // lost: reboot, shim_died, copied, dir_missing, damaged; running: orphaned
	Output     int64  `json:"output_bytes"`        // every byte printed, kept or not
	// MissingAfter is the offset from which on output may be missing, since for a time nobody held it. Nil: nothing is.
	MissingAfter *int64 `json:"missing_after,omitempty"`
	Started      int64  `json:"started,omitempty"`
	Ended        int64  `json:"ended,omitempty"`
	Cgroup       string `json:"cgroup,omitempty"`     // that bounds its memory, where it has one of its own
	Stragglers   int    `json:"stragglers,omitempty"` // descendants alive after the command ended
	// Captured at the shell's exit, if asked for and reached.
	Cwd string   `json:"cwd,omitempty"`
	Env EnvDelta `json:"env,omitzero"`
}

// MissingText says in a sentence that output may be missing. Where none is there is none.
func (st State) MissingText() []string {
	if st.MissingAfter == nil {
		return nil
	}
	return []string{fmt.Sprintf("what it printed after byte %d may be missing: nobody was reading", *st.MissingAfter)}
}
