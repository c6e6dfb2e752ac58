//go:build !unix

package pace

import "os"

// goesOn are the signals that tell a process that it goes on after it was stopped: here none is stopped.
var goesOn []os.Signal
