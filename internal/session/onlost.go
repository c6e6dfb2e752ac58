package session

import "fmt"

// What becomes of the files when an act that may have changed them was interrupted, and nobody can tell what it did.
const (
	OnLostAsk      = "ask"      // they stay, and the person is told how to take it back; so does the empty text
	OnLostKeep     = "keep"     // they stay
	OnLostRollback = "rollback" // they become what they were before the act, before anything else begins
)

// CheckOnLost says why a text is none of them.
func CheckOnLost(how string) error {
	switch how {
	case OnLostAsk, OnLostKeep, OnLostRollback:
		return nil
	}
	return fmt.Errorf("%q: use ask, rollback or keep", how)
}
