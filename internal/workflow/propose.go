package workflow

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/session"
)

// refusedFile keeps the text of the newest edit that was refused.
const refusedFile = "refused-state.json"

// Proposal is what a person changed in a state file, and nobody has judged yet.
type Proposal struct {
	File    string               // its path
	Changes []session.StepChange // from the session's plan to Steps
	Steps   []session.Step       // the plan as it would be
	Facts   []session.Fact       // that would be noted
	Kept    []string             // taken out of the file, but facts stay with a session
	Unknown []string             // not understood: the file keeps it, the session does not get it

	name      string
	now, last []byte
}

// Nothing reports whether a session would not change by it.
func (p *Proposal) Nothing() bool { return len(p.Changes)+len(p.Facts) == 0 }

// Owner is the session that a project's state file names, or named before somebody broke it; empty: there is none.
func Owner(cfg knowledge.Config) (string, error) {
	k, err := knowledge.Open(cfg)
	if err != nil {
		return "", err
	}
	now, last, err := k.Project.Look(MainFile)
	if err != nil || now == nil {
		return "", err
	}
	if d, err := ParseJSON(now); err == nil {
		return d.Session, nil
	}
	return writer(last), nil
}

// writer is the session that the text of a state file names; empty: none, as where it cannot be read.
func writer(b []byte) string {
	if d, err := ParseJSON(b); err == nil {
		return d.Session
	}
	return ""
}

// Propose finds what a person changed in the state file of a session: in the main one if it names the session, or nobody,
// else in the one beside. Nil: nothing was changed by hand. A file that cannot be read is an error that names it; if it is
// one that this session wrote, or nobody, and only its text is no state, the proposal beside the error can be refused.
func Propose(cfg knowledge.Config, st *session.State) (*Proposal, error) {
	k, err := knowledge.Open(cfg)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{MainFile, SideFile(st.ID)} {
		now, last, err := k.Project.Look(name)
		if err != nil {
			return nil, err
		}
		if now == nil || last != nil && bytes.Equal(now, last) {
			continue
		}
		p := &Proposal{File: filepath.Join(k.Project.Dir(), name), name: name, now: now, last: last}
		d, err := ParseJSON(now)
		if err != nil {
			if of := writer(last); of != "" && of != st.ID {
				p = nil
			}
			return p, fmt.Errorf("%s: %w", filepath.Join(k.Project.Dir(), name), err)
		}
		if d.Session != "" && d.Session != st.ID {
			continue
		}
		p.compare(d, last, st)
		return p, nil
	}
	return nil, nil
}

func (p *Proposal) compare(d *Document, last []byte, st *session.State) {
	base := &Document{}
	if last != nil {
		if was, err := ParseJSON(last); err == nil && (was.Session == st.ID || was.Session == "") {
			base = was
		}
	}
	p.Unknown = d.Problems
	p.Steps = Merge(base.Steps(), d.Steps(), st.Plan)
	for i := range p.Steps {
		p.bound(i)
	}
	if n := len(p.Steps); n > session.MaxPlanSteps {
		p.Unknown = append(p.Unknown, fmt.Sprintf("%d steps, the first %d are taken", n, session.MaxPlanSteps))
		p.Steps = p.Steps[:session.MaxPlanSteps]
	}
	p.Changes = session.DiffPlan(st.Plan, p.Steps)
	known := map[string]bool{}
	for _, f := range st.Facts {
		known[f.Text], known[Note{Text: f.Text, Reason: f.Reason}.String()] = true, true
	}
	bases := base.noteLists()
	for i, l := range d.noteLists() {
		p.notes(l, *bases[i].notes, known)
	}
	if d.Task != base.Task && base.Task != "" {
		p.Unknown = append(p.Unknown, "task is the session's name: perdure rename "+st.ID+" NAME")
	}
}

// bound cuts the texts of the i-th step to what a session keeps.
func (p *Proposal) bound(i int) {
	s := &p.Steps[i]
	if _, ok := session.ParseStepStatus(string(s.Status)); !ok {
		s.Status = session.StepPlanned
	}
	for _, text := range []*string{&s.Content, &s.ActiveForm, &s.Blocker, &s.Reason, &s.Output} {
		*text = strings.ReplaceAll(*text, "\x00", "")
		if len(*text) > session.MaxPlanText {
			p.Unknown = append(p.Unknown, fmt.Sprintf("step %d: a text of %d bytes is cut to %d", i+1, len(*text), session.MaxPlanText))
			*text = session.CutEnd(*text, session.MaxPlanText)
		}
	}
}

// notes compares one list of notes.
func (p *Proposal) notes(l noteList, base []Note, known map[string]bool) {
	for _, n := range *l.notes {
		words := n.String()
		if known[words] || known[n.Text] || slices.ContainsFunc(base, func(b Note) bool { return b.String() == words }) {
			continue
		}
		known[words] = true
		f := session.Fact{Kind: l.kind, Text: session.CutEnd(n.Text, session.MaxPlanText), Reason: session.CutEnd(n.Reason, session.MaxPlanText), Provenance: "user"}
		if n.Kind == "fact" {
			f.Kind = n.Kind
		}
		p.Facts = append(p.Facts, f)
	}
	for _, b := range base {
		if !slices.ContainsFunc(*l.notes, func(n Note) bool { return n.String() == b.String() }) {
			p.Kept = append(p.Kept, strings.ReplaceAll(l.kind, "_", " ")+": "+b.String())
		}
	}
}

// Settle tells the file that its changes were judged: from now on it is as if Perdure had written it, and the next
// [Save] brings it up to date. With refused, its text is kept in refused-state.json, and the file is as it was before.
// knowledge.ErrChanged says that it was changed again.
func (p *Proposal) Settle(cfg knowledge.Config, refused bool) error {
	k, err := knowledge.Open(cfg)
	if err != nil {
		return err
	}
	desk, err := k.Project.Desk(context.Background())
	if err != nil {
		return err
	}
	defer desk.Close()
	if !refused {
		return desk.Settle(p.name, p.now)
	}
	old, _, err := desk.Read(refusedFile)
	if err == nil {
		err = desk.Put(refusedFile, old, p.now)
	}
	switch {
	case err != nil:
		return fmt.Errorf("keep what is refused: %w", err)
	case p.last == nil:
		return desk.Settle(p.name, p.now)
	}
	return desk.Put(p.name, p.now, p.last)
}

// SameFile reports whether two proposals are of the same bytes.
func (p *Proposal) SameFile(other *Proposal) bool {
	return p.name == other.name && bytes.Equal(p.now, other.now)
}

// There reports whether a project has a state file.
func There(cfg knowledge.Config) (bool, error) {
	k, err := knowledge.Open(cfg)
	if err != nil {
		return false, err
	}
	now, _, err := k.Project.Look(MainFile)
	return now != nil, err
}
