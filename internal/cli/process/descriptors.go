package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// minFiles is how many files a process must be able to open: a home, a session and a model call need about half.
const minFiles = 64

// FewFiles says what is wrong when this process may open too few files, and how to mend it; nothing if all is well. The
// soft limit has been raised to the hard one by then, as Go does when it starts. It opens no file itself: with very few
// even the first one ends a Go program with a stack trace.
func FewFiles() string {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur >= minFiles {
		return ""
	}
	return fmt.Sprintf("perdure: this process may open %d files: %d are needed\n  %s\n", limit.Cur, minFiles, RaiseFiles)
}

// RaiseFiles is what helps where too few files may be opened.
const RaiseFiles = "raise the limit where it was set: ulimit -n 256"
