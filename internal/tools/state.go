package tools

import (
	"strings"

	"github.com/perdure/perdure/internal/session"
)

// This file is all that tools look up in a session's state. A nil state is an empty one.

// knownFile gives what the session knows of a file, by its resolved path.
func knownFile(env Env, path string) (session.File, bool) {
	if env.State == nil {
		return session.File{}, false
	}
	f, ok := env.State.Files[path]
	return f, ok
}

// knownTask gives the task with this id, or nil.
func knownTask(env Env, id string) *session.Task {
	if env.State == nil {
		return nil
	}
	return env.State.Task(id)
}

// maxNamedTasks bounds how many ids a refusal names.
const maxNamedTasks = 20

// unknownTask is the error result for an id that no task has. It names the newest tasks there are.
func unknownTask(env Env, id string) Result {
	var ids []string
	if env.State != nil {
		for _, t := range env.State.Tasks {
			ids = append(ids, t.ID)
		}
	}
	if len(ids) == 0 {
		return failure("no task %q: no command runs in the background", clipText(id, 80))
	}
	more := ""
	if n := len(ids) - maxNamedTasks; n > 0 {
		ids, more = ids[n:], " (older ones left out)"
	}
	return failure("no task %q: there are %s%s", clipText(id, 80), strings.Join(ids, ", "), more)
}
