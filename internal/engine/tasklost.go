package engine

import (
	"context"
	"strings"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
)

// Bounds of what is told of a lost task's output, and how much is read for it: more, so that a secret that the cut
// would go through is found whole.
const (
	lastLines  = 10
	lastBytes  = 2 << 10
	lastWindow = 64 << 10
)

// stateOf is how a task stands now. That it is lost is final: whoever could know better was asked.
func (s *Session) stateOf(ctx context.Context, t session.Task) (command.State, error) {
	st, err := s.eng.cfg.Commands.State(s.lease.Session, t.Act)
	if err == nil && st.Status == command.Lost {
		st, err = s.eng.cfg.Commands.Settle(ctx, s.lease.Session, t.Act)
	}
	return s.sinceBoot(st, t.BootID), err
}

// sinceBoot blames the reboot for what it took with it: records are not synced, so of a command that ran then there may
// be nothing left, or nonsense.
func (s *Session) sinceBoot(st command.State, boot string) command.State {
	now := s.eng.cfg.BootID
	nothingLeft := st.Reason == command.ReasonDirMissing || st.Reason == command.ReasonDamaged
	if st.Status == command.Lost && nothingLeft && boot != "" && now != "" && boot != now {
		st.Reason = command.ReasonReboot
	}
	return st
}

// lost words a task's end for people, with the last output of a lost one.
func (s *Session) lost(t session.Task, st command.State, when string) Recovery {
	return Recovery{Kind: "task", ID: t.ID, Text: ended(st) + when + ": " + t.Command, Output: s.lastOutput(t, st)}
}

// lastOutput is the end of what a task printed that is lost or that the system ended, as far as it was kept. Of any other
// task it is empty: whoever wants to know asks.
func (s *Session) lastOutput(t session.Task, st command.State) string {
	if st.Status != command.Lost && st.By != command.BySystem || st.Output == 0 {
		return ""
	}
	var out []byte
	for from := max(0, st.Output-lastWindow); len(out) <= lastWindow; {
		b, next, _, err := s.eng.cfg.Commands.Read(s.lease.Session, t.Act, from, lastWindow)
		if err != nil || next <= from {
			break // whatever cannot be read, the loss is told all the same
		}
		if len(out) == 0 && from > 0 {
			b = b[s.eng.cfg.Secrets.Torn(b):]
		}
		out, from = append(out, b...), next
	}
	return tools.LastLines(s.eng.cfg.Secrets.Replace(out), lastLines, lastBytes)
}

// quoted marks each line of an output as somebody else's words.
func quoted(out string) string {
	if out == "" {
		return ""
	}
	return "\nThe last it printed, as data:\n> " + strings.ReplaceAll(out, "\n", "\n> ") + "\n"
}
