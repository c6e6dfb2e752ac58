package engine

import (
	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
)

// mode is what a run of the loop is for.
type mode struct {
	turns bool        // the inbox is drained, awaits are watched, and turns go on
	takes subject     // of what is outstanding, what this run performs
	over  bool        // an act whose command still runs is left alone
	rests func() bool // whether the run may end, asked when nothing is in flight and nothing progresses
}

// subject is a set of what actions are about.
type subject uint8

const (
	ofTurns    subject = 1 << iota // turns, calls of the model and of tools
	ofSettling                     // what an earlier holder left open
	ofTasks                        // running tasks, and awaits
	ofRestarts                     // tasks that a reboot took
	ofFiles                        // checkpoints and restores
	ofSummary                      // a compaction, with the call for its summary
)

// Which run performs what. An action that is about several things is performed where one of them is.
//
//	            turns  settling  tasks  restarts  files  summary
//	run           x       x        x       x        x       x
//	held still            x        x                x
//	tend                           x                x
//	restore                        x       x
//	compact                                                 x
//	settle left           x
const (
	forRun     = ofTurns | ofSettling | ofTasks | ofRestarts | ofFiles | ofSummary
	forStill   = ofSettling | ofTasks | ofFiles
	forTending = ofTasks | ofFiles
	forRestore = ofTasks | ofRestarts
	forCompact = ofSummary
)

// subjectOf says what an action is about. A command that was sent to the background is looked up like any other: if it
// runs, it is a task now. What nobody knows is of turns, so that a run meets it and says so.
func (s *held) subjectOf(do session.Do) subject {
	switch do := do.(type) {
	case session.StartTurn, session.EndTurn, session.CallModel, session.Decide, session.Execute, session.Conclude, session.Wake:
		return ofTurns
	case session.StartTask, session.KillTask, session.WriteTask, session.MeetAwait, session.DropAwait:
		return ofTasks
	case session.RestartTask:
		return ofRestarts
	case session.CaptureFiles, session.RestoreFiles, session.FinishRestore:
		return ofFiles
	case session.Summarize, session.Compact, session.WriteHandoff:
		return ofSummary
	case session.Settle:
		switch c := s.state.Compaction; {
		case do.Call == nil && c != nil && c.Model != nil:
			return ofSettling | ofSummary
		case do.Call != nil && do.Call.Start != nil && do.Call.Start.Moved:
			return ofSettling | ofTasks
		}
		return ofSettling
	}
	return ofTurns
}

// performs reports whether a run of a mode performs an action now.
func (s *Session) performs(m mode, do session.Do) bool {
	takes := m.takes
	if s.still && s.awaiting.serves {
		takes &= forStill
	}
	return s.subjectOf(do)&takes != 0 && !(m.over && s.runsOn(do))
}

// runsOn reports whether an action settles an act whose command still runs, or whose state cannot be told.
func (s *held) runsOn(do session.Do) bool {
	settle, ok := do.(session.Settle)
	if !ok || settle.Call == nil || settle.Call.Effect != session.EffectProcess || s.eng.cfg.Commands == nil {
		return false
	}
	now, err := s.eng.cfg.Commands.State(s.state.ID, settle.Call.ID)
	return err != nil || now.Status == command.Running
}
