package app_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: a session is called in words as briefly as it can be found again: by its name if it alone has that, else by the
// end of its id; by the id where a program may read it. Whatever it is called finds it.
func TestWhatASessionIsCalledFindsIt(t *testing.T) {
	w := clitest.New(t)
	const long, twin = "01a20950-11bd-74f9-92b1-eb328c5380f7", "01a20950-1dca-7057-b0a1-ac6535b1bc43"
	const named, flag, same = "01a20950-1dca-7057-b0a1-ac6535b1bc44", "01a20950-1dca-7057-b0a1-ac6535b1bc45", "01a20950-1dca-7057-b0a1-ac6535b1bc46"
	for _, id := range []string{long, twin, named, flag, same, "own"} {
		w.Create(id)
	}
	w.OK("rename", long, "my work")
	w.OK("rename", named, "twin")
	w.OK("rename", twin, "twin")
	w.OK("rename", flag, "b1bc46") // a name that looks like the end of another id
	w.OK("rename", same, "own")    // a name that is another's id
	h := w.Open("{}")
	defer w.Close(h)
	w.App.Screen = true
	for id, want := range map[string]string{long: "'my work'", named: "35b1bc44", twin: "35b1bc43", flag: "b1bc46", same: "35b1bc46", "own": "own", "gone": "gone"} {
		got := w.App.Call(t.Context(), h, id)
		if got != want {
			t.Errorf("%s is called %q, want %q", id, got, want)
		}
		if found, err := w.App.Resolve(t.Context(), h, strings.Trim(got, "'")); id != "gone" && (err != nil || found != id) {
			t.Errorf("%q finds %s: %v", got, found, err)
		}
	}
	w.App.Screen = false
	if got := w.App.Call(t.Context(), h, long); got != long {
		t.Errorf("a program is told %q", got)
	}
}
