package screen

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/ui/picker"
	"github.com/perdure/perdure/internal/ui/theme"
	"github.com/perdure/perdure/store"
)

// A holder that was stopped is said to be, and is taken over by one press, too.
func TestAStoppedHolderIsTakenOverWithOneKey(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	q := &heldQuestion{style: theme.Plain(), id: "s", holder: store.Holder{Host: host, PID: cmd.Process.Pid, Alive: store.Alive}, now: time.Now}
	q.Update(tea.WindowSizeMsg{Width: 120, Height: 20})
	for end := time.Now().Add(20 * time.Second); !strings.Contains(offers(q), "is stopped and answers nothing"); <-time.After(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(offers(q))
		}
	}
	if q.Update(tea.KeyPressMsg{Code: 't', Text: "t"}); q.what != picker.TakeOver {
		t.Errorf("%v", q.what)
	}
}
