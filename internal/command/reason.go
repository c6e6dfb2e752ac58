package command

// Who ended a command, besides the names of people: the values of State.By, and of what a log says of a kill.
// What hit a bound says which: "limit (cpu)".
const (
	ByUser     = "user"
	ByModel    = "model"
	ByTimeout  = "timeout"
	ByLimit    = "limit"
	ByLifetime = "lifetime"
	BySystem   = "system" // a shutdown, a logout: whatever ends all that was started together, the shim too
	ByUnknown  = "unknown"
)

// Why a command is lost, or how it runs: values of State.Reason. One that provably did not begin may also have the words of
// an error there.
const (
	ReasonReboot       = "reboot"        // it ran when the machine went down, and no exit record was written
	ReasonShimDied     = "shim_died"     // shim and command are gone and no exit record was written
	ReasonDirMissing   = "dir_missing"   // nothing is left to tell
	ReasonDamaged      = "damaged"       // its records exist and make no sense
	ReasonCopied       = "copied"        // this is a copy: the command belongs to the original, and its end is known there
	ReasonElsewhere    = "elsewhere"     // it ran on another machine when its session was imported
	ReasonOrphaned     = "orphaned"      // running, or ended unseen, without its shim: adopting gives it a new one
	ReasonNeverStarted = "never_started" // nobody carried out its start
	ReasonForgotten    = "forgotten"     // so many tasks have ended since that the session dropped it
)
