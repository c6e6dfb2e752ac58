package tool

import "errors"

// Sentinels of tools' helpers.
var (
	// ErrChanged tells that a file is no longer what the edit was made for.
	ErrChanged = errors.New("file changed since the edit was prepared")
	// ErrNoTask tells that no task has this id.
	ErrNoTask = errors.New("no such task")
)
