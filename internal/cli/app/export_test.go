package app

import "github.com/perdure/perdure/internal/progress"

// Tells is the meter of a home that a world has opened.
func Tells(a *App) *progress.Meter { return a.tells() }
