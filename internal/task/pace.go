//go:build linux || darwin

package task

import "time"

const (
	littleAtATime = 2 << 10
	streakLength  = 16 // wakes in short order that make a command a busy one
	gatherings    = 64 // before it is looked again whether a busy command still prints little at a time
	gather        = time.Millisecond
)

// pace decides how the output of a command that prints all the time is taken. One that writes blocks is followed at
// once, so that both run side by side. One that writes little each time is left alone for a moment before each look:
// woken for each of its writes, the shim would take its time away.
type pace struct {
	emptied time.Time // when the FIFO was last found empty
	quick   int       // wakes in short order
	little  int       // of those, how many in a row brought little, or came after a moment's pause
}

// pause is how long to let the FIFO fill before it is emptied.
func (p *pace) pause() time.Duration {
	if p.little < streakLength {
		return 0
	}
	return gather
}

// emptying notes a wake at one time that moved some bytes and found the FIFO empty at another. It reports, once, that
// the command has become a busy one.
func (p *pace) emptying(woken, emptied time.Time, moved int) (busy bool) {
	soon := woken.Sub(p.emptied) <= gather
	p.emptied = emptied
	if !soon {
		p.quick, p.little = 0, 0
		return false
	}
	p.quick = min(p.quick+1, streakLength+1)
	switch paused := p.little >= streakLength; {
	case p.little >= streakLength+gatherings, !paused && moved > littleAtATime:
		p.little = 0
	default:
		p.little++
	}
	return p.quick == streakLength
}
