package bundle

import "testing"

// A buffer that one large frame has needed is let go; one of the usual size is kept for the next frames.
func TestALargeBufferIsLetGo(t *testing.T) {
	for size, kept := range map[int]bool{frameSize: true, 2 * frameSize: true, 2*frameSize + 1: false} {
		r := &reader{stored: make([]byte, size)}
		if r.letGo(); (r.stored != nil) != kept {
			t.Errorf("%d bytes: kept %t", size, r.stored != nil)
		}
	}
}
