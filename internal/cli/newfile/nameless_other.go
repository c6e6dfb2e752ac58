//go:build !linux

package newfile

import (
	"errors"
	"os"
)

// nameless makes none: this system has no files without a name.
func nameless(string) (*os.File, bool) { return nil, false }

func link(*os.File, string) error { return errors.ErrUnsupported }
