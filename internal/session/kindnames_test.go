package session_test

import (
	"strings"
	"testing"
)

// Programs branch on kinds, which no public package names: the page that lists them has all.
func TestStreamJSONNamesEveryKind(t *testing.T) {
	page := readFile(t, "../../docs/stream-json.md")
	for _, k := range kinds {
		if !strings.Contains(page, "`"+string(k)+"`") {
			t.Errorf("docs/stream-json.md does not name %s", k)
		}
	}
}
