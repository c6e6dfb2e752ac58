package view

// Task is a task as it stands now, whoever is alive to know. Its JSON is a line of `perdure task list --json`.
type Task struct {
	SessionID    string    `json:"session_id"` // whose task it is: of a fork's inherited ones the parent's
	ID           string    `json:"id"`
	Act          string    `json:"act"`
	Command      string    `json:"command"`
	Cwd          string    `json:"cwd"`
	Status       string    `json:"status"`    // running, exited, killed or lost
	PID          int       `json:"pid"`       // of the command itself, kept after its end
	ExitCode     *int      `json:"exit_code"` // only when exited
	Signal       string    `json:"signal,omitempty"`
	By           string    `json:"by,omitempty"`     // who killed it
	Reason       string    `json:"reason,omitempty"` // why it is lost
	Name         string    `json:"name,omitempty"`
	Restart      string    `json:"restart,omitempty"`       // after a reboot
	NoRestart    string    `json:"not_restarted,omitempty"` // why not, though it was granted
	LastOutput   string    `json:"last_output,omitempty"`   // the last lines, of a lost one
	Attempt      int       `json:"attempt"`                 // from 1; the command of an earlier one has ended
	Attempts     []Attempt `json:"attempts,omitempty"`      // the earlier ones
	Stragglers   int       `json:"stragglers,omitempty"`
	Output       int64     `json:"output_bytes"`            // every byte printed, kept or not
	Position     int64     `json:"output_position"`         // up to where the model has read
	MissingAfter *int64    `json:"missing_after,omitempty"` // from here on output may be missing: for a time nobody held it
	TaskSettings
	MemoryBy string `json:"memory_by,omitempty"` // what bounds its memory: cgroup or rlimit

	Started Stamp   `json:"started_at"`
	Ended   Stamp   `json:"ended_at"`
	Age     float64 `json:"age_seconds"` // since this attempt started, also once it has ended
	Ran     float64 `json:"ran_seconds"` // how long it has run, up to its end

	// What its processes use now, those that it left behind included; the shim does not count. Null when none is left,
	// or where the system does not say.
	Processes int      `json:"processes"`
	CPU       *float64 `json:"cpu_seconds"` // processor time used so far, by the ones that ended too
	RSS       *int64   `json:"rss_bytes"`   // resident memory; pages that several share count for each
	Ports     []int    `json:"ports"`       // TCP ports on which they listen, sorted; never null
}

// Live reports whether a process of it lives.
func (t Task) Live() bool { return t.Status == "running" || t.Stragglers > 0 }

// Attempt is an earlier run of a task under the same id. Its times are milliseconds since the Unix epoch.
type Attempt struct {
	Act      string `json:"act"`
	Status   string `json:"status"` // exited, killed or lost
	ExitCode *int   `json:"exit_code"`
	Signal   string `json:"signal,omitempty"`
	By       string `json:"by,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Output   int64  `json:"output_bytes"`
	Started  int64  `json:"started_at"`
	Ended    int64  `json:"ended_at,omitempty"`
}

// TaskSettings say how a task's command is run and how long it may live. A new attempt keeps them.
type TaskSettings struct {
	Stdin    bool          `json:"stdin,omitempty"` // input can be written while it runs
	TTY      *TerminalSize `json:"tty,omitempty"`   // it runs on a terminal of its own, of this size at first
	Limits   Limits        `json:"limits,omitzero"`
	Lifetime string        `json:"lifetime,omitempty"` // detached, session or turn; empty means detached
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

// TaskNews is what Tasks.Wait came to. Its JSON is that of `perdure task wait --json`.
type TaskNews struct {
	Task Task    `json:"task"`      // as it is then
	Line *string `json:"line"`      // the first line that matches, at most 1 KiB of it; null: none did, or none was waited for
	Gap  int64   `json:"gap_bytes"` // of the output up to there, dropped before it could be looked at
}

// News is output that a reader has not seen.
type News struct {
	Bytes   []byte
	Omitted int64 // bytes before Bytes that are no longer kept
	From    int64 // absolute offset where the reader was
	To      int64 // where it is after these: From + Omitted + len(Bytes)
}

// Written is what became of a write to a task's input.
type Written struct {
	Outcome string
	Bytes   int64  // that the task's input took
	Reason  string // in words, if that is not all
}

// Restored is what Restore did about one task that a reboot took.
type Restored struct {
	Task
	Again bool   `json:"restarted"`     // it runs again, or ran and has ended
	Why   string `json:"why,omitempty"` // it does not
}
