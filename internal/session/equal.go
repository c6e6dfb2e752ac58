package session

import (
	"bytes"
	"encoding/json"
)

// Equal reports whether two states are the same in every field.
func Equal(a, b *State) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}
