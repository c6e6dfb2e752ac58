package window

import (
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

// bytesPerToken is how many bytes are counted as a token where nobody has counted: fewer than there are in most texts,
// so that the count is rather too high.
const bytesPerToken = 3

// The least room, in bytes, of the user's messages and of each list, however small the window is.
const (
	leastMessages = 2000
	leastList     = 1000
)

// assumed is the window of a model whose window is not known, in tokens.
const assumed = 100_000

// budget is how many bytes each part of the context may take.
type budget struct {
	window   int64 // tokens
	tail     int64
	messages int64 // the user's, word for word
	facts    int64
	small    int64 // of each of the other lists
	summary  int64
	results  int64 // of each tool result in the tail; 0: whole
	scale    int64 // see [scale]
	steps    int   // replies in the tail at most; 0: as many as fit
}

// scale is how many bytes of context one byte of text counts, in thousandths, at least 1,000: what the provider counted
// for the conversation, against what its bytes say.
func scale(st *session.State, all []model.Message) int64 {
	n := Frozen(st)
	for _, m := range all {
		n += size(m, 0)
	}
	return max(1000, st.Estimate()*bytesPerToken*1000/max(n, 1))
}

// budgetOf shares the room below the mark out, for a level of session.Level….
func budgetOf(st *session.State, all []model.Message, level int) budget {
	window, mark := st.Agent.Window, st.Mark()
	if window == 0 {
		window = min(assumed, max(st.Estimate(), 4096))
		mark = window * session.CompactAtDefault / 1000
	}
	total, by := int64(0), scale(st, all)
	for _, m := range all {
		total += size(m, 0)
	}
	free := max(0, mark*bytesPerToken*1000/by-Frozen(st)-st.GivenSize())
	b := budget{
		window: window, scale: by, tail: min(free, total) / 4, messages: max(free/6, leastMessages), facts: max(free/12, leastList),
		small: max(free/40, leastList), summary: SummaryTokens(st) * 4,
	}
	switch level {
	case session.LevelWhole:
	case session.LevelCut:
		b.results = clamp(free/40, 400, 4000)
	default:
		b.results, b.steps = clamp(free/100, 200, 1000), 1
		b.messages, b.facts, b.small = b.messages/2, b.facts/2, b.small/2
	}
	return b
}

// GivenRoom is how many bytes more of given texts a session may be given while it lives: they are kept over every
// compaction, and at least half of what is below the mark is the conversation's. most bounds all of them.
func GivenRoom(st *session.State, most int64) int64 {
	if mark := st.Mark(); mark > 0 {
		most = min(most, (mark*bytesPerToken-Frozen(st))/2)
	}
	return max(0, most-st.GivenSize())
}

func clamp(n, low, high int64) int64 { return min(max(n, low), high) }

// Frozen is how many bytes of each request never change: the system prompt and the tools.
func Frozen(st *session.State) int64 { return int64(len(st.Agent.System) + len(st.Agent.Tools)) }

// SummaryTokens bounds a summary.
func SummaryTokens(st *session.State) int64 {
	window := st.Agent.Window
	if window == 0 {
		window = assumed
	}
	return min(clamp(window/16, 256, 6000), max(st.Agent.MaxTokens, 256))
}
