//go:build !linux

package process

// StdoutClosed cannot be seen here.
func StdoutClosed() bool { return false }
