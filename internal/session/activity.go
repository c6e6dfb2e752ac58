package session

// Activity is what a session is doing. It is derived from the log and from who holds the session, never stored as
// truth.
type Activity string

// The activities. The log alone gives the first five ([ActivityOf]); the other three need to know the holder.
const (
	Idle    Activity = "idle"    // no open turn
	Running Activity = "running" // there is something to do; with a live holder, somebody does it
	Waiting Activity = "waiting" // a human must answer: an approval or a question
	Stopped Activity = "stopped" // a limit keeps the open turn from going on: steps, money or the context window
	Failed  Activity = "failed"  // the open turn's model call failed; it goes again when somebody resumes the session

	Parked      Activity = "parked"      // there is something to do, and the holder went in good order or the session is paused
	Interrupted Activity = "interrupted" // there is something to do, and the holder died
	Asleep      Activity = "asleep"      // a live holder waits for a task, a line of output or a time
)

// Activities are all of them.
func Activities() []Activity {
	return []Activity{Idle, Running, Waiting, Stopped, Failed, Parked, Interrupted, Asleep}
}

// ActivityOf derives the activity from a state, as if a live holder had the session.
func ActivityOf(s *State) Activity {
	switch {
	case len(s.turnActions()) > 0 || len(s.fileActions()) > 0:
		return Running
	case s.Turn == nil:
		return Idle
	case len(Waits(s)) > 0:
		return Waiting
	}
	switch stop, _ := s.Halt(); stop {
	case "":
		return Parked // the session is paused or closed
	case TurnError:
		return Failed
	}
	return Stopped
}
