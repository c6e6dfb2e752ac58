// Package session is the core of Perdure: what a session is, without any disk, clock or network.
//
// A session is one append-only log of events with exactly one writer. Its State is what the log says, and nothing
// else is true: [Fold] computes it, [State.Apply] adds one event to it. [Next] tells what remains to be done now, as
// a set of [Action]s. Both are pure: the same log gives the same state and the same actions on every machine.
//
// There is no recovery code. An act (a model call, a tool call) is opened by an event that carries its id and the
// epoch of the holder that opened it. When a new holder takes the lease the epoch rises, every act that an older
// epoch left open turns up in Next as a [Settle], and the ordinary loop goes on from there.
//
// Duties of the caller:
//
//  1. Append before you act: the event that opens an act must be durable before its effect begins.
//  2. Act under the id in the event, so that doing it twice is harmless or can be recognised.
//  3. Append the outcome: exactly one of finished, void (provably no effect) or unknown.
//  4. On opening a session, fold its log, append session.resumed, and ask Next. Nothing else.
//
// What does not fit the state (an outcome of an act that is not open, a second start) folds to a fault: it is listed
// in State.Faults and changes nothing that matters. A log that was written by these duties has none.
//
// Files are cut by subject: each holds the bodies of its events, their slice of State and how they apply.
//
// Compatibility: a kind, once released, keeps its meaning. Unknown kinds of newer versions are carried untouched;
// an unknown kind that is flagged critical makes the session read-only for this version.
package session
