package homes

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/handoff"
	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/learn"
	"github.com/perdure/perdure/internal/repo"
	"github.com/perdure/perdure/internal/session"
)

// conclude keeps what a session came to beside its handoff: its state file, lines of the project's journal, and proposals
// of what to remember. With consent, these files are committed. What goes wrong is logged.
func (h *Home) conclude(ctx context.Context, st *session.State) {
	ctx = context.WithoutCancel(ctx)
	warn := func(what string, err error) {
		if err != nil && !unwritable(err) { // that was told with the handoff
			h.cfg.Log.Warn(what, "session", st.ID, "error", err)
		}
	}
	documents{h}.Save(ctx, st)
	text, err := h.HandedOff(ctx, st)
	warn("the handoff of a session could not be read", err)
	m, err := knowledge.Open(h.knows(st.Config.Root))
	if err != nil {
		return // the handoff met it as well
	}
	if d, err := handoff.Parse([]byte(text)); err == nil {
		warn("the journal was not written", h.writeJournal(ctx, m.Journal(), d))
	}
	warn("what a session found out is not proposed", h.propose(ctx, st))
	if h.cfg.CommitKnowledge && h.knows(st.Config.Root).InProject {
		if err := h.commitKnowledge(ctx, st, m); !errors.Is(err, repo.ErrBusy) { // the next session's end commits it
			warn("the project's knowledge is not committed", err)
		}
	}
}

// Bounds of what one session adds to the journal.
const (
	maxJournalDone  = 8
	maxJournalOther = 4
	journalLook     = 30 // days in which a line is not said again
)

// writeJournal adds what was completed, decided and found out, and what is blocked. What a newer day says is not said
// again.
func (h *Home) writeJournal(ctx context.Context, j knowledge.Journal, d handoff.Document) error {
	days, err := j.Days(journalLook)
	if err != nil {
		return err
	}
	said := map[string]bool{}
	for _, day := range days {
		for _, item := range day.Items {
			said[strings.ToLower(item)] = true
		}
	}
	for _, part := range []struct {
		word  string
		items []string
		most  int
	}{
		{"Completed: ", d.Done, maxJournalDone},
		{"Found: ", d.State.Found, maxJournalOther},
		{"Decided: ", d.Decisions, maxJournalOther},
		{"Blocked: ", d.NotWorking, maxJournalOther},
	} {
		for _, item := range part.items[:min(len(part.items), part.most)] {
			line := part.word + item
			if said[strings.ToLower(line)] || strings.HasPrefix(item, handoff.CallFailed) {
				continue
			}
			if _, err := j.Add(ctx, line, h.cfg.Now()); err != nil {
				return err
			}
		}
	}
	return nil
}

// propose puts what the session found out into the inbox of proposals: tagged lines of its log, and of the words that the
// model found for the handoff. What an earlier end of the session proposed is not looked at again.
func (h *Home) propose(ctx context.Context, st *session.State) error {
	m, err := knowledge.Open(h.knows(st.Config.Root))
	if err != nil {
		return err
	}
	seen, err := m.Inbox().Seen(st.ID)
	if err != nil {
		return err
	}
	if seen > st.Head.Seq { // of a log that is gone
		seen = 0
	}
	words := ""
	if st.Handoff != nil && st.Handoff.Words > seen {
		body, err := h.eng.BodyAt(ctx, st.ID, st.Handoff.Words)
		if err != nil {
			return err
		}
		if w, ok := body.(*session.HandoffWritten); ok {
			words = string(w.Words)
		}
	}
	found, err := learn.Newer(ctx, h.store, st.ID, seen, words)
	if err != nil {
		return err
	}
	const often = 1000 // events without a finding that are read again rather than to write down that they were read
	if len(found) == 0 && st.Head.Seq-seen < often {
		return nil
	}
	return learn.ProposeAll(ctx, h.knows(st.Config.Root), found, knowledge.Seen{Session: st.ID, Seq: st.Head.Seq})
}

// commitKnowledge commits the files of the project's knowledge, and them alone.
func (h *Home) commitKnowledge(ctx context.Context, st *session.State, m *knowledge.Memory) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	r, err := repo.Look(ctx, st.Config.Root)
	if err != nil || r.Branch == "" { // no branch: a rebase, or a search for a fault, is under way
		return err
	}
	return r.CommitOnly(ctx, m.Files(), "Session "+st.ID+": handoff, plan, memory and journal")
}
