package screen_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/ui/chat"
)

// A line of a shell runs in the session's directory as a task of it, which is made if there is none; what it prints
// comes back with how it ended; what a deny rule names is refused, with nothing run.
func TestAPersonRunsALineOfAShell(t *testing.T) {
	w := clitest.New(t)
	w.App.Now = time.Now
	h := w.Open("{}")
	defer w.Close(h)
	d := sits(t, w, h, nil)
	defer d.leaves()
	ran, err := d.Shell(t.Context(), "pwd; echo no >&2; exit 3")
	if err != nil {
		t.Fatal(err)
	}
	end, err := d.ShellEnd(t.Context(), ran)
	if err != nil || end.How != "exit code 3" || end.Output != w.Dir+"\nno\n" || end.Task != "bash_1" {
		t.Errorf("%+v %v", end, err)
	}
	if d.Session() != "s" {
		t.Error("there is no session")
	}
	w.Configure("[permissions]\ndeny = [\"Bash(touch:*)\"]\n")
	if _, err := d.Shell(t.Context(), "touch x"); err == nil || !strings.Contains(err.Error(), "touch") {
		t.Errorf("denied: %v", err)
	}
	if st, err := h.State(t.Context(), "s"); err != nil || len(st.Tasks) != 1 || st.Turn != nil {
		t.Errorf("%+v %v", st.Tasks, err)
	}
}

// What a line of a shell printed is not lost with the screen that ran it, however that ended: the next one has it,
// while it runs too, until a message has told it, once, or its person has it forgotten. A message that waits, or is
// taken back, counts as such.
func TestWhatAPersonRanIsTherePastTheScreenUntilAMessageTellsIt(t *testing.T) {
	w := clitest.New(t)
	w.App.Now = time.Now
	w.Create("s")
	h := w.Open(words("why?", `{"text":"Because."}`))
	defer w.Close(h)
	left := func(want ...string) []chat.Ran {
		t.Helper()
		d := sits(t, w, h, held("s"))
		defer d.leaves()
		ran, err := d.ShellLeft(t.Context())
		var lines []string
		for _, r := range ran {
			lines = append(lines, r.Line)
		}
		if err != nil || !slices.Equal(lines, want) {
			t.Fatalf("there is %q, want %q; %v", lines, want, err)
		}
		return ran
	}
	d := sits(t, w, h, held("s"))
	for _, line := range []string{"echo one; exit 3", "echo two", "echo three"} {
		if _, err := d.Shell(t.Context(), line); err != nil {
			t.Fatal(err)
		}
	}
	d.leaves() // before it has seen an end
	ran := left("echo one; exit 3", "echo two", "echo three")
	d = sits(t, w, h, held("s"))
	end, err := d.ShellEnd(t.Context(), ran[0])
	if err != nil || end.Output != "one\n" || end.How != "exit code 3" {
		t.Errorf("%+v %v", end, err)
	}
	if err := d.ShellForget(t.Context(), ran[2:]); err != nil {
		t.Fatal(err)
	}
	d.leaves()
	left("echo one; exit 3", "echo two")
	key := chat.Tells("k", ran[:1])
	if _, err := h.Send(t.Context(), "s", key, "I ran it"); err != nil { // nobody holds it: it waits
		t.Fatal(err)
	}
	left("echo two")
	if err := h.Withdraw(t.Context(), "s", key); err != nil {
		t.Fatal(err)
	}
	left("echo one; exit 3", "echo two")
	d = sits(t, w, h, held("s"))
	d.says(chat.Tells("k2", ran), "why?")
	d.sees("Because.")
	d.leaves()
	left()
}
