package session

import (
	"slices"
	"strconv"
)

// The actions about files. At most one of a restore's is outstanding, and none of the session's own acts begins beside it.
type (
	// CaptureFiles asks for the files.captured that answers a request for a checkpoint.
	CaptureFiles struct{ Ask CheckpointAsk }
	// RestoreFiles asks for files.restore_started, once the plan is durable, then for what FinishRestore asks for; or for
	// files.restored, when nothing can be begun.
	RestoreFiles struct{ Restore *Restore }
	// FinishRestore asks for the rest of a restore that was started, by this holder or an earlier one, then for
	// files.restored. Whatever was done of it is not done twice: a restore is known by the seq of its request.
	FinishRestore struct{ Restore *Restore }
)

func (CaptureFiles) do()  {}
func (RestoreFiles) do()  {}
func (FinishRestore) do() {}

// fileActions are the checkpoints and the restore that were asked for, as far as they can be made now. A checkpoint
// waits for the end of an act that may change files; a restore begins when no act is open.
func (s *State) fileActions() (as []Action) {
	w := &s.Workspace
	if s.ReadOnly != "" {
		return nil
	}
	if w.Restoring() {
		return []Action{{ID: RestoreID(w.Restore.Request), Do: FinishRestore{Restore: w.Restore}}}
	}
	if len(w.Asked) > 0 && !s.changing() {
		for _, a := range w.Asked {
			as = append(as, Action{ID: "checkpoint." + strconv.FormatInt(a.Seq, 10), Do: CaptureFiles{Ask: a}})
		}
	}
	if s.restoresNow() {
		as = append(as, Action{ID: RestoreID(w.Restore.Request), Do: RestoreFiles{Restore: w.Restore}})
	}
	return as
}

// RestoreID names a restore: the journal of a started one is found by it.
func RestoreID(request int64) string { return "restore." + strconv.FormatInt(request, 10) }

// besideFiles puts what is to be done about files before a turn's actions. A restore keeps them back.
func (s *State) besideFiles(as []Action) []Action {
	switch r := s.Workspace.Restore; {
	case s.restoresNow():
		as = nil
	case r != nil: // it waits for an act: nothing that it would undo may begin
		as = slices.DeleteFunc(slices.Clone(as), func(a Action) bool {
			do, ok := a.Do.(Execute)
			return ok && do.Call.State != ActExecuting
		})
	}
	if first := s.fileActions(); len(first) > 0 {
		return append(first, as...)
	}
	return as
}

// restoresNow reports whether a restore is to begin.
func (s *State) restoresNow() bool {
	return s.Workspace.Restore != nil && !s.Workspace.Restoring() && s.SettledNow()
}

// changing reports whether an act is under way that may change files.
func (s *State) changing() bool {
	if s.Turn == nil {
		return false
	}
	for i := range s.Turn.Calls {
		if c := &s.Turn.Calls[i]; c.State == ActExecuting && !c.Left && c.Effect.Changes() {
			return true
		}
	}
	return false
}
