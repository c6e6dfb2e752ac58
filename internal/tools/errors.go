package tools

import "errors"

// Sentinels of tools' helpers.
var (
	// ErrChanged tells that a file is no longer what the edit was made for.
	ErrChanged = errors.New("file changed since the edit was prepared")
	// ErrNoTask tells that no task has this id.
	ErrNoTask = errors.New("no such task")
	// ErrNotRegular tells that a path is a device, a pipe or a socket, which tools do not open.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge tells that a file is over a bound.
	ErrTooLarge = errors.New("file too large")
	// ErrNoSpace tells that the disk, a quota or a file size limit is full. The file is as it was.
	ErrNoSpace = errors.New("no space left")
	// ErrUnsettled tells that a file may be before or after an edit, or, written in place, damaged. Its digest tells.
	ErrUnsettled = errors.New("outcome unsettled")
)
