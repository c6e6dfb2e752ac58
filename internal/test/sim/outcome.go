package sim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Outcome is what two runs of the same script must agree on, by subject. Epochs, times, attempts and lost usage are
// left out; so is whether an act outside is done or unknown.
type Outcome map[string]string

// Diff names the first subject in which two outcomes differ, and how; empty if they agree.
func (o Outcome) Diff(other Outcome) string {
	keys := maps.Clone(o)
	maps.Copy(keys, other)
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if a, b := o[k], other[k]; a != b {
			i := 0
			for i < len(a) && i < len(b) && a[i] == b[i] {
				i++
			}
			from := max(0, i-200)
			return fmt.Sprintf("%s differs at byte %d:\n  want …%q\n  got  …%q", k, i, clip(a, from), clip(b, from))
		}
	}
	return ""
}

func clip(s string, from int) string {
	from = min(from, len(s))
	return s[from:min(len(s), from+400)]
}

// Outcome is how the run ended. It is asked for after Check.
func (w *World) Outcome() Outcome {
	w.mu.Lock()
	defer w.mu.Unlock()
	o := Outcome{"runs": text(w.runs), "changes": text(w.changes)}
	var fs strings.Builder
	for _, name := range slices.Sorted(maps.Keys(w.files)) {
		fmt.Fprintf(&fs, "%s %o %s\n", name, w.files[name].mode, store.Sum(w.files[name].data))
	}
	o["files"] = fs.String()
	for _, h := range w.humans {
		st := w.states[h.session]
		if st == nil {
			o[h.session] = "cannot be read"
			continue
		}
		t := &session.Transcript{}
		ranges := st.Conversation()
		if w.script.Window > 0 { // what is left out of requests is in the log all the same
			ranges = []session.Range{{Session: st.ID, From: 1, To: st.Head.Seq}}
		}
		for _, r := range ranges {
			log := w.logs[r.Session]
			for _, e := range log[min(r.From-1, int64(len(log))):min(r.To, int64(len(log)))] {
				t.Apply(e.Event, e.body)
			}
		}
		o[h.session+" conversation"], o[h.session+" notes"] = conversation(t.Upcoming())
		w.state(o, st)
		o[h.session+" decisions"] = w.decisions(h.session)
	}
	if w.script.Loose {
		o.loosely()
	}
	return o
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// conversation gives the messages, with the results of acts outside made equal, and apart from them the notes: when
// a note arrives depends on time alone.
func conversation(ms []model.Message) (messages, notes string) {
	outside := map[string]bool{}
	var out strings.Builder
	var noted []string
	role := model.Role("")
	for _, m := range ms {
		if aside(m) {
			continue
		}
		head := role == m.Role
		for _, b := range m.Blocks {
			switch {
			case b.Tool != nil:
				outside[b.Tool.ID] = b.Tool.Name == "Deploy" || b.Tool.Name == "BashInput"
			case b.Result != nil && outside[b.Result.ID]:
				b.Result = &model.ToolResult{ID: b.Result.ID, Content: []model.Part{model.TextPart("outside")}}
			case m.Role == model.RoleUser && isNote(b.Text):
				noted = append(noted, anyAttempt(b.Text))
				continue
			}
			if !head { // a message of nothing but notes is none
				head, role = true, m.Role
				out.WriteString("\n== " + string(m.Role))
			}
			out.WriteByte('\n')
			out.Write(encodeBlock(b))
		}
	}
	slices.Sort(noted)
	return out.String(), strings.Join(noted, "\n")
}

// state adds what of a state must be equal.
func (w *World) state(o Outcome, st *session.State) {
	put := func(what string, v any) { o[st.ID+" "+what] = text(v) }
	put("plan", st.Plan)
	put("place", []any{st.Cwd, st.Env, st.Directories, st.Config, st.Lifecycle, st.Title, st.Labels, st.Owner})
	put("memory", []any{len(st.Facts), st.Scratch})
	put("agent", st.Agent)
	put("turns", []any{st.Turns, st.LastTurn != nil && st.LastTurn.Stop == session.TurnEndTurn, len(st.Queue)})
	for i := range st.Permissions.Grants {
		st.Permissions.Grants[i].Seq, st.Permissions.Grants[i].Time = 0, 0
	}
	put("permissions", []any{st.Permissions.Rules, st.Permissions.Grants})
	for name, f := range st.Files {
		f.Seq, f.Time = 0, 0
		st.Files[name] = f
	}
	put("known files", st.Files)
	put("workspace", filesState(st.Workspace))
	for i := range st.Tasks {
		t := &st.Tasks[i]
		t.Act, t.Started, t.Ended, t.EndSeq = session.BaseOf(t.Act), 0, 0, 0
		t.Key, t.Requested, t.Epoch, t.Attempt, t.Attempts = "", 0, 0, min(t.Attempt, 2), nil
	}
	put("tasks", st.Tasks)
	for i := range st.Usage {
		st.Usage[i].Lost, st.Usage[i].Usage.LostInput = 0, 0
	}
	if w.script.Window == 0 { // live state names times: its size differs
		put("usage", []any{st.Usage, st.Spent, st.Unpriced})
	}
}

// decisions lists what was decided about each call, apart from how often. It needs the logs that Check has read.
func (w *World) decisions(id string) string {
	seen := map[string]bool{}
	for _, e := range w.logs[id] {
		if b, ok := e.body.(*session.ToolDecided); ok {
			seen[fmt.Sprintf("%s %v %s %v", session.BaseOf(b.Act), b.Decision.Allow, b.Decision.Rule, b.Decision.Human)] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(seen)), "\n")
}
