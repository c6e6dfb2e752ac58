package window

import (
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

// Ask is a compaction that is to be made.
type Ask struct {
	N       int64
	Level   int // the lowest that is tried
	Reason  string
	Focus   string
	Summary string // the model's; empty: the newest one stays, or one is made by rule
}

// Compact makes the body of context.compacted: at the level that is asked for, or at the first higher one whose estimate
// is below the mark, else at the highest. It is nil if there is no place where the conversation can be cut.
func Compact(st *session.State, t *session.Transcript, ask Ask) *session.Compacted {
	var out *session.Compacted
	for level := ask.Level; level <= session.LevelHighest; level++ {
		b := budgetOf(st, t.Upcoming(), level)
		cut, ok := cutAt(st, t, ask.Reason, b)
		if !ok {
			return nil
		}
		ask.Level = level
		out = compactAt(st, t, ask, cut, b)
		if st.Mark() == 0 || out.TokensAfter < st.Mark() {
			break
		}
	}
	return out
}

// Summarizes reports whether a compaction for that reason would leave something out that a summary is to speak of.
func Summarizes(st *session.State, t *session.Transcript, reason string) bool {
	cut, ok := cutAt(st, t, reason, budgetOf(st, t.Upcoming(), session.LevelWhole))
	return ok && cut.Message > 1
}

func compactAt(st *session.State, t *session.Transcript, ask Ask, cut session.Cut, b budget) *session.Compacted {
	all := t.Upcoming()
	c := &session.Compacted{
		N: ask.N, By: "model", Reason: ask.Reason, Focus: ask.Focus, Level: ask.Level, Through: cut.Through, Sent: cut.Sent,
		Tail: st.TailAfter(t, cut), CutResults: b.results, TokensBefore: st.Estimate(),
	}
	if st.Overlay != nil {
		c.Over = st.Overlay.N
	}
	if cut.In != st.ID {
		c.In = cut.In
	}
	summary := ask.Summary
	if summary == "" {
		c.By, summary = "rule", byRule(t, all[:cut.Message], b)
	}
	c.Parts = parts(st, t, cut, all[:cut.Message], summary, b)
	for _, p := range c.Parts {
		c.Size += int64(len(p.Text))
	}
	for _, m := range all[cut.Message:] {
		c.Size += size(m, b.results)
		if m.Role == model.RoleAssistant {
			c.Replies++
		}
	}
	c.Size = c.Size * min(b.scale, mostScale) / 1000
	c.TokensAfter = (c.Size+Frozen(st))/bytesPerToken + 1
	return c
}

// cutAt chooses where the conversation is cut: the newest steps that fit stay, at least one. A single one does not, if
// somebody asked and no turn is open.
func cutAt(st *session.State, t *session.Transcript, reason string, b budget) (session.Cut, bool) {
	cuts, all := t.Cuts(), t.Upcoming()
	if reason == session.CompactAsked && st.Turn == nil && len(cuts) < 2 {
		if end, ok := t.End(); ok {
			return end, true
		}
	}
	if len(cuts) == 0 {
		return session.Cut{}, false
	}
	best, n, end := len(cuts)-1, int64(0), len(all)
	for i := len(cuts) - 1; i >= 0; i-- {
		for _, m := range all[cuts[i].Message:end] {
			n += size(m, b.results)
		}
		end = cuts[i].Message
		if i < len(cuts)-1 && (n > b.tail || b.steps > 0 && len(cuts)-i > b.steps) {
			break
		}
		best = i
	}
	return cuts[best], true
}

// size is how many bytes of a message count, with each of its tool results cut to limit bytes (0: whole).
func size(m model.Message, limit int64) (n int64) {
	for _, bl := range m.Blocks {
		switch {
		case bl.Type == model.BlockThinking:
		case bl.Result != nil:
			r := session.ContentSize(bl.Result.Content)
			if limit > 0 && r > limit {
				r = limit + cutWords
			}
			n += r
		case bl.Raw != nil:
			n += int64(len(bl.Raw))
		default:
			n += int64(len(bl.Text)) + session.ContentSize([]model.Part{{Type: bl.Type, Data: bl.Data}})
		}
	}
	return n
}

// mostScale bounds what is believed of [scale] for what is kept: no text has more tokens for its bytes.
const mostScale = 2000

// cutWords is about what the words in the place of a cut result take.
const cutWords = 150
