package session_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// TestRandomRuns lets an engine that follows Next run through random weather: replies of all sorts, failures, humans
// who answer, cancel, pause and change rules, crashes anywhere, forks. At every point the set of actions is sound and
// what the model would be sent keeps the APIs' rules; at the end, Next runs dry exactly when a human is needed.
func TestRandomRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &run{world: newWorld("s"), src: seeded(t), t: t, told: map[string]bool{}}
		r.begin()
		for range rapid.IntRange(5, 120).Draw(t, "moves") {
			r.move()
			if err := r.quick(); err != nil {
				t.Fatalf("%s\n%s", err, r.out.String())
			}
		}
		if err := r.check(); err != nil {
			t.Fatalf("%s\n%s", err, r.out.String())
		}
		r.snapshot()
		r.drain()
		if err := r.check(); err != nil {
			t.Fatalf("%s\n%s", err, r.out.String())
		}
		for w := r.world; w != nil; w = w.parent {
			if err := onceOnly(w.events, w == r.world); err != nil {
				t.Fatalf("%s\n%s", err, r.out.String())
			}
		}
	})
}

// run is a world in random weather.
type run struct {
	*world
	src   source
	t     *rapid.T
	forks int
	ended bool            // replies make no calls any more
	told  map[string]bool // what a request held of what awaits came to
}

func (r *run) begin() {
	agent := session.Agent{Provider: "fake", Model: "m", Price: &model.Price{Input: 1, Output: 5}}
	if r.src.number(3) == 0 {
		agent.Window = 4000
	}
	compactAt := []int{0, 100, 300}[r.src.number(3)]
	r.append(human, &session.Opened{ID: r.id, Owner: "ada", Agent: agent, Cwd: "/w", Config: session.Config{
		Mode: "default", Root: "/w", MaxSteps: r.src.number(4), CompactAt: compactAt, NoCompact: r.src.number(4) == 0,
	}})
	r.resume()
	r.append(human, &session.MessageReceived{Content: []model.Part{model.TextPart("go")}})
}

// quick checks what holds after every event.
func (r *run) quick() error {
	as := session.Next(r.st)
	if err := uniqueActions(as); err != nil {
		return err
	}
	if need := r.needsHuman(); need != (len(as) == 0) {
		return fmt.Errorf("needs a human: %t, but Next is\n%s", need, actionLines(as))
	}
	for id := range r.flight {
		if !slices.ContainsFunc(as, func(a session.Action) bool { return a.ID == id }) {
			return fmt.Errorf("%s is under way, but not wanted by Next\n%s", id, actionLines(as))
		}
	}
	if len(r.st.Faults) > 0 {
		return fmt.Errorf("faults: %v", r.st.Faults)
	}
	if err := r.overlap(); err != nil {
		return err
	}
	if ms := r.tr.Upcoming(); len(ms) > 0 {
		if err := pairing(ms); err != nil {
			return err
		}
	}
	if err := r.holdsGiven(); err != nil {
		return err
	}
	return r.toldOnce()
}

// holdsGiven checks that a new request has what was given, whatever was compacted before. A reply that paused goes back
// as it is.
func (r *run) holdsGiven() error {
	e := r.events[len(r.events)-1]
	b, ok := decode(e).(*session.ModelRequested)
	if !ok || b.Purpose != "" || b.Through != e.Seq-1 {
		return nil
	}
	ms := r.tr.Messages()
	said := asJSON(ms)
	for _, g := range r.st.Given {
		if g.Size > 0 && ms[len(ms)-1].Role == model.RoleUser && !strings.Contains(said, g.Path) {
			return fmt.Errorf("%s is given no more", g)
		}
	}
	return nil
}

// needsHuman says from the state alone whether nothing can progress without outside input. It is written apart from
// Next on purpose.
func (r *run) needsHuman() bool {
	s, t := r.st, r.st.Turn
	open := s.Lifecycle == session.LifecycleOpen
	if s.Workspace.Restoring() || r.awaitActs() || len(s.Timers) > 0 || slices.ContainsFunc(s.Tasks, func(t session.Task) bool {
		return t.Kill != "" && t.Status == command.Running && t.Session == ""
	}) {
		return false
	}
	if r.aboutFiles() {
		return false
	}
	if c := s.Compaction; c != nil && c.Model != nil && c.Model.Status == session.CallRequested {
		return false
	}
	if c := s.Compaction; t == nil && (open && r.compacts() || c != nil && c.Model != nil && c.Reason == session.ForHandoff) {
		return false
	}
	if t == nil {
		return !open || len(s.Queue) == 0 && s.Untold.Count == 0
	}
	if t.Cancel != nil || t.Model != nil && t.Model.Status == session.CallRequested {
		return false
	}
	overflow := t.Model != nil && t.Model.Class == "context" && !s.Config.NoCompact && s.Context.Replies > 0 &&
		(s.Compaction != nil && s.Compaction.Reason == session.CompactAsked || s.Overlay == nil || s.Overlay.Seq > t.Model.Through || s.Overlay.Level < session.LevelHighest || s.Overlay.Measured > 0)
	if t.Model != nil && t.Model.Status == session.CallFailed && t.Model.RetryAt == 0 && !overflow {
		return true // until somebody resumes it
	}
	if t.Model != nil && t.Model.Status == session.CallResponded {
		waiting, unsettled := false, false
		for _, c := range t.Calls {
			switch {
			case c.Settled():
				continue
			case c.Left, c.State == session.ActExecuting, c.Answer != nil:
				return false
			case c.State == session.ActAwaitingApproval, c.State == session.ActWaitingExternal, c.Lost():
				waiting = true
			case c.Approval != nil && c.Approval.Answered && !c.Approval.Allow:
				return false // to be denied
			case c.Decision != nil && !c.Decision.Allow && c.Decision.Epoch == s.Epoch && c.Decision.Bound == s.Binding(&c):
				return false // to be denied
			case !open:
			case c.Decision == nil || c.Decision.Epoch < s.Epoch || c.Decision.Bound != s.Binding(&c):
				return false // to be decided
			case !waiting:
				return false // to be started
			}
			unsettled = true
		}
		if unsettled {
			return true
		}
		if len(t.Calls) == 0 && t.Model.Stop != modelapi.StopPause {
			return false // the turn ends
		}
	}
	halt, _ := s.Halt()
	return !open || halt != "" && len(s.Queue) == 0
}

// compacts reports whether a compaction between turns has something to do.
func (r *run) compacts() bool {
	c := r.st.Compaction
	switch {
	case c == nil:
		return false
	case c.Model == nil:
		return (c.Reason == session.CompactAsked || c.Reason == session.ForHandoff) && r.st.Context.Replies > 0
	case c.Reason == session.ForHandoff:
		return true
	}
	return c.Model.Status != session.CallFailed || c.Model.RetryAt != 0
}

// overlap checks what runs at the same time: one act, or at most eight reads without another act between them.
func (r *run) overlap() error {
	if r.st.Turn == nil {
		return nil
	}
	running, before := 0, 0
	for _, c := range r.st.Turn.Calls {
		switch {
		case c.Settled():
		case c.State == session.ActExecuting && !c.Left:
			running++
			if c.Effect != session.EffectRead && before > 0 {
				return fmt.Errorf("%s runs, and %d before it are not settled", c.ID, before)
			}
			before++
		default:
			before++
		}
	}
	if running > 8 {
		return fmt.Errorf("%d acts run at once", running)
	}
	return nil
}

// snapshot goes on from the state's JSON.
func (r *run) snapshot() {
	st := &session.State{}
	if err := json.Unmarshal([]byte(asJSON(r.st)), st); err != nil {
		r.t.Fatal(err)
	}
	if a, b := asJSON(r.st), asJSON(st); a != b {
		r.t.Fatalf("the snapshot\n%s\ncame back as\n%s", a, b)
	}
	r.st = st
}

// drain brings the session to its end: humans answer everything, models stop calling.
func (r *run) drain() {
	r.ended = true
	r.append(human, &session.LifecycleSet{To: session.LifecycleOpen})
	for range 1000 {
		as := session.Next(r.st)
		if len(as) == 0 {
			ws := session.Waits(r.st)
			if len(ws) == 0 {
				break
			}
			r.answer(ws[0], true)
			continue
		}
		r.step(as[0])
		if err := r.quick(); err != nil {
			r.t.Fatalf("%s\n%s", err, r.out.String())
		}
	}
	if n := len(session.Next(r.st)); n > 0 {
		r.t.Fatalf("%d actions left\n%s", n, r.out.String())
	}
	if halt, _ := r.st.Halt(); r.st.Turn != nil && halt == "" {
		r.t.Fatalf("the turn does not end\n%s", stateLines(r.st))
	}
}

// onceOnly checks a log: an act starts once and has one outcome, and an approval carries one act.
func onceOnly(events []store.Event, complete bool) error {
	started, ended, approved := map[string]int{}, map[string]int{}, map[string]int{}
	for _, e := range events {
		switch b := decode(e).(type) {
		case *session.ModelRequested:
			started[b.Act]++
		case *session.ModelResponded:
			ended[b.Act]++
		case *session.ModelFailed:
			ended[b.Act]++
		case *session.ModelLost:
			ended[b.Act]++
		case *session.ToolStarted:
			started[b.Act]++
			approved[session.BaseOf(b.Act)]--
		case *session.ToolVoid:
			ended[b.Act]++
			approved[session.BaseOf(b.Act)]++
		case *session.ToolFinished:
			ended[b.Act]++
		case *session.ToolUnknown:
			ended[b.Act]++
		case *session.ToolDecided:
			if b.Decision.Allow && !b.Decision.Human {
				approved[session.BaseOf(b.Act)] = 1
			}
		case *session.ApprovalAnswered:
			if b.Allow {
				approved[session.BaseOf(b.Act)] = 1
			}
		default:
		}
	}
	for id, n := range started {
		if n != 1 || ended[id] > 1 || complete && ended[id] != 1 {
			return fmt.Errorf("%s was started %d times and has %d outcomes", id, n, ended[id])
		}
		if base := session.BaseOf(id); !strings.HasSuffix(base, ".b0") && approved[base] < 0 {
			return fmt.Errorf("%s ran more often than it was allowed", base)
		}
	}
	for id, n := range ended {
		if n != 1 {
			return fmt.Errorf("%s has %d outcomes", id, n)
		}
	}
	return nil
}
