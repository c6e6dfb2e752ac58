package run_test

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

const slowWords = `{"turns":[{"match":"go","steps":[{"text":"slow words","delay_ms":60000}]},{"match":"hi","steps":[{"text":"Hello."}]}]}`

// A system prompt is for a new session: given to one that goes on it is refused, not dropped without a word.
func TestASystemPromptIsForANewSession(t *testing.T) {
	w := clitest.New(t)
	m := w.Scripted(slowWords)
	w.OK("-p", "--session-id", "s", "--model", m, "hi")
	before := w.OK("log", "s", "--json")
	w.Fails(app.ExitUsage, "--append-system-prompt is for a new session", "-p", "-r", "s", "--append-system-prompt", "Be brief.", "hi")
	if after := w.OK("log", "s", "--json"); after != before {
		t.Errorf("something was kept: %s", strings.TrimPrefix(after, before))
	}
}

// The day in the system prompt is that of the person's time zone, not that of UTC.
func TestTheDayIsThatOfThePerson(t *testing.T) {
	for zone, day := range map[*time.Location]string{time.FixedZone("west", -8*3600): "2026-01-01", time.FixedZone("east", 13*3600): "2026-01-02", nil: "2026-01-02"} {
		w := clitest.New(t)
		w.App.Zone = zone
		w.OK("-p", "--session-id", "s", "--model", w.Scripted(slowWords), "hi")
		if log := w.OK("log", "s", "--json"); !strings.Contains(log, "date "+day) {
			t.Errorf("zone %v: want %s in %.2000s", zone, day, log)
		}
	}
}

// A run that is parked while it waits for its model speaks of no command that runs on: there is none.
func TestAParkedRunSpeaksOfNoCommand(t *testing.T) {
	w := clitest.New(t)
	r, wait := w.Start("-p", "--session-id", "s", "--model", w.Scripted(slowWords), "go")
	clitest.Until(t, "it runs", func() bool { return strings.Contains(w.Run("list", "--json").Stdout, `"activity":"running"`) })
	w.Signals <- syscall.SIGTERM
	wait()
	o := r.Read()
	if o.Code != app.ExitSignalled+int(syscall.SIGTERM) || !strings.Contains(o.Stderr, "session s is parked: the turn stays open\n") || strings.Contains(o.Stderr, "command runs on") {
		t.Errorf("%+v", o)
	}
}

// Who is shut out of a session that another process runs is told how to hand it the prompt; that way works. And a session
// that is paused while it runs is listed as paused at once.
func TestWhoIsShutOutIsToldHowToSend(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.Hold(ctx, "s", slowWords)
	}()
	defer func() { cancel(); <-ended }()
	clitest.Until(t, "it runs", func() bool { return strings.Contains(w.OK("list", "--json"), `"activity":"running"`) })
	o := w.Fails(app.ExitHeld, `perdure send s "MESSAGE"`, "-p", "-r", "s", "--model", w.Scripted(slowWords), "hi")
	if o.Stdout != "" {
		t.Errorf("stdout %q", o.Stdout)
	}
	w.OK("send", "s", "hi")
	w.OK("pause", "s")
	if list := w.OK("list"); !strings.Contains(list, "paused") || strings.Contains(list, " running ") {
		t.Errorf("%s", list)
	}
}
