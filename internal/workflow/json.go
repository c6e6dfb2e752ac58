package workflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/session"
)

// ownKeys are the keys of a document that this package writes.
var ownKeys = []string{
	"task", "status", "plan", "findings", "failed_approaches", "decisions", "constraints", "side_effects", "session",
	"seq", "created", "updated", "other", "left_out",
}

// ParseJSON reads a document. A value that is not understood is kept, and named in Problems.
func ParseJSON(b []byte) (*Document, error) {
	if err := checkText(b); err != nil {
		return nil, err
	}
	keys, err := parseObject(b)
	if err != nil {
		return nil, err
	}
	d := &Document{keys: keys, strays: map[string][]json.RawMessage{}}
	for _, field := range []struct {
		key  string
		into *string
	}{{"task", &d.Task}, {"status", &d.Status}, {"session", &d.Session}, {"other", &d.Other}} {
		s, ok := keys.text(field.key)
		if *field.into = s; !ok && keys.get(field.key) != nil {
			d.problem("%s is no text", field.key)
		}
	}
	if raw := keys.get("seq"); raw != nil && json.Unmarshal(raw, &d.Seq) != nil {
		d.problem("seq is no number")
	}
	if raw := keys.get("side_effects"); raw != nil && json.Unmarshal(raw, &d.Effects) != nil {
		d.Effects = nil
	}
	d.Created, d.Updated = d.time("created"), d.time("updated")
	for i, raw := range d.items("plan") {
		d.parseStep(i, raw)
	}
	for _, l := range d.noteLists() {
		for i, raw := range d.items(l.key) {
			if n, ok := parseNote(raw); ok {
				*l.notes = append(*l.notes, n)
			} else {
				d.stray(l.key, i, raw)
			}
		}
	}
	return d, nil
}

func (d *Document) problem(format string, args ...any) {
	d.Problems = append(d.Problems, fmt.Sprintf(format, args...))
}

func (d *Document) time(key string) time.Time {
	s, ok := d.keys.text(key)
	if !ok {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		d.problem("%s is no time", key)
	}
	return t.UTC()
}

// items are what a list holds; a text is a list of one.
func (d *Document) items(key string) []json.RawMessage {
	raw := d.keys.get(key)
	items, ok := list(raw)
	if !ok && len(raw) > 0 && string(raw) != "null" {
		return []json.RawMessage{raw}
	}
	return items
}

func (d *Document) stray(key string, i int, raw json.RawMessage) {
	d.problem("item %d of %s is not understood", i+1, key)
	d.strays[key] = append(d.strays[key], raw)
}

// textKeys are the names of what a step says, in the order in which they are looked for.
var textKeys = []string{"step", "content"}

func (d *Document) parseStep(i int, raw json.RawMessage) {
	var s Step
	if json.Unmarshal(raw, &s.Content) == nil && strings.TrimSpace(s.Content) != "" {
		s.Status = session.StepPlanned
		d.Plan = append(d.Plan, s)
		return
	}
	keys, err := parseObject(raw)
	if err != nil {
		d.stray("plan", i, raw)
		return
	}
	s.keys = keys
	for _, name := range textKeys {
		if s.Content == "" {
			s.Content, _ = keys.text(name)
		}
	}
	if strings.TrimSpace(s.Content) == "" {
		d.stray("plan", i, raw)
		return
	}
	s.ActiveForm, _ = keys.text("active_form")
	s.Blocker, _ = keys.text("blocker")
	s.Reason, _ = keys.text("reason")
	s.Output, _ = keys.text("output")
	status, known := keys.status()
	if s.Status = status; !known {
		d.problem("step %d: status %s is not understood: taken as pending", i+1, clip(string(keys.get("status"))))
	}
	d.Plan = append(d.Plan, s)
}

// status is where a step stands. What its exact state says counts while the common word goes with it.
func (ms members) status() (session.StepStatus, bool) {
	raw := ms.get("status")
	word, ok := ms.text("status")
	if raw == nil || ok && word == "" {
		return session.StepPlanned, true
	}
	status, known := session.ParseStepStatus(word)
	if !known {
		return session.StepPlanned, false
	}
	if exact, ok := ms.text("state"); ok {
		own, is := session.ParseStepStatus(exact)
		if common, _ := fileStatus(own); is && common == word {
			return own, true
		}
	}
	return status, true
}

func parseNote(raw json.RawMessage) (Note, bool) {
	var n Note
	if json.Unmarshal(raw, &n.Text) == nil && strings.TrimSpace(n.Text) != "" {
		n.asText = true
		return n, true
	}
	keys, err := parseObject(raw)
	if err != nil {
		return n, false
	}
	n.keys = keys
	n.Text, _ = keys.text("text")
	n.Reason, _ = keys.text("reason")
	n.Provenance, _ = keys.text("provenance")
	n.Kind, _ = keys.text("kind")
	return n, strings.TrimSpace(n.Text) != ""
}

// JSON writes a document, indented, with what was read and is not ours in its place.
func (d *Document) JSON() []byte {
	keys := slices.Clone(d.keys)
	keys.setText("task", d.Task)
	keys.setText("status", d.Status)
	d.setList(&keys, "plan", len(d.Plan), func(i int) json.RawMessage { return d.Plan[i].json() })
	for _, l := range d.noteLists() {
		bare := l.kind == "finding" || l.kind == "failed_approach"
		d.setList(&keys, l.key, len(*l.notes), func(i int) json.RawMessage { return (*l.notes)[i].json(bare) })
	}
	keys.set("side_effects", d.Effects)
	keys.setText("session", d.Session)
	keys.set("seq", d.Seq)
	keys.set("created", stamp(d.Created))
	keys.set("updated", stamp(d.Updated))
	keys.setText("other", d.Other)
	keys.set("left_out", d.LeftOut)
	var b bytes.Buffer
	if err := json.Indent(&b, keys.json(), "", "  "); err != nil {
		return nil // every part was written or read as JSON
	}
	b.WriteByte('\n')
	return b.Bytes()
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// setList writes a list: what is ours, then what was not understood. A plan, findings and failed approaches are there
// even when they are empty, so that readers find them.
func (d *Document) setList(keys *members, key string, n int, item func(int) json.RawMessage) {
	items := make([]json.RawMessage, 0, n+len(d.strays[key]))
	for i := range n {
		items = append(items, item(i))
	}
	items = append(items, d.strays[key]...)
	switch must := key == "plan" || key == "findings" || key == "failed_approaches"; {
	case len(items) == 0 && !must:
		keys.drop(key)
	case n == 0 && len(items) == 1 && keys.get(key) != nil:
		if _, isList := list(keys.get(key)); isList {
			keys.setRaw(key, join(items))
		} // else it stays as it was written
	default:
		keys.setRaw(key, join(items))
	}
}

func join(items []json.RawMessage) json.RawMessage {
	return append(append(json.RawMessage("["), bytes.Join(raws(items), []byte(","))...), ']')
}

func raws(items []json.RawMessage) [][]byte {
	out := make([][]byte, len(items))
	for i, raw := range items {
		out[i] = raw
	}
	return out
}

func (s Step) json() json.RawMessage {
	keys := slices.Clone(s.keys)
	name := textKeys[0]
	for _, other := range textKeys[1:] {
		if _, has := keys.text(name); !has && keys.get(other) != nil {
			name = other
		}
	}
	keys.set(name, s.Content)
	word, exact := fileStatus(s.Status)
	if now, _ := keys.status(); now != s.Status || keys.get("status") == nil {
		keys.set("status", word)
		keys.setText("state", exact)
	}
	keys.setText("output", s.Output)
	keys.setText("blocker", s.Blocker)
	keys.setText("reason", s.Reason)
	keys.setText("active_form", s.ActiveForm)
	return keys.json()
}

// json writes a note. Where lists are of bare texts it is one, unless it came from a tool or an import: that must be seen.
func (n Note) json(bare bool) json.RawMessage {
	trusted := n.Provenance == "" || n.Provenance == "user" || n.Provenance == "model"
	if n.keys == nil && n.Kind == "" && trusted && (bare || n.asText) {
		return encode(n.String())
	}
	keys := slices.Clone(n.keys)
	keys.set("text", n.Text)
	keys.setText("reason", n.Reason)
	keys.setText("provenance", n.Provenance)
	keys.setText("kind", n.Kind)
	return keys.json()
}

// clip shortens what a message quotes.
func clip(s string) string {
	const most = 80
	if s = oneLine(s); len(s) <= most {
		return s
	}
	return session.CutEnd(s, most) + "…"
}
