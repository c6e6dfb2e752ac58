package command

// Ending is where a command stands in the words that last: those that a log keeps of it when it has ended. A state's JSON
// leaves a missing code out and has more fields in between, so a [State] gives its ending instead of holding one.
type Ending struct {
	Status   Status `json:"status"`
	ExitCode *int   `json:"exit_code"`        // only when exited
	Signal   string `json:"signal,omitempty"` // only when killed, as in SIGKILL
	By       string `json:"by,omitempty"`     // who killed it, see [ByUser]; lost: who had asked
	Reason   string `json:"reason,omitempty"` // why it is lost
	Output   int64  `json:"output_bytes"`     // every byte printed, kept or not
}

// Ending is what of a state lasts.
func (st State) Ending() Ending {
	return Ending{Status: st.Status, ExitCode: st.ExitCode, Signal: st.Signal, By: st.By, Reason: st.Reason, Output: st.Output}
}

// State is a state that knows the ending and nothing else.
func (e Ending) State() State {
	return State{Status: e.Status, ExitCode: e.ExitCode, Signal: e.Signal, By: e.By, Reason: e.Reason, Output: e.Output}
}
