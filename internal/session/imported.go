package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure/store"
)

// Imported says that the log before it was written in another home, and came here in a bundle. From here on the session
// works in a directory of this machine, and nothing that it was allowed elsewhere holds: what a bundle says of rights is
// the word of whoever wrote the bundle.
type Imported struct {
	Head store.Head `json:"head"`           // of the log as it came
	From string     `json:"from,omitempty"` // the directory that the session belonged to there
	Root string     `json:"root"`           // the one that it belongs to now
	Cwd  string     `json:"cwd"`            // where commands run now
	// Part: it is here as what a fork inherits, and ends where that was forked. It is closed.
	Part bool   `json:"part,omitempty"`
	Text []byte `json:"-"` // what the model is told of it
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
	if b.Part {
		s.Lifecycle = LifecycleClosed
	}
	s.Config.Root, s.Cwd, s.Env, s.Holder = b.Root, b.Cwd, nil, Holder{}
	if s.Config.Mode != modePlan {
		s.Config.Mode = modeDefault
	}
	s.Permissions.Grants, s.Permissions.Digest = nil, store.Digest{}
	s.Permissions.Rules = slices.DeleteFunc(slices.Clone(s.Permissions.Rules), func(r Rule) bool { return r.Effect == "allow" })
	s.Awaits = nil // of what runs elsewhere
	b.disarm(s)
	b.move(s)
	b.leaveTasks(s, e)
	s.Workspace.imported()
	b.handedOff(s, e)
	for i := range s.Given {
		if s.Given[i].Name == GivenHandoff {
			s.Given = slices.Clone(s.Given) // shared with copies
			s.Given[i].Digest = store.Digest{}
		}
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

// disarm takes back what was decided about calls that have not begun. Those that have are settled by whoever opens the
// session: what became of them cannot be known here.
func (b *Imported) disarm(s *State) {
	if s.Turn == nil {
		return
	}
	for i := range s.Turn.Calls {
		c := &s.Turn.Calls[i]
		if c.State == ActPlanned || c.State == ActAwaitingApproval {
			c.State, c.Decision, c.Approval = ActPlanned, nil, nil
		}
	}
}

// move takes paths along that lie in the session's directory, and forgets the others: what they name is elsewhere.
func (b *Imported) move(s *State) {
	var dirs []string
	for _, d := range s.Directories {
		if to, ok := b.moved(d); ok {
			dirs = append(dirs, to)
		}
	}
	s.Directories = dirs
	files := make(Files, len(s.Files))
	for path, f := range s.Files {
		to, ok := b.moved(path)
		if !ok {
			s.Dropped.Files++
			continue
		}
		f.Path = to
		files[to] = f
	}
	told := make(map[string]store.Digest, len(s.Told))
	for path, d := range s.Told {
		if to, ok := b.moved(path); ok {
			told[to] = d
		}
	}
	s.Files, s.fileOrder, s.Told = files, nil, told
	s.Given = slices.Clone(s.Given) // shared with copies
	for i := range s.Given {
		if to, ok := b.moved(s.Given[i].Path); ok {
			s.Given[i].Path = to
		}
	}
}

// moved is where a path in the former directory is now.
func (b *Imported) moved(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, b.From)
	if !ok || b.From == "" || rest != "" && b.From != "/" && !strings.HasPrefix(rest, "/") || slices.Contains(strings.Split(rest, "/"), "..") {
		return "", false
	}
	if b.From == "/" && path != "/" {
		rest = "/" + rest
	}
	return strings.TrimSuffix(b.Root, "/") + rest, true
}

// leaveTasks leaves what runs to the machine where it runs. Nothing of this machine is taken for it, and none of it is
// restarted by itself.
func (b *Imported) leaveTasks(s *State, e store.Event) {
	s.Tasks = slices.Clone(s.Tasks)
	for i := range s.Tasks {
		t := &s.Tasks[i]
		t.PID, t.StartTicks, t.BootID = 0, 0, ""
		t.Restart, t.Bound, t.Due, t.Inputs = "", store.Digest{}, false, nil
		if to, ok := b.moved(t.Cwd); ok {
			t.Cwd = to
		}
		if t.Live() {
			t.Status, t.Reason, t.Ended, t.EndSeq = CommandLost, ReasonElsewhere, e.Time, e.Seq
		}
	}
	s.boundTasks()
}

// ReasonElsewhere is why a command is lost that ran on another machine when its session was imported.
const ReasonElsewhere = "elsewhere"
