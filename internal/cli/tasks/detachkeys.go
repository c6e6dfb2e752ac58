package tasks

import (
	"bytes"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
)

// defaultDetach is the key that leaves a task which one is attached to. Few programs want it, and no multiplexer around
// us takes it.
const defaultDetach = `ctrl-\`

// maxDetachKeys bounds the length of a detach sequence.
const maxDetachKeys = 8

// parseKeys reads keys as in ctrl-\ or ctrl-b,d.
func parseKeys(text string) ([]byte, error) {
	var keys []byte
	for _, name := range strings.Split(text, ",") {
		key, ok := byte(0), false
		if c, ctrl := strings.CutPrefix(strings.ToLower(name), "ctrl-"); ctrl && len(c) == 1 {
			if key = c[0] & 0x1f; c[0] >= 'a' && c[0] <= 'z' || strings.Contains(`@[\]^_`, c) {
				ok = true
			}
		} else if len(name) == 1 && name[0] > ' ' && name[0] < 0x7f {
			key, ok = name[0], true
		}
		if keys = append(keys, key); !ok || len(keys) > maxDetachKeys {
			return nil, app.UsageError("detach keys %q: name up to %d keys, as in %s or ctrl-b,d", text, maxDetachKeys, defaultDetach)
		}
	}
	return keys, nil
}

// detachKeys looks for a sequence of keys in what is typed. What may be its beginning is kept back until the next key
// shows that it is not.
type detachKeys struct {
	keys []byte
	held int // of the sequence's keys that came
}

// typed takes keys and returns those that are for the task, and whether the sequence was completed.
func (d *detachKeys) typed(b []byte) (forTask []byte, detach bool) {
	for _, c := range b {
		if c == d.keys[d.held] {
			if d.held++; d.held == len(d.keys) {
				d.held = 0
				return forTask, true
			}
			continue
		}
		// The longest end of what was held and c that may still be a beginning is held on; the rest was not for us.
		seen := append(bytes.Clone(d.keys[:d.held]), c)
		for d.held = min(len(seen), len(d.keys)-1); d.held > 0 && !bytes.HasSuffix(seen, d.keys[:d.held]); {
			d.held--
		}
		forTask = append(forTask, seen[:len(seen)-d.held]...)
	}
	return forTask, false
}
