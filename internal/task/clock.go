//go:build linux || darwin

package task

import "time"

// systemNow is the only place that asks the system for the time.
func systemNow() time.Time { return time.Now() }

// lastPoll is the longest pause between two looks at a process.
const lastPoll = 15 * time.Millisecond
