package attack_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/test/modeltest"
)

// asleep stops every process of the world, as closing a laptop's lid does, until during has returned and a while has
// passed.
func (w *world) asleep(during func()) {
	w.t.Helper()
	pids := w.pids()
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			w.t.Fatal(err)
		}
	}
	during()
	begun := time.Now()
	w.until("the night to pass", func() bool { return time.Since(begun) > 1500*time.Millisecond })
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGCONT) // one that ended while it was stopped is not there
	}
}

// A laptop sleeps twice: in the middle of the model's answer, whose connection is gone afterwards, and in the middle of
// a command. The turn ends as if nothing had been.
func TestLaptopSleeps(t *testing.T) {
	w := newWorld(t)
	const prompt = "Work through the night."
	server, err := modeltest.New(modeltest.Config{Script: modeltest.Script{Conversations: []modeltest.Conversation{{
		First: prompt,
		Steps: []modeltest.Step{
			{
				Text:   "I run it.",
				Tools:  []modeltest.ToolCall{tool("Bash", `{"command":"echo x >> count; until test -e on; do sleep 0.02; done; echo finished; exit 7"}`)},
				Faults: []modeltest.Fault{{Kind: modeltest.FaultStall, After: 3, Name: "lid"}},
			},
			{Text: "Good morning."},
		},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	peer := httptest.NewServer(server)
	t.Cleanup(peer.Close)
	t.Cleanup(func() { _ = server.Close() })
	w.env = append(w.env, "ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL="+peer.URL)

	cmd := w.command("-p", "--session-id", "s", "--model", "anthropic/test-model", bypass, prompt)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := server.WaitStalled(t.Context(), "lid", 1); err != nil {
		t.Fatal(err)
	}
	w.asleep(peer.CloseClientConnections)
	server.Release("lid")

	count := filepath.Join(w.work, "count")
	w.until("the command", func() bool { return exists(count) })
	w.asleep(func() { w.write(filepath.Join(w.work, "on"), "") })
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}

	if got := w.results("s"); len(got) != 1 || !strings.Contains(got[0], "finished") || !strings.Contains(got[0], "exit code 7") {
		t.Errorf("the command's result: %q", got)
	}
	if b, _ := os.ReadFile(count); string(b) != "x\n" {
		t.Errorf("the command ran %q times", b)
	}
	r := server.Report()
	if len(r.Violations) > 0 || len(r.Conversations) != 1 || r.Conversations[0].Lost != 1 || r.Conversations[0].ChangedRetries != 0 {
		t.Errorf("the model saw: %+v", r)
	}
	w.verify("s")
}
