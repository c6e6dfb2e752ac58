package modeltest

import (
	"fmt"
	"time"
)

// A Fault is what goes wrong with one attempt of a step. The zero Fault is none.
type Fault struct {
	Kind FaultKind `json:"kind,omitempty"`
	// After is the number of frames that are sent first. Zero means that the
	// fault strikes before the response's headers.
	After int `json:"after,omitempty"`
	// Status is the code of FaultStatus.
	Status int `json:"status,omitempty"`
	// Headers are added to the response of FaultStatus, such as retry-after.
	Headers map[string]string `json:"headers,omitempty"`
	// Name is what FaultStall is waited for and released by. Empty means the
	// conversation's key, a slash and the step.
	Name string `json:"name,omitempty"`
	// DelayMS is the pause between the pieces of FaultDrip, in milliseconds.
	DelayMS int `json:"delay_ms,omitempty"`
}

// A FaultKind names a way to fail.
type FaultKind string

// The faults. Frames are counted as they are written, pings included.
const (
	FaultNone FaultKind = ""
	// FaultStatus answers with Status and the API's error envelope.
	FaultStatus FaultKind = "status"
	// FaultDisconnect cuts the connection.
	FaultDisconnect FaultKind = "disconnect"
	// FaultTruncate ends the response cleanly, but too early.
	FaultTruncate FaultKind = "truncate"
	// FaultStall waits until it is released, then goes on as if nothing was.
	FaultStall FaultKind = "stall"
	// FaultMalformed sends a frame that is no JSON, then ends.
	FaultMalformed FaultKind = "malformed"
	// FaultErrorEvent sends an error inside the stream (overloaded), then ends.
	FaultErrorEvent FaultKind = "error_event"
	// FaultDrip sends all, in pieces of a few bytes that respect no boundary.
	FaultDrip FaultKind = "drip"
)

const maxDelay = 10 * time.Second

func (f Fault) validate() error {
	switch f.Kind {
	case FaultNone, FaultDisconnect, FaultTruncate, FaultStall, FaultMalformed, FaultErrorEvent, FaultDrip:
	case FaultStatus:
		if f.Status < 400 || f.Status > 599 {
			return fmt.Errorf("status %d is no error", f.Status)
		}
	default:
		return fmt.Errorf("unknown kind %q", f.Kind)
	}
	if f.After < 0 || f.DelayMS < 0 || f.delay() > maxDelay {
		return fmt.Errorf("after %d or delay %d ms is out of bounds", f.After, f.DelayMS)
	}
	return nil
}

func (f Fault) delay() time.Duration { return time.Duration(f.DelayMS) * time.Millisecond }
