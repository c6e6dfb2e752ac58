package sim

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// seen is what the API remembers of one session's requests.
type seen struct {
	messages []model.Message
	encoded  [][]byte                // what is frozen, then the messages
	bases    map[string]store.Digest // of the first request of each call, whole, by act without attempt
}

// inspect holds a request against the rules of the API, and against the requests before it.
func (w *World) inspect(lineage string, r modelapi.Request) {
	if why := pairing(r.Messages); why != "" {
		w.faultLocked("request %s of %s: %s", r.Act, lineage, why)
	}
	s := w.requests[lineage]
	if s == nil {
		s = &seen{bases: map[string]store.Digest{}}
		w.requests[lineage] = s
	}
	encoded := encodeMessages(r)
	if r.NoTools { // a call for a summary: what was sent, with the request at its end, or all of it as text
		if len(r.Messages) > 1 {
			w.extends(lineage, r, s, encoded)
		}
		return
	}
	anew := compacted(r.Messages) && (len(s.encoded) < 2 || !bytes.Equal(encoded[1][:min(len(encoded[1]), len(s.encoded[1]))], s.encoded[1]))
	params := fmt.Appendf(nil, "%s %d %+v", r.Model, r.MaxTokens, r.Params)
	base, whole := session.BaseOf(r.Act), store.Sum(bytes.Join(append(encoded, params), []byte{1}))
	if first, known := s.bases[base]; !known {
		s.bases[base] = whole
	} else if first != whole && !anew {
		w.faultLocked("request %s of %s: a retry differs from the first attempt", r.Act, lineage)
	}
	if compacted(r.Messages) {
		w.keeps(lineage, r, encoded)
	}
	if !anew {
		w.extends(lineage, r, s, encoded)
	}
	s.messages, s.encoded = r.Messages, encoded
}

// extends checks that the prefix is append-only: whatever was answered stays, byte by byte. Only a last
// user message without an answer may get more blocks.
func (w *World) extends(lineage string, r modelapi.Request, old *seen, encoded [][]byte) {
	n := len(old.encoded)
	if len(encoded) < n {
		w.faultLocked("request %s of %s: %d messages after %d", r.Act, lineage, len(encoded), n)
		return
	}
	for i := range n {
		same := bytes.Equal(old.encoded[i], encoded[i])
		if i > 0 && i == n-1 && len(encoded) == n {
			same = bytes.HasPrefix(encoded[i], old.encoded[i])
		}
		if !same {
			w.faultLocked("request %s of %s: message %d of %d changed after it was sent (0 is system and tools)", r.Act, lineage, i, n-1)
			return
		}
	}
}

// pairing checks roles, and that every tool call is answered once, first thing in the very next message, in order.
func pairing(ms []model.Message) string {
	if len(ms) == 0 || ms[0].Role != model.RoleUser {
		return "the first message is not the user's"
	}
	if last := ms[len(ms)-1]; last.Role != model.RoleUser && !paused(last) {
		return "the last message is not the user's"
	}
	var open []string
	for i, m := range ms {
		if i > 0 && ms[i-1].Role == m.Role && !paused(ms[i-1]) {
			return "two messages in a row of " + string(m.Role)
		}
		if len(m.Blocks) == 0 {
			return "an empty message"
		}
		var results []string
		text := false
		for _, b := range m.Blocks {
			switch {
			case b.Result != nil && text:
				return "a tool result after other content"
			case b.Result != nil:
				results = append(results, b.Result.ID)
			default:
				text = true
			}
			if b.Type == model.BlockText && m.Role == model.RoleUser && b.Text == "" {
				return "an empty text"
			}
		}
		if strings.Join(results, " ") != strings.Join(open, " ") {
			return "calls " + strings.Join(open, " ") + " are answered by " + strings.Join(results, " ")
		}
		open = nil
		for _, b := range m.Blocks {
			if b.Tool != nil {
				open = append(open, b.Tool.ID)
			}
		}
	}
	return ""
}

// paused reports whether a message is the script's reply that goes on after a pause.
func paused(m model.Message) bool { return m.Blocks[len(m.Blocks)-1].Text == "paused" }
