package homes

import (
	"bytes"
	"slices"

	"github.com/perdure/perdure/internal/provider/connect"
)

// HideKeys puts the keys of model APIs out of other processes' reach, as far as the system lets it. On Linux their
// values are overwritten in the environment that the process was started with, which every process of the same user
// finds in /proc/PID/environ; and the process is made one that others of its user may not trace, so that neither its
// memory nor its descriptors can be read, and that leaves no core file. Root can still read its memory. On other systems
// it does nothing.
//
// os.Getenv and Open find the keys as before. Call it early in main. It changes the whole process, so a program decides
// for itself: a debugger can no longer be attached without root, and C code that reads the environment finds the values
// gone. The perdure command calls it.
func HideKeys() error { return hideKeys() }

// maskKeys overwrites the values of key variables in an environment block, and reports whether there was one.
func maskKeys(block []byte) (found bool) {
	keys := connect.KeyVariables()
	for len(block) > 0 {
		entry := block
		if i := bytes.IndexByte(block, 0); i >= 0 {
			entry, block = block[:i], block[i+1:]
		} else {
			block = nil
		}
		name, value, ok := bytes.Cut(entry, []byte("="))
		if !ok || !slices.Contains(keys, string(name)) {
			continue
		}
		for i := range value {
			value[i] = 'x'
			found = true
		}
	}
	return found
}
