package workflow

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/session"
)

// Document is a plan with what is known about it.
type Document struct {
	Task        string
	Status      string // done, in_progress, blocked, pending; a word of somebody else's stays
	Plan        []Step
	Findings    []Note
	Failed      []Note
	Decisions   []Note
	Constraints []Note
	Effects     []Effect
	Session     string
	Seq         int64     // of the session's log, which the document is of
	Created     time.Time // the session's
	Updated     time.Time
	Other       string   // of a file beside: which session the main one holds
	LeftOut     []string // what was left out for want of room, in words
	Problems    []string // what was read and not understood; it is kept

	keys   members
	strays map[string][]json.RawMessage // by the key of a list: items that are not understood
}

// Step is a step of a document.
type Step struct {
	session.Step
	keys members
}

// Note is a statement of a document.
type Note struct {
	Text       string
	Reason     string
	Provenance string
	Kind       string // of the session's fact, where the list does not say it
	keys       members
	asText     bool // it was a bare text
}

// String is the statement with its reason, as a bare text has it.
func (n Note) String() string {
	if n.Reason == "" {
		return n.Text
	}
	return n.Text + " - " + n.Reason
}

// New is the document of a session as it is now.
func New(st *session.State) *Document {
	d := &Document{
		Task: cmp.Or(st.Title, st.Labels["prompt"]), Session: st.ID, Seq: st.Head.Seq,
		Created: time.UnixMilli(st.Created).UTC().Truncate(time.Second), // as the file has it
		Updated: time.UnixMilli(st.Updated).UTC(),
		Effects: Effects(st),
	}
	for _, s := range st.Plan {
		d.Plan = append(d.Plan, Step{Step: s})
	}
	for _, f := range st.Facts {
		list := d.notesOf(f.Kind)
		n := Note{Text: f.Text, Reason: f.Reason, Provenance: f.Provenance}
		if list == &d.Findings && f.Kind != "finding" {
			n.Kind = f.Kind
		}
		*list = append(*list, n)
	}
	d.Status = statusOf(st.Plan)
	return d
}

// notesOf is the list that facts of a kind stand in.
func (d *Document) notesOf(kind string) *[]Note {
	switch kind {
	case "failed_approach":
		return &d.Failed
	case "decision":
		return &d.Decisions
	case "constraint":
		return &d.Constraints
	}
	return &d.Findings
}

// noteList is one of a document's lists of notes.
type noteList struct {
	key, kind string
	notes     *[]Note
}

func (d *Document) noteLists() []noteList {
	return []noteList{
		{"findings", "finding", &d.Findings},
		{"failed_approaches", "failed_approach", &d.Failed},
		{"decisions", "decision", &d.Decisions},
		{"constraints", "constraint", &d.Constraints},
	}
}

// Steps are the steps of the plan as a session keeps them.
func (d *Document) Steps() []session.Step {
	out := make([]session.Step, len(d.Plan))
	for i, s := range d.Plan {
		out[i] = s.Step
	}
	return out
}

// Empty reports whether there is nothing that somebody would go on from.
func (d *Document) Empty() bool {
	return len(d.Plan)+len(d.Findings)+len(d.Failed)+len(d.Decisions)+len(d.Constraints) == 0
}

// over makes a document what it is when it takes the place of an older one: what that one has and this package does not
// know goes on. With same, it is of the same session, and steps and notes go on too.
func (d *Document) over(old *Document, same bool) {
	for _, m := range old.keys {
		if !slices.Contains(ownKeys, m.key) || same {
			d.keys.setRaw(m.key, m.raw)
		}
	}
	if !same {
		return
	}
	d.strays = old.strays
	if _, own := seedStatus(old.Status); !own && old.Status != "" {
		d.Status = old.Status
	}
	for i, from := range session.MatchSteps(old.Steps(), d.Steps()) {
		if from >= 0 && akin(old.Plan[from].Content, d.Plan[i].Content) {
			d.Plan[i].keys = slices.Clone(old.Plan[from].keys)
		}
	}
	olds := old.noteLists()
	for i, l := range d.noteLists() {
		known := map[string]Note{}
		for _, n := range *olds[i].notes {
			known[n.String()] = n
		}
		for j, n := range *l.notes {
			if was, ok := known[n.String()]; ok {
				(*l.notes)[j].keys, (*l.notes)[j].asText = was.keys, was.asText
			}
		}
	}
}

// statusOf sums a plan up in the words of state files.
func statusOf(steps []session.Step) string {
	count := map[string]int{}
	for _, s := range steps {
		word, _ := fileStatus(s.Status)
		count[word]++
	}
	switch n := len(steps); {
	case n == 0 || count[wordPending] == n:
		return wordPending
	case count[wordDone] == n:
		return wordDone
	case count[wordActive] == 0 && count[wordBlocked] > 0:
		return wordBlocked
	}
	return wordActive
}

// The words of state files for where a step, or all of it, stands.
const (
	wordDone    = "done"
	wordActive  = "in_progress"
	wordBlocked = "blocked"
	wordPending = "pending"
)

// fileStatus is a step's state in the words of state files; exact is its own word, where those four do not say it.
func fileStatus(s session.StepStatus) (word, exact string) {
	switch s {
	case session.StepDone:
		return wordDone, ""
	case session.StepExecuting:
		return wordActive, ""
	case session.StepBlocked:
		return wordBlocked, ""
	case session.StepPlanned:
		return wordPending, ""
	case session.StepAwaitingApproval, session.StepWaitingExternal, session.StepFailed:
		return wordBlocked, string(s)
	}
	return wordPending, string(s)
}

// seedStatus reports whether a word is one of those four.
func seedStatus(word string) (string, bool) {
	return word, slices.Contains([]string{wordDone, wordActive, wordBlocked, wordPending}, word)
}

// oneLine is a text on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
