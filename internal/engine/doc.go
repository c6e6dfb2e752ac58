// Package engine advances sessions: it asks the pure core what must be done now, logs the intent, does it, and logs
// what happened.
//
// One [Session] is one lease on one log. Its loop reconciles: actions that are wanted and not in flight are started,
// those in flight and no longer wanted are stopped, and every outcome is appended before the next question to
// session.Next. Memory changes only after the store acknowledged the append. Resume is the same loop entered later.
//
// The engine knows its world through the interfaces in deps.go and the fields of [Config]; it never decides what a
// crash meant: the records of the shims, the digests of the files and the log do.
//
// Duties of the caller: run at most one [Session.Run] at a time; end with [Session.Close]; after an error that wraps
// store.ErrUncertain, end the process.
package engine
