// Package sys is what differs from system to system in more than one package: how a file is opened so that no link is
// followed, how it is locked, whose it is, when a disk is full. And it says what does not work on a system.
//
// Linux and macOS have everything. Elsewhere sessions are kept, and what is written in Go works; what needs processes or
// directories as those two have them is refused by [Commands], [Captures] or [Files], which name the thing and the system.
package sys

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// ErrSystem says that something does not work on this system at all.
var ErrSystem = errors.New("not on this system")

// Commands is nil where commands can be run, and where what they left can be read.
func Commands() error { return refusal("commands", whole, "Linux or macOS", runtime.GOOS) }

// Captures is nil where the files of sessions can be captured and restored.
func Captures() error {
	return refusal("checkpoints, undo and restores of files", whole, "Linux or macOS", runtime.GOOS)
}

// Files is nil where the built-in tools can read and write files.
func Files() error { return refusal("the built-in tools for files", unixFiles, "a Unix", runtime.GOOS) }

// refusal is what is said of a thing that does not work here.
func refusal(thing string, works bool, need, here string) error {
	if works {
		return nil
	}
	return &refused{fmt.Sprintf("%s need %s; this is %s", thing, need, here)}
}

// refused is an ErrSystem that is told without these words.
type refused struct{ text string }

func (r *refused) Error() string { return r.text }

func (r *refused) Is(target error) bool { return target == ErrSystem }

// SyncDir makes the names in a directory durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(Sync(d), d.Close())
}
