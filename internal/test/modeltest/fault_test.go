package modeltest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Status codes come in the API's envelope, with the headers of the script, and
// the attempt after the last fault succeeds with the unchanged answer.
func TestFaultStatusByAttempt(t *testing.T) {
	step := Step{Text: "at last", Faults: []Fault{
		{Kind: FaultStatus, Status: 408},
		{Kind: FaultStatus, Status: 429, Headers: map[string]string{"retry-after": "1"}},
		{},
		{Kind: FaultStatus, Status: 529},
	}}
	s := start(t, script(step))
	for i, want := range []int{408, 429, 200, 529, 200, 200} {
		r := post(t, s, messagesPath, ask(hi, stream))
		if r.status != want {
			t.Fatalf("attempt %d: status %d, want %d", i+1, r.status, want)
		}
		if want == 429 && (r.header.Get("retry-after") != "1" || !strings.Contains(r.body, "rate_limit_error")) {
			t.Errorf("429: %v %s", r.header, r.body)
		}
	}
	c := onlyConversation(t, s)
	if c.Requests != 6 || c.Steps[0].Attempts != 6 || len(s.Violations()) != 0 {
		t.Errorf("report %+v %v", c, s.Violations())
	}
	if c.Started != 3 || c.Sealed != 1 || c.Lost != 2 || c.ChangedRetries != 0 {
		t.Errorf("report %+v", c)
	}
}

func TestFaultDisconnect(t *testing.T) {
	step := Step{Text: "some text that is long enough", Faults: []Fault{
		{Kind: FaultDisconnect}, {Kind: FaultDisconnect, After: 6}, {Kind: FaultDisconnect, After: 1000},
	}}
	for path, body := range map[string]string{messagesPath: ask(hi, stream), chatPath: chat(hi, stream)} {
		s := start(t, script(step))
		if _, err := send(t.Context(), s.URL(), path, body); err == nil {
			t.Errorf("%s: headers came", path)
		}
		if r := post(t, s, path, body); r.err == nil || len(events(r.body)) == 0 {
			t.Errorf("%s: error %v after %q", path, r.err, r.body)
		}
		if r := post(t, s, path, body); r.err == nil || !assemble(r.body).whole && !assembleChat(r.body).whole {
			t.Errorf("%s: a cut after the end must leave a whole answer: %v %q", path, r.err, r.body)
		}
		if c := onlyConversation(t, s); c.Requests != 3 || c.Started != 2 || c.Lost != 1 || c.Sealed != 1 {
			t.Errorf("%s: report %+v", path, c)
		}
	}
}

// Without a stream the cut goes through the body, and its length tells.
func TestFaultDisconnectInBody(t *testing.T) {
	s := start(t, script(Step{Text: "some text", Faults: []Fault{{Kind: FaultDisconnect, After: 1}}}))
	if r := post(t, s, messagesPath, ask(hi, "")); r.err == nil {
		t.Errorf("the body is whole: %s", r.body)
	}
	mustPass(t, s, messagesPath, ask(hi, ""))
	if c := onlyConversation(t, s); c.Lost != 1 || c.Sealed != 1 {
		t.Errorf("report %+v", c)
	}
}

func TestFaultTruncateMalformedError(t *testing.T) {
	for _, kind := range []FaultKind{FaultTruncate, FaultMalformed, FaultErrorEvent} {
		for _, after := range []int{0, 4} {
			s := start(t, script(Step{Text: "some text", Faults: []Fault{{Kind: kind, After: after}}}))
			r := post(t, s, messagesPath, ask(hi, stream))
			if r.err != nil || r.status != 200 || assemble(r.body).whole {
				t.Errorf("%s after %d: %v %d %q", kind, after, r.err, r.status, r.body)
			}
			if kind == FaultErrorEvent && !strings.Contains(r.body, "event: error\n") {
				t.Errorf("no error event: %q", r.body)
			}
			if !assemble(mustPass(t, s, messagesPath, ask(hi, stream)).body).whole {
				t.Errorf("%s after %d: the second attempt failed too", kind, after)
			}
		}
	}
}

// A drip gives the same bytes, in pieces that split lines and runes.
func TestFaultDrip(t *testing.T) {
	var pauses int
	cfg := script(Step{Text: "drïp drïp", Faults: []Fault{{Kind: FaultDrip, DelayMS: 5}}})
	cfg.Sleep = func(_ context.Context, d time.Duration) error {
		if d != 5*time.Millisecond {
			t.Errorf("pause of %v", d)
		}
		pauses++
		return nil
	}
	s := start(t, cfg)
	slow := assemble(mustPass(t, s, messagesPath, ask(hi, stream)).body)
	fast := assemble(mustPass(t, s, messagesPath, ask(hi, stream)).body)
	if slow.message != fast.message || !slow.whole {
		t.Errorf("%s\n%s", slow.message, fast.message)
	}
	if err := s.Close(); err != nil || pauses < 20 {
		t.Errorf("%d pauses, close: %v", pauses, err)
	}
}

// A stall holds the stream at the frame that the script names; the test knows
// when it is reached, kills the client, and sees the call as lost.
func TestFaultStall(t *testing.T) {
	stall := Fault{Kind: FaultStall, After: 5, Name: "mid"}
	s := start(t, script(Step{Text: "some text that goes on", Faults: []Fault{stall, stall, stall}}))
	for n := 1; n <= 2; n++ {
		ctx, kill := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { _, err := send(ctx, s.URL(), messagesPath, ask(hi, stream)); done <- err }()
		if err := s.WaitStalled(deadline(t), "mid", n); err != nil {
			t.Fatal(err)
		}
		if c := onlyConversation(t, s); c.InFlight != 1 || c.Lost != n-1 {
			t.Errorf("while stalled: %+v", c)
		}
		kill()
		<-done
		waitFor(t, func() bool { return onlyConversation(t, s).InFlight == 0 })
	}
	s.Release("mid")
	mustPass(t, s, messagesPath, ask(hi, stream))
	c := onlyConversation(t, s)
	if c.Started != 3 || c.Lost != 2 || c.Sealed != 1 || c.LostInput != 2*c.Usage.Input {
		t.Errorf("report %+v", c)
	}
}

// A stall before the headers is no call yet.
func TestFaultStallBeforeHeaders(t *testing.T) {
	s := start(t, script(Step{Text: "x", Faults: []Fault{{Kind: FaultStall}}}))
	ctx, kill := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { _, err := send(ctx, s.URL(), messagesPath, ask(hi, stream)); done <- err }()
	if err := s.WaitStalled(deadline(t), "hi/0", 1); err != nil {
		t.Fatal(err)
	}
	kill()
	if err := <-done; err == nil {
		t.Error("headers came")
	}
	mustPass(t, s, messagesPath, ask(hi, stream))
	if c := onlyConversation(t, s); c.Started != 1 || c.Lost != 0 || c.Requests != 2 {
		t.Errorf("report %+v", c)
	}
}

// Close frees whoever waits, may be called twice and by two at once.
func TestCloseWhileStalled(t *testing.T) {
	s := start(t, script(Step{Text: "x", Faults: []Fault{{Kind: FaultStall, After: 2}}}))
	done := make(chan error, 1)
	go func() {
		r, err := send(context.Background(), s.URL(), messagesPath, ask(hi, stream))
		if err == nil {
			err = r.err
		}
		done <- err
	}()
	if err := s.WaitStalled(deadline(t), "hi/0", 1); err != nil {
		t.Fatal(err)
	}
	other := make(chan error, 1)
	go func() { other <- s.Close() }()
	_ = s.Close()
	<-other
	if err := <-done; err == nil {
		t.Error("the stalled answer came to its end")
	}
	if err := s.WaitStalled(t.Context(), "never", 1); !errors.Is(err, ErrClosed) {
		t.Errorf("wait after close: %v", err)
	}
	if _, err := http.Get(s.URL()); err == nil {
		t.Error("still listening")
	}
}

func onlyConversation(t *testing.T, s *Server) ConversationReport {
	t.Helper()
	r := s.Report()
	if len(r.Conversations) != 1 {
		t.Fatalf("%d conversations", len(r.Conversations))
	}
	return r.Conversations[0]
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	ctx := deadline(t)
	for !done() {
		select {
		case <-ctx.Done():
			t.Fatal("never came true")
		case <-time.After(time.Millisecond):
		}
	}
}

// A panic of a test's own Respond costs its request, not the server.
func TestRespondPanics(t *testing.T) {
	s := start(t, Config{Respond: func(r ParsedRequest) Step {
		if r.Key == "boom" {
			panic(http.ErrAbortHandler) // any other value would only be logged besides
		}
		return Step{Text: "fine"}
	}})
	if _, err := send(deadline(t), s.URL(), messagesPath, ask(user(`"boom"`), stream)); err == nil {
		t.Error("an answer came")
	}
	mustPass(t, s, messagesPath, ask(hi, stream))
	if rep := s.Report(); rep.Requests != 1 || rep.Refused != 0 {
		t.Errorf("report %+v", rep)
	}
}
