package session_test

import (
	"fmt"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/window"
	"github.com/perdure/perdure/store"
)

// summarize asks for a summary as the engine does, or compacts at once where there is nothing to summarize.
func (w *world) summarize(a session.Action, d session.Summarize) error {
	if d.Reason != session.ForHandoff && !window.Summarizes(w.st, w.tr, d.Reason) {
		delete(w.flight, a.ID)
		w.compact(session.Compact{N: d.N, Reason: d.Reason, Focus: d.Focus})
		return nil
	}
	messages := window.Request(w.st, w.tr, d.Rung, d.Focus)
	if err := pairing(messages); err != nil {
		return err
	}
	w.append(engine, &session.ModelRequested{
		Act: a.ID, Turn: a.Turn, Attempt: d.Attempt, Epoch: w.st.Epoch, Model: "fake/m", Purpose: session.PurposeSummary,
		Reason: d.Reason, Rung: d.Rung, Through: w.st.Head.Seq, Prefix: store.Sum([]byte(asJSON(messages))),
		MaxTokens: window.SummaryTokens(w.st), Estimate: w.st.Estimate(),
	})
	return nil
}

func (w *world) compact(d session.Compact) {
	ask := window.Ask{N: d.N, Level: d.Level, Reason: d.Reason, Focus: d.Focus}
	if d.Reply > 0 {
		ask.Summary = decode(w.events[d.Reply-1]).(*session.ModelResponded).Prose()
	}
	w.append(engine, window.Compact(w.st, w.tr, ask))
}

func (w *world) writeHandoff(d session.WriteHandoff) {
	b := &session.HandoffWritten{N: d.N, Why: d.Why, Text: []byte("# Session Handoff")}
	if d.Reply > 0 {
		b.Words = []byte(decode(w.events[d.Reply-1]).(*session.ModelResponded).Prose())
	}
	w.append(engine, b)
}

// given puts one of a few files into the conversation: a first time, or as it is now, or as gone.
func given(file, content int) *session.ContextGiven {
	path := fmt.Sprintf("/w/%d/AGENTS.md", file)
	g := session.GivenText{Name: session.GivenInstructions, Path: path}
	if content > 0 {
		g = window.Give(session.GivenInstructions, path, fmt.Sprint("rule ", content), store.Sum([]byte{byte(content)}))
	} else {
		g.Said = []byte("gone")
	}
	return &session.ContextGiven{Why: session.GivenChanged, Texts: []session.GivenText{g}}
}

// stopped is the act of the call that failed.
func (w *world) stopped() string {
	if c := w.st.Compaction; c != nil && c.Model != nil {
		return c.Model.ID
	}
	return w.st.Turn.Model.ID
}
