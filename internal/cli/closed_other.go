//go:build !linux

package cli

// stdoutClosed cannot be seen here.
func stdoutClosed() bool { return false }
