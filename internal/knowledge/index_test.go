package knowledge

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Goal: an entry is one line below a topic; what is none is refused, and what a person wrote stays as it is.
func TestIndexRules(t *testing.T) {
	w := newWorld(t)
	for _, bad := range []struct{ text, words string }{
		{"hello\n", title},
		{title + "\nfree text\n", "line 2 of the index would be no entry"},
		{title + "\n- [a](a.md) - no topic\n", "below a topic"},
		{title + "\n\n## T\n- [a](a.md)\n", "no summary"},
		{title + "\n\n## T\n- [a](../a.md) - up\n", "no file of this memory"},
		{title + "\n\n## T\n- [a](https://example.com/a) - far\n", "no file of this memory"},
		{title + "\n\n## T\n- [a](MEMORY.md) - itself\n", "the index itself"},
		{title + "\n\n## T\n- [a](a.md) - x\n- [a](b.md) - y\n", "lines 4 and 5"},
		{title + "\n\n## T\n- [a](a.md) - " + strings.Repeat("x", 201) + "\n", "201 bytes"},
	} {
		w.no(create("/memories/MEMORY.md", bad.text), bad.words)
	}
	own := "My own words.\n\n# Memory Index\n\n## Things\n* a list of mine\n- [a](a.md) - x\n- [a](a.md) - x\n"
	w.write(w.open().Project.IndexFile(), own)
	w.add(w.open().Project, "a new fact")
	want := own + "\n## Projects\n- [a-new-fact](a-new-fact.md) - a new fact\n"
	if got := fileText(w.open().Project.IndexFile()); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	w.add(w.open().Project, "another fact")
	if got := fileText(w.open().Project.IndexFile()); got != want+"- [another-fact](another-fact.md) - another fact\n" {
		t.Errorf("got %q", got)
	}
}

// Goal: marks keep what a later version, or a person, put beside them.
func TestUnknownFieldsSurvive(t *testing.T) {
	w := newWorld(t)
	e := w.add(w.open().Project, "a fact")
	file := filepath.Join(w.open().Project.Dir(), metaName)
	var all map[string]any
	if err := json.Unmarshal([]byte(fileText(file)), &all); err != nil {
		t.Fatal(err)
	}
	all["later"] = map[string]any{"x": 1.0}
	all["entries"].(map[string]any)[e.Key].(map[string]any)["file_hash"] = "abc"
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	w.write(file, string(b))
	w.add(w.open().Project, "another")
	if err := w.open().Project.Edit(context.Background(), e.Key, Revision{}, By{Source: SourceUser}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"file_hash": "abc"`, `"later": {`} {
		if text := fileText(file); !strings.Contains(text, want) {
			t.Errorf("%s is gone: %s", want, text)
		}
	}
	w.write(file, "[")
	w.no(create("/memories/x.md", "x"), ".meta.json is not a JSON object")
}

// Goal: undo goes back change by change, is a change itself, and never overwrites what other hands did.
func TestUndo(t *testing.T) {
	w := newWorld(t)
	s := w.open().Project
	undo := func() error { _, err := s.Undo(context.Background(), By{Source: SourceUser}); return err }
	var states []string
	for _, text := range []string{"one", "two", "three"} {
		states = append(states, w.looked())
		w.add(s, "fact "+text)
	}
	if err := undo(); err != nil {
		t.Fatal(err)
	}
	w.add(s, "fact four")
	for _, want := range []string{states[2], states[1], states[0]} {
		if err := undo(); err != nil {
			t.Fatal(err)
		}
		if got := w.looked(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if err := undo(); err == nil || !strings.Contains(err.Error(), "nothing to undo") {
		t.Errorf("got %v", err)
	}
	w.add(s, "fact five")
	w.write(s.IndexFile(), "by hand\n")
	if err := undo(); err == nil || !strings.Contains(err.Error(), "changed since") || fileText(s.IndexFile()) != "by hand\n" {
		t.Errorf("got %v", err)
	}
	list, err := s.Log()
	if err != nil || len(list) != 9 || list[0].What != "add fact-five" || list[1].Undoes != 1 || list[0].Files[0].After != nil {
		t.Errorf("log: %+v, %v", list, err)
	}
}

// Goal: what an editor writes while a change is made is not overwritten, the change says so, and the next one works.
func TestOtherHandsWin(t *testing.T) {
	for _, at := range []string{"intent", "renamed pending.json"} {
		w := newWorld(t)
		w.do(create("/memories/a.md", "one\n"))
		file := filepath.Join(w.open().Project.Dir(), detailDir, "a.md")
		w.cfg.Fault = func(step string) error {
			if step == at {
				w.write(file, "by hand\n")
			}
			return nil
		}
		for range 2 { // asked for again, the same is told
			text, ok, err := w.open().Do(context.Background(), Command{Name: "insert", Path: "/memories/a.md", InsertText: "more"}, By{Key: "k"})
			if ok || err != nil || !strings.Contains(text, "changed meanwhile") {
				t.Errorf("%s: %q, %v, %v", at, text, ok, err)
			}
		}
		if got := fileText(file); got != "by hand\n" {
			t.Errorf("%s: %q", at, got)
		}
		w.cfg.Fault = nil
		w.do(Command{Name: "insert", Path: "/memories/a.md", InsertText: "more"})
		if got := fileText(file); got != "more\nby hand\n" {
			t.Errorf("%s: then %q", at, got)
		}
	}
}

// Goal: a hundred changes are kept.
func TestChangesAreBounded(t *testing.T) {
	w := newWorld(t)
	w.do(create("/memories/a.md", "x\n"))
	for i := range maxChanges + 5 {
		w.do(Command{Name: "insert", Path: "/memories/a.md", InsertText: fmt.Sprint(i)})
	}
	list, err := w.open().Project.Log()
	if err != nil || len(list) != maxChanges || list[0].N != maxChanges+6 {
		t.Errorf("%d changes, the newest %d, %v", len(list), list[0].N, err)
	}
}

// FuzzIndex: nothing of an index is lost by reading and writing it, and what is added is found.
func FuzzIndex(f *testing.F) {
	f.Add(title + "\n\n## Decisions\n- [a](a.md) - x\n")
	f.Add("- [](a) - x\n## \n# Memory Index\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		x := parseIndex(text)
		if got := x.text(); got != text && got != text+"\n" {
			t.Errorf("%q became %q", text, got)
		}
		n := len(x.entries)
		lines := len(x.lines)
		x.add(Entry{Key: "new-key", File: "f.md", Summary: "s", Topic: "Topic"})
		if e := x.find("new-key"); e == nil || len(x.entries) != n+1 || !strings.Contains(text, "new-key") && e.Topic != "Topic" && !strings.EqualFold(e.Topic, "Topic") {
			t.Errorf("%q: %+v of %d", text, e, n)
		}
		x.drop(func(e Entry) bool { return e.Key == "new-key" })
		if len(x.lines) < lines-strings.Count(text, "new-key") {
			t.Errorf("%q lost lines", text)
		}
	})
}
