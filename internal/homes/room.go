package homes

import (
	"fmt"

	"github.com/perdure/perdure/internal/spare"
	"github.com/perdure/perdure/store"
)

// logRoom is below what the log wants to be free on its disk before it takes an event.
const logRoom = 4 << 20

// Room says beforehand that nothing could be written down: for what a person is shown and asked before it is done. What
// there is room for may fill the disk all the same. Errors: store.ErrFull.
func (h *Home) Room() error {
	if free := spare.Free(h.dir); free >= 0 && free < logRoom {
		return fmt.Errorf("%w (%d KiB are left at %s)", store.ErrFull, free>>10, h.dir)
	}
	return nil
}
