package handoff

import (
	"cmp"
	"fmt"
	"slices"
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
	d.Done, d.NotWorking, d.FailedApproaches = b.done.lines, b.not.lines, b.failed.lines
	d.Decisions = append(b.constraints.lines, b.decisions.lines...)
	d.State.InProgress, d.State.Found = b.inProgress.lines, b.found.lines
	d.NextStep = nextStep(in, k)
	d.State.generated(in)
	return d
}

// builder gathers the lists.
type builder struct {
	known
	done, not, failed, constraints, decisions, inProgress, found listing
}

// quoted is a text in one line of at most n bytes, without the code in it.
func quoted(text string, n int) string { return cut(oneLine(withoutCode(text)), n) }

// short is a commit's hash as people write it.
func short(hash string) string { return hash[:min(len(hash), 7)] }

// plan takes the plan's steps, each where it belongs.
func (b *builder) plan(st *session.State) {
	for _, s := range st.Plan {
		why := s.Blocker
		if s.Reason != "" && why != "" {
			why += ": "
		}
		why += s.Reason
		line := s.Content
		if s.Output != "" {
			line += " (" + s.Output + ")"
		}
		because := line
		if why != "" {
			because += " - " + why
		}
		line, because = b.absolute(oneLine(line)), b.absolute(oneLine(because))
		switch {
		case s.Status == session.StepDone:
			b.done.add(line)
		case s.Status == stepFailed:
			b.failed.add(because)
		case s.Status == stepBlocked || s.Blocker != "":
			b.not.add(because)
		case s.Status == session.StepExecuting:
			b.inProgress.add(because)
		}
	}
}

// facts takes the session's facts, the newest first; where one comes from is said when it is not the user or the model.
func (b *builder) facts(st *session.State) {
	for _, f := range slices.Backward(st.Facts) {
		line := f.Text
		if f.Reason != "" {
			line += " - " + f.Reason
		}
		if f.Provenance == "tool" || f.Provenance == "import" {
			line += " (from " + f.Provenance + ", unchecked)"
		}
		line = b.absolute(oneLine(line))
		switch f.Kind {
		case "failed_approach":
			b.failed.add(line)
		case "decision":
			b.decisions.add(line)
		case "constraint":
			b.constraints.add("Constraint: " + line)
		default:
			b.found.add(line)
		}
	}
}

// words adds what a model wrote.
func (b *builder) words(w Words) {
	for _, s := range []struct {
		to   *listing
		from []string
	}{
		{&b.done, w.Done},
		{&b.not, w.NotWorking},
		{&b.failed, w.FailedApproaches},
		{&b.decisions, w.Decisions},
		{&b.inProgress, w.InProgress},
		{&b.found, w.Found},
	} {
		for _, line := range s.from {
			s.to.add(b.absolute(oneLine(line)))
		}
	}
}

// failures adds the real messages: of the turn that ended otherwise than well, and of tool calls, the newest first.
func (b *builder) failures(in Input) {
	if end := in.State.LastTurn; end != nil && !ended(end.Stop) {
		line := "The last turn ended with " + end.Stop
		if end.Message != "" {
			line += ": " + errorLine(end.Message)
		}
		b.not.add(b.absolute(line))
	}
	n := 0
	for _, e := range slices.Backward(in.Errors) {
		line := errorLine(e)
		if line == "" || b.not.said(line) {
			continue
		}
		b.not.add("A tool call failed: " + b.absolute(line))
		if n++; n >= maxErrors {
			break
		}
	}
}

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

// generated fills in what the log and git say, never a model.
func (s *State) generated(in Input) {
	st := in.State
	for _, t := range slices.Backward(st.Tasks) {
		what := t.ID + ": " + cut(oneLine(t.Command), maxCommand)
		switch {
		case t.Session != "":
			s.Running = append(s.Running, what+" (of the parent session)")
		case t.Live():
			s.Running = append(s.Running, what)
		case len(s.Ended) < maxTasks:
			s.Ended = append(s.Ended, what+": "+how(t))
		}
	}
	files := make([]session.File, 0, len(st.Files))
	for _, f := range st.Files {
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b session.File) int { return cmp.Or(cmp.Compare(b.Seq, a.Seq), cmp.Compare(a.Path, b.Path)) })
	for _, f := range files {
		switch f.Use {
		case session.FileCreated:
			s.Created = append(s.Created, f.Path)
		case session.FileModified:
			s.Changed = append(s.Changed, f.Path)
		}
	}
	for _, c := range in.Git.Commits {
		s.Commits = append(s.Commits, short(c.Hash)+" "+cut(oneLine(c.Subject), maxCommand))
	}
	if in.Git.More > 0 {
		s.Commits = append(s.Commits, leftOut(in.Git.More))
	}
	s.missing(in)
}

func how(t session.Task) string {
	switch {
	case t.ExitCode != nil:
		return fmt.Sprintf("exit code %d", *t.ExitCode)
	case t.Signal != "":
		return fmt.Sprintf("%s by %s", t.Status, t.Signal)
	}
	return string(t.Status)
}

// missing says what a reader could take for there not being any.
func (s *State) missing(in Input) {
	say := func(format string, args ...any) { s.Missing = append(s.Missing, fmt.Sprintf(format, args...)) }
	if in.Words.Empty() {
		say("No model wrote a summary: this is from the session's log alone.")
		s.LastReply = quoted(in.LastReply, maxMessage)
	}
	if in.Git.Commit == "" && in.Git.Branch == "" {
		say("Nothing is known of a git repository.")
	}
	if n := in.State.Dropped.Files; n > 0 {
		say("%d files that were used longest ago are not listed.", n)
	}
	if n := in.State.Dropped.Tasks; n > 0 {
		say("%d tasks that ended longest ago are not listed.", n)
	}
}
