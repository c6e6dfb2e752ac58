package handoff

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/perdure/perdure/internal/session"
)

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
