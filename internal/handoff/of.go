package handoff

import (
	"cmp"
	"time"

	"github.com/perdure/perdure/internal/session"
)

// Input is what a document is made of.
type Input struct {
	State     *session.State
	Words     Words     // of a model; may be empty
	First     string    // the user's first message
	Newest    string    // the user's newest message
	LastReply string    // text of the newest reply
	Errors    []string  // what failed tool calls said, the oldest first
	Git       Git       // of the session's directory
	Written   time.Time // in the zone that the reader lives in
	// Before is the handoff that the session began with; the zero value: none. Its newest failed approaches and its
	// constraints go on, whether this session speaks of them or not.
	Before Document
}

// Git is what is known of the repository around a session's directory; the zero value: there is none.
type Git struct {
	Branch  string // empty: no branch is checked out
	Commit  string // of HEAD, 40 or 64 digits; empty: none yet
	Commits []Commit
	More    int // commits beyond Commits
}

// Commit is one that was made while the session lived.
type Commit struct{ Hash, Subject string }

// Bounds of what is quoted, in bytes, and of lists, in items.
const (
	maxMessage = 600 // of a user's message and of a reply
	maxCommand = 120 // of a task's command
	maxErrors  = 5   // error messages of tool calls
	maxTasks   = 20
	maxBefore  = 10 // failed approaches, and constraints, of the handoff before
)

// The statuses of a plan's step that say more than that it is to be done.
const (
	stepFailed  session.StepStatus = "failed"
	stepBlocked session.StepStatus = "blocked"
)

// Of makes the document of a session.
func Of(in Input) Document {
	st := in.State
	k := knownTo(st)
	d := Document{
		Session: st.ID, Seq: st.Head.Seq, Written: in.Written.Truncate(time.Second),
		Title: st.Title, Directory: st.Cwd, Branch: in.Git.Branch, Commit: short(in.Git.Commit),
	}
	d.Goal = k.absolute(cmp.Or(oneLine(in.Words.Goal), quoted(in.First, maxMessage)))
	b := builder{known: k}
	b.facts(st)
	b.plan(st)
	b.words(in.Words)
	b.failures(in)
	b.before(in.Before)
	d.Done, d.NotWorking, d.FailedApproaches = b.done.lines, b.not.lines, b.failed.lines
	d.Decisions = append(b.constraints.lines, b.decisions.lines...)
	d.State.InProgress, d.State.Found = b.inProgress.lines, b.found.lines
	d.NextStep = nextStep(in, k)
	d.State.generated(in)
	return d
}

// quoted is a text in one line of at most n bytes, without the code in it.
func quoted(text string, n int) string { return cut(oneLine(withoutCode(text)), n) }

// short is a commit's hash as people write it.
func short(hash string) string { return hash[:min(len(hash), 7)] }

// ended tells of a stop reason that the turn's prompt was answered.
func ended(stop string) bool {
	return stop == session.TurnEndTurn || stop == session.TurnNone || stop == ""
}

// nextStep is the one thing to do next: the model's word, else the plan's first step that is not done, else the message
// that nobody answered.
func nextStep(in Input, k known) string {
	if in.Words.NextStep != "" {
		return k.absolute(oneLine(in.Words.NextStep))
	}
	st := in.State
	for _, s := range st.Plan {
		if s.Status != session.StepDone && s.Status != stepFailed && s.Content != "" {
			return k.absolute(oneLine(s.Content))
		}
	}
	open := st.Turn != nil || len(st.Queue) > 0 || st.LastTurn != nil && !ended(st.LastTurn.Stop)
	if text := quoted(in.Newest, maxMessage); open && text != "" {
		return "Answer the user's newest message: " + k.absolute(text)
	}
	return ""
}
