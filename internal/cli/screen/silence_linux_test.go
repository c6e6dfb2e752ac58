package screen_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/cli/screen"
	"github.com/perdure/perdure/store"
)

// A holder that was stopped does not look healthy: whoever looks on is told, and what can be done. It works again when it
// goes on. What is asked of it meanwhile is not waited for without end.
func TestAStoppedHolderIsToldOf(t *testing.T) {
	w := clitest.New(t)
	w.App.Now = time.Now
	slow := words("go", `{"text":"`+strings.Repeat("many words ", 4000)+`","delay_ms":50}`)
	cmd := killable(t, w, "-p", "--session-id", "s", "--model", w.Scripted(slow), "go")
	h := w.Open("{}")
	defer w.Close(h)
	clitest.Until(t, "it runs", func() bool {
		st, err := h.State(t.Context(), "s")
		return err == nil && st.Turn != nil && st.NewestCall() != nil
	})
	d := sits(t, w, h, attached("s"))
	defer d.leaves()
	d.sees("> go\n", "many words", "[working]")
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	d.sees("is stopped and does not answer: enter to fork or take over")
	d.lacks("[working]")
	if _, err := d.Cancel(t.Context()); err == nil || !strings.Contains(err.Error(), "has not looked") {
		t.Errorf("cancelled: %v", err)
	}
	if err := d.Send(t.Context(), "k", written("later")); err != nil {
		t.Errorf("a message to it: %v", err)
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	d.lacks("is stopped")
}

// A holder that leaves what was sent to it does not answer; one that takes it, late or not, does.
func TestAHolderThatTakesNothing(t *testing.T) {
	var s screen.Silence
	now := time.Unix(1000, 0)
	info := store.Info{Mark: 3, Holder: &store.Holder{ID: "a", Host: "elsewhere", PID: 1}}
	look := func(after time.Duration) string {
		now = now.Add(after)
		return s.Look(info, now)
	}
	if got := look(0) + look(time.Hour); got != "" {
		t.Errorf("nothing was sent: %s", got)
	}
	info.Pending = 1
	if got := look(0) + look(screen.SilentAfter-1); got != "" {
		t.Errorf("it may take a while: %s", got)
	}
	if got := look(time.Minute); got != "has not answered for 1m 6s" && !strings.HasPrefix(got, "has not answered for 1m") {
		t.Errorf("%q", got)
	}
	info.Mark++ // it took one, and another one came
	if got := look(time.Second); got != "" {
		t.Errorf("it has taken something: %s", got)
	}
	info.Holder.ID = "b"
	if got := look(time.Minute); got != "" {
		t.Errorf("another one holds it: %s", got)
	}
}
