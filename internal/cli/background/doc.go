// Package background keeps sessions running without a terminal: which ones are wanted, and the processes that run them.
//
// # The model
//
// Each session that is to run on has a record, the file background/ID of the home, which is written before anything is
// started and removed when its run has ended in order. A supervisor, perdure itself in a session (setsid) of its own,
// runs it as perdure -p --wait does. It has the record open and locked from before its start until its end, so that at
// most one process supervises a session, and a record that nobody has locked is one whose supervisor was killed: whoever
// looks next ([Keeper.BringBack]) starts another. There is no daemon.
//
// A record says that a session runs, and nothing of what it may do. Rules, directories, limits and the mode are in the
// session's log before the record is written; keys of model APIs are in the environment of whoever starts the supervisor.
// So a record that somebody plants lets a session go on with the rights that it has, and no more. The mode
// bypassPermissions is in no log and no file: it lasts as long as the process that a person started with it, and what is
// brought back asks again, which is said.
//
// # The caller's duties
//
// Call nothing of this inside of a session's own command: what runs on for longer than the session is a human's to start.
package background

// MostByDefault is how many sessions work at once in the background, if nothing else was asked for. One that sleeps until
// a human, a task or a time has come does not count.
const MostByDefault = 8

// most is the highest bound that is taken, and the most records that are looked at.
const (
	maxMost    = 1000
	maxRecords = 10_000
)

// The home's directory of records, and what lies beside them: names that begin with a dot are no sessions.
const (
	dirName    = "background"
	lockName   = ".lock"          // held while somebody decides what to start
	outDir     = "streams"        // of the home; each session has a directory there
	outName    = "supervisor.txt" // what its supervisor prints
	partPrefix = ".new-"
)
