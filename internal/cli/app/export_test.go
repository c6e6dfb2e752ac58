package app

import "github.com/perdure/perdure/internal/progress"

// Interrupted words an error whose cause is a signal.
var Interrupted = interrupted

// Stopping is what the first signal does.
func (a *App) Stopping() { a.stopping() }

// Tells is the meter of a home that a world has opened.
func Tells(a *App) *progress.Meter { return a.tells() }
