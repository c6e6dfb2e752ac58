package knowledge

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Mark is where an entry or a file comes from, and when somebody last stood by it.
type Mark struct {
	Session   string `json:"session,omitempty"`
	Seq       int64  `json:"seq,omitzero"`
	Source    Source `json:"source,omitempty"`
	Date      string `json:"date,omitempty"`      // when it was made, RFC 3339, UTC
	Confirmed string `json:"confirmed,omitempty"` // when it was last written or changed
}

// meta is the file of marks, by the keys of entries and the names of files. What it does not know it keeps.
type meta struct {
	Entries map[string]Mark
	Files   map[string]Mark

	raw map[string]json.RawMessage
	per map[string]map[string]map[string]json.RawMessage // group, name, field
}

func parseMeta(b []byte) (*meta, error) {
	m := &meta{
		Entries: map[string]Mark{}, Files: map[string]Mark{}, raw: map[string]json.RawMessage{},
		per: map[string]map[string]map[string]json.RawMessage{"entries": {}, "files": {}},
	}
	if len(b) == 0 {
		return m, nil
	}
	if err := json.Unmarshal(b, &m.raw); err != nil || m.raw == nil {
		return nil, refuse("%s is not a JSON object: put it right, or delete it", metaName)
	}
	for group, marks := range m.groups() {
		raw, ok := m.raw[group]
		if !ok {
			continue
		}
		fields := map[string]map[string]json.RawMessage{}
		err := json.Unmarshal(raw, &fields)
		if err == nil {
			err = json.Unmarshal(raw, &marks)
		}
		if err != nil {
			return nil, refuse("%s: %s is not what it should be: put it right, or delete the file", metaName, group)
		}
		m.per[group] = fields
	}
	return m, nil
}

func (m *meta) groups() map[string]map[string]Mark {
	return map[string]map[string]Mark{"entries": m.Entries, "files": m.Files}
}

// bytes writes the file, with every field that was in it before.
func (m *meta) bytes() ([]byte, error) {
	for group, marks := range m.groups() {
		out := map[string]map[string]json.RawMessage{}
		for name, mark := range marks {
			b, err := json.Marshal(mark)
			if err != nil {
				return nil, err
			}
			fields := map[string]json.RawMessage{}
			for k, v := range m.per[group][name] {
				if !slices.Contains([]string{"session", "seq", "source", "date", "confirmed"}, k) {
					fields[k] = v
				}
			}
			if err := json.Unmarshal(b, &fields); err != nil {
				return nil, err
			}
			out[name] = fields
		}
		b, err := json.Marshal(out)
		if err != nil {
			return nil, err
		}
		m.raw[group] = b
	}
	m.raw["version"] = json.RawMessage("1")
	b, err := json.MarshalIndent(m.raw, "", " ")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", metaName, err)
	}
	return append(b, '\n'), nil
}

// note brings the marks up to date with a change: what is new or other than before is by and now, what is gone is gone.
func (m *meta) note(before, after *index, changed map[string]bool, by By, now time.Time) {
	when := now.UTC().Format(time.RFC3339)
	for name, there := range changed {
		if !there {
			delete(m.Files, name)
			continue
		}
		m.Files[name] = m.Files[name].next(by, when)
	}
	old, new := before.byKey(), after.byKey()
	for key, e := range new {
		if was, known := old[key]; !known || was.String() != e.String() || changed[e.File] {
			m.Entries[key] = m.Entries[key].next(by, when)
		}
	}
	for key := range m.Entries {
		if _, there := new[key]; !there {
			delete(m.Entries, key)
		}
	}
}

// next is the mark after a change. What was ever taken from a tool or another place stays so until the user says it: the
// trust of a fact is the least of its sources.
func (m Mark) next(by By, when string) Mark {
	out := Mark{Session: by.Session, Seq: by.Seq, Source: by.Source, Date: m.Date, Confirmed: when}
	if out.Date == "" {
		out.Date = when
	}
	if by.Source != SourceUser && rank(m.Source) > rank(by.Source) {
		out.Source = m.Source
	}
	return out
}

func rank(s Source) int {
	return slices.Index([]Source{SourceUser, SourceModel, SourceTool, SourceImport}, s)
}
