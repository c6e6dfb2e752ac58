package engine

import (
	"context"

	"github.com/perdure/perdure/internal/command"
)

// Commands runs commands that outlive the agent. The methods that take an act id are safe to call again, in this
// process or a later one.
type Commands interface {
	// Prepare makes the act's directory durable and starts nothing. It comes before the log says that the act
	// started, so that a missing directory later is no riddle. It may be repeated until the act is claimed.
	Prepare(ctx context.Context, spec command.Spec) error
	// Start runs spec under a shim and returns once the command runs or provably did not start.
	Start(ctx context.Context, spec command.Spec) error
	// State reads what is known without waiting or deciding.
	State(sessionID, act string) (command.State, error)
	// Settle is State, and makes CommandAbsent final: whoever comes late will not run.
	Settle(ctx context.Context, sessionID, act string) (command.State, error)
	// Wait returns the state once the command no longer runs.
	Wait(ctx context.Context, sessionID, act string) (command.State, error)
	// Kill ends the command's whole tree, attributing it.
	Kill(ctx context.Context, sessionID, act, by string) error
	// Read returns output from an absolute offset, where to go on, and how many bytes before it are no longer kept.
	Read(sessionID, act string, from int64, limit int) (b []byte, next, gap int64, err error)
	// Remove forgets a command whose outcome and output are durable elsewhere.
	Remove(sessionID, act string) error
}

// Sweeper is what Commands may be able to do besides.
type Sweeper interface {
	// Sweep removes what a process that died left half-made or half-removed of a session's commands. It is called by
	// the session's holder, before anything is prepared.
	Sweep(sessionID string) error
}

// Steering is what Commands may also do: reach a command while it runs. Errors: command.ErrEnded,
// command.ErrNoInput, command.ErrInputFull.
type Steering interface {
	// WriteStdin offers input and returns how much was taken; it does not wait.
	WriteStdin(sessionID, act string, b []byte) (int, error)
	// CloseStdin ends the input. Closing twice is no error.
	CloseStdin(sessionID, act string) error
	// Detach lifts the timeout of a foreground command. The command does not notice; doing it twice is no error.
	Detach(sessionID, act string) error
}

// Secrets replaces known values where text enters the model and the log.
type Secrets interface {
	// Replace returns b with every known value replaced by its name, written [secret:NAME]: by that it is known later
	// that something is missing.
	Replace(b []byte) []byte
	// Partial is how many bytes at the end of b may be the beginning of a known value: a reader of a stream keeps them
	// back until it has seen what follows.
	Partial(b []byte) int
	// Torn is how many bytes at the beginning of b, a text that was cut, may be the end of a known value.
	Torn(b []byte) int
	// Lost gives the name of a value that is in old and that content has the name of in its place, or "".
	Lost(old, content []byte) string
}

type noSecrets struct{}

func (noSecrets) Replace(b []byte) []byte { return b }
func (noSecrets) Partial([]byte) int      { return 0 }
func (noSecrets) Torn([]byte) int         { return 0 }
func (noSecrets) Lost(_, _ []byte) string { return "" }
