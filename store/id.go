package store

import (
	"errors"
	"fmt"
)

// maxID bounds an id, in bytes.
const maxID = 128

// ErrBadID says that a text cannot be the id of a session.
var ErrBadID = errors.New("no session id: use letters, digits and . _ -, up to 128, beginning with a letter or digit")

// ValidID reports whether a text may be the id of a session or of an act: letters, digits and . _ -, up to 128, with a
// letter or digit first. Ids are names of files and directories too, so nothing else may be one.
func ValidID(id string) bool {
	if id == "" || len(id) > maxID {
		return false
	}
	for i := range len(id) {
		c := id[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && (i == 0 || c != '.' && c != '_' && c != '-') {
			return false
		}
	}
	return true
}

// CheckID is nil for a valid id, else an error that wraps ErrBadID.
func CheckID(id string) error {
	if ValidID(id) {
		return nil
	}
	if len(id) > maxID {
		id = id[:maxID] + "…"
	}
	return fmt.Errorf("%q is %w", id, ErrBadID)
}

// Missing is ErrNotFound for a session that a store does not have. Who gave no id at all is told so.
func Missing(id string) error {
	if id == "" {
		return fmt.Errorf("%w: the id is empty", ErrNotFound)
	}
	return ErrNotFound
}
