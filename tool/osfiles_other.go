//go:build !linux

package tool

import "os"

func renameNew(from, to string) error { return renameChecked(from, to) }

// copyAttributes copies nothing here: extended attributes are kept on Linux only.
func copyAttributes(*os.File, string) {}
