// Package toolid keeps tool call ids fit for a history: present, well formed, and never twice.
//
// An id is the model API's, and only data. But a missing, odd or repeated one would make every later request of the
// session invalid, so it is replaced when the response is sealed, by one that is derived from the act and is the same
// whenever it is derived again.
package toolid

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// maxLen bounds an id, in bytes. OpenAI refuses ids of more than 64 characters in places; Anthropic gives about 30.
const maxLen = 64

// Used are the ids that stand in a history.
type Used map[string]bool

// InHistory collects the ids of all tool calls in ms.
func InHistory(ms []model.Message) Used {
	u := Used{}
	for _, m := range ms {
		for _, b := range m.Blocks {
			if b.Tool != nil {
				u[b.Tool.ID] = true
			}
		}
	}
	return u
}

// Claim returns id if the API that gave it accepts it (fit) and it is new, else one derived from the act and n, the
// position of the block in the reply. The act's attempt has no part in it: a reply that is asked for again gets the
// same ids. The id is used from then on.
func (u Used) Claim(id, act string, n int, fit func(string) bool) string {
	if !fit(id) || u[id] {
		base := "call_" + clean(session.BaseOf(act)) + "_" + strconv.Itoa(n)
		id = base
		for i := 2; u[id]; i++ {
			id = base + "_" + strconv.Itoa(i)
		}
	}
	u[id] = true
	return id
}

// Fit reports whether every API accepts id: 1 to 64 letters, digits, _ and -.
func Fit(id string) bool {
	return id != "" && len(id) <= maxLen && strings.IndexFunc(id, odd) < 0
}

// Present reports whether id is one at all: 1 to 256 bytes without control characters. It is enough for APIs that
// give ids a form of their own, which their models may expect to see again.
func Present(id string) bool {
	return strings.TrimSpace(id) != "" && len(id) <= 256 && strings.IndexFunc(id, unicode.IsControl) < 0
}

// Portable gives an id that every API accepts for one that another API gave. The same id gives the same one, so that
// calls and their results still belong together.
func Portable(id string) string {
	if Fit(id) {
		return id
	}
	return "call_" + store.Sum([]byte(id)).String()[:32]
}

// clean makes an act id fit to be a part of a tool call id, and short.
func clean(act string) string {
	if len(act) > 40 {
		act = store.Sum([]byte(act)).String()[:32]
	}
	return strings.Map(func(r rune) rune {
		if odd(r) {
			return '_'
		}
		return r
	}, act)
}

func odd(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
}
