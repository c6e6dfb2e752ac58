package app

import (
	"os"

	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/process"
)

// Inside says how it is known that this process belongs to a session's command, or nothing.
func (a *App) Inside() string {
	if id := a.Getenv("PERDURE_SESSION_ID"); id != "" {
		return "PERDURE_SESSION_ID is set: this is a command of session " + display.Shown(id, 128)
	}
	if a.Getenv("PERDURE_ACT") != "" {
		return "PERDURE_ACT is set: this is a command of a session"
	}
	if process.ShimAbove(os.Getpid(), process.ParentAndArgs) > 0 {
		return "this process was started by a command of a session"
	}
	return ""
}
