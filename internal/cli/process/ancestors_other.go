//go:build !linux

package process

import "errors"

// Stopped is not known here.
func Stopped(int) bool { return false }

// ParentAndArgs is not known here: only the environment reports whether a process belongs to a session.
func ParentAndArgs(int) (parent int, args []string, err error) {
	return 0, nil, errors.New("process arguments cannot be read on this system")
}
