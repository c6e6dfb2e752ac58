package session

import (
	"fmt"
	"slices"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Imported says that the log before it was written in another home, and came here in a bundle. From here on the session
// works in a directory of this machine, and nothing that it was allowed elsewhere holds: what a bundle says of rights is
// the word of whoever wrote the bundle.
type Imported struct {
	Head store.Head `json:"head"` // of the log as it came
	// Since is the newest event that was here before it came: those behind it came with it.
	Since int64  `json:"since,omitempty"`
	From  string `json:"from,omitempty"` // the directory that the session belonged to there
	Root  string `json:"root"`           // the one that it belongs to now
	Cwd   string `json:"cwd"`            // where commands run now
	// Part: it is here as what a fork inherits, and ends where that was forked. It is closed.
	Part bool `json:"part,omitempty"`
	// Price is what its model costs by what is known here; nil: nothing is.
	Price *model.Price `json:"price,omitempty"`
	// Lifecycle is what it was before the log's last event, if that is the closing of a session that moved: it goes on
	// as that.
	Lifecycle Lifecycle `json:"lifecycle,omitempty"`
	Text      []byte    `json:"-"` // what the model is told of it
}

func (b *Imported) parts() []*[]byte { return []*[]byte{&b.Text} }

func (b *Imported) show(m map[string]any) { viewText(m, "text", b.Text) }

func (b *Imported) summary() string {
	s := fmt.Sprintf("%d events, belongs to %s", b.Head.Seq, b.Root)
	if b.Part {
		s += ", as a part of a fork"
	}
	return s
}

func (b *Imported) speak(t *Transcript, _ store.Event) { t.note(b.Text) }

func (b *Imported) apply(s *State, e store.Event) {
	s.Arrived = Arrived{Seq: e.Seq, Since: min(b.Since, e.Seq-1)}
	switch {
	case b.Part:
		s.Lifecycle = LifecycleClosed
	case b.Lifecycle == LifecycleOpen, b.Lifecycle == LifecyclePaused:
		s.Lifecycle = b.Lifecycle
	}
	s.Config.Root, s.Cwd, s.Env, s.Holder = b.Root, b.Cwd, nil, Holder{}
	if s.Config.Mode != modePlan {
		s.Config.Mode = modeDefault
	}
	if s.Config.OnLost == OnLostRollback {
		s.Config.OnLost = "" // nobody here has said that files may be restored without being asked
	}
	s.bound()
	s.Claimed, s.Agent.Price = Claimed{Steps: true, Budget: true, Retry: true}, b.Price
	s.Permissions.Grants, s.Permissions.Digest = nil, store.Digest{}
	s.Permissions.Rules = slices.DeleteFunc(slices.Clone(s.Permissions.Rules), func(r Rule) bool { return r.Effect == "allow" })
	s.Awaits = nil // of what runs elsewhere
	b.disarm(s)
	to := relocation{from: b.From, to: b.Root}
	s.move(to)
	b.leaveTasks(s, e, to)
	s.Workspace.imported()
	b.handedOff(s, e)
	for i := range s.Given {
		if s.Given[i].Name == GivenHandoff {
			s.Given = slices.Clone(s.Given) // shared with copies
			s.Given[i].Digest = store.Digest{}
		}
	}
}

// Arrived says which session.imported is the newest one of a log.
type Arrived struct {
	Seq   int64 `json:"seq"`             // of the event; 0: there is none
	Since int64 `json:"since,omitempty"` // the newest event that did not come with it
}

// Claimed are the limits that a bundle says the session has, while nobody here has set them: they hold beside those of
// this home, and not in their place.
type Claimed struct {
	Steps  bool `json:"steps,omitempty"`
	Budget bool `json:"budget,omitempty"`
	Retry  bool `json:"retry,omitempty"`
}

// LongestRetryMS bounds how long a bundle may say that a model is waited for, in ms: 10,000 days.
const LongestRetryMS = 10_000 * 24 * 3600 * 1000

// maxWindow bounds what a bundle may say of a model's window, in tokens; beyond it, it is unknown.
const maxWindow = 1 << 40

// bound brings what a bundle says that was set elsewhere within what a configuration here could say. The system prompt
// stays: it is what the conversation was held under, and text that allows nothing.
func (s *State) bound() {
	c := &s.Config
	c.MaxSteps, c.BudgetNano = max(c.MaxSteps, 0), max(c.BudgetNano, 0)
	if c.RetryForMS != nil {
		ms := min(max(*c.RetryForMS, 0), LongestRetryMS) // the former is shared with copies
		c.RetryForMS = &ms
	}
	if c.CompactAt = max(c.CompactAt, 0); c.CompactAt != 0 {
		c.CompactAt = min(max(c.CompactAt, CompactAtLeast), CompactAtMost)
	}
	if s.Agent.Window < 0 || s.Agent.Window > maxWindow {
		s.Agent.Window = 0
	}
}

// handedOff has the session owe no handoff for what it did elsewhere: nobody here asked for that, and other sessions would
// be given a stranger's words.
func (b *Imported) handedOff(s *State, e store.Event) {
	s.Worked = 0
	if s.Turn != nil {
		s.Turn.Started = e.Time
	}
	if s.Handoff != nil && !s.NewsSince(s.Handoff) {
		s.settleHandoff() // its file is where it was written
		return
	}
	h := Handoff{Seq: e.Seq, Time: e.Time, Turns: s.Turns, Settled: true}
	if s.Turn != nil {
		h.Step = s.Turn.Step
	}
	s.Handoff = &h
}

// modePlan is the permission mode that allows least.
const modePlan = "plan"

// disarm takes back what was decided about calls that have not begun, and every approval. Calls that have begun are settled
// by whoever opens the session: what became of them cannot be known here. One that is to begin again is asked about again,
// since an approval comes back with it.
func (b *Imported) disarm(s *State) {
	if s.Turn == nil {
		return
	}
	s.Turn.unasked() // which files it would be about is known there
	for i := range s.Turn.Calls {
		c := &s.Turn.Calls[i]
		c.Approval = nil
		if c.State == ActPlanned || c.State == ActAwaitingApproval {
			c.State, c.Decision = ActPlanned, nil
		}
	}
}

// leaveTasks leaves what runs to the machine where it runs. Nothing of this machine is taken for it, and none of it is
// restarted by itself.
func (b *Imported) leaveTasks(s *State, e store.Event, to relocation) {
	s.Tasks = slices.Clone(s.Tasks)
	for i := range s.Tasks {
		t := &s.Tasks[i]
		t.PID, t.StartTicks, t.BootID = 0, 0, ""
		t.Restart, t.Bound, t.Due, t.Inputs = "", store.Digest{}, false, nil
		if cwd, ok := to.path(t.Cwd); ok {
			t.Cwd = cwd
		}
		if t.Live() {
			t.Status, t.Reason, t.Ended, t.EndSeq = command.Lost, command.ReasonElsewhere, e.Time, e.Seq
		}
	}
	s.boundTasks()
}
