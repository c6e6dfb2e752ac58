package process

import "strings"

// shimArgument is how a shim is recognised: its second-last argument is this, its last is its act directory.
const shimArgument = "__perdure-shim"

// maxDepth bounds the walk up the process tree.
const maxDepth = 4096

// ShimAbove looks for a shim among the ancestors of a process, up to pid 1, and returns its pid; 0 is none. The shim of
// any home counts, for a home has more names than one. What cannot be read ends the walk: it belongs to another user.
func ShimAbove(pid int, look func(pid int) (parent int, args []string, err error)) int {
	for range maxDepth {
		parent, args, err := look(pid)
		if err != nil {
			return 0
		}
		if n := len(args); n >= 3 && args[n-2] == shimArgument && strings.HasPrefix(args[n-1], "/") {
			return pid
		}
		if parent <= 0 || pid == 1 {
			return 0
		}
		pid = parent
	}
	return 0
}
