package cli

import (
	"os"
	"path/filepath"
	"strings"
)

// refuseInside keeps a session's own commands from deciding what a human has to decide. It is a guard against
// accidents and against a model that helps itself; against a program of the same user that hides where it comes from it
// is no boundary.
func (a *App) refuseInside(what string) error {
	inside := ""
	if id := a.getenv("PERDURE_SESSION_ID"); id != "" {
		inside = "PERDURE_SESSION_ID is set: this is a command of session " + oneline(id, 128)
	} else if a.getenv("PERDURE_ACT") != "" {
		inside = "PERDURE_ACT is set: this is a command of a session"
	} else if home, err := a.home(); err == nil {
		if pid := shimAbove(os.Getpid(), home, parentAndArgs); pid > 0 {
			inside = "this process was started by a command of a session"
		}
	}
	if inside == "" {
		return nil
	}
	return &exitError{code: exitFailed, text: what + " is for a human, outside of sessions: " + inside, hint: "run it in a terminal of your own"}
}

// shimArgument is how a shim is recognised: its second-last argument is this, its last is its act directory.
const shimArgument = "__perdure-shim"

// maxDepth bounds the walk up the process tree.
const maxDepth = 4096

// shimAbove looks for a shim of this home among the ancestors of a process, up to pid 1, and returns its pid; 0 is
// none. What cannot be read ends the walk: it belongs to another user.
func shimAbove(pid int, home string, look func(pid int) (parent int, args []string, err error)) int {
	acts := []string{filepath.Join(home, "acts")}
	if real, err := filepath.EvalSymlinks(acts[0]); err == nil {
		acts = append(acts, real)
	}
	for range maxDepth {
		parent, args, err := look(pid)
		if err != nil {
			return 0
		}
		if n := len(args); n >= 3 && args[n-2] == shimArgument {
			for _, dir := range acts {
				if strings.HasPrefix(filepath.Clean(args[n-1]), dir+string(filepath.Separator)) {
					return pid
				}
			}
		}
		if parent <= 0 || pid == 1 {
			return 0
		}
		pid = parent
	}
	return 0
}
