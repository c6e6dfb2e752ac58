package knowledge

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

// Goal: an index of a megabyte, which a repository may bring along, keeps nobody waiting: it can be read and made smaller.
func TestPlantedIndex(t *testing.T) {
	w := newWorld(t)
	var text strings.Builder
	text.WriteString(title + "\n\n## Planted\n")
	for i := 0; text.Len() < maxRead-100; i++ {
		fmt.Fprintf(&text, "- [k%d](f%d.md) - s %d\n", i, i, i)
		if i%1000 == 0 {
			text.WriteString(strings.Repeat("odd\n", 10))
		}
	}
	w.write(w.open().Project.IndexFile(), text.String())
	b := w.brief()
	if len(b.Cut) < 10_000 || len(b.Text) > MaxBriefBytes {
		t.Errorf("cut %d, %d bytes", len(b.Cut), len(b.Text))
	}
	start := time.Now()
	w.do(Command{Name: "str_replace", Path: "/memories/MEMORY.md", OldStr: "- [k7](f7.md) - s 7\n"})
	w.no(Command{Name: "str_replace", Path: "/memories/MEMORY.md", OldStr: "- [k9](f9.md) - s 9\n", NewStr: "- [k8](f9.md) - s\n"}, "would say the same")
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// Goal: an index that other programs and people keep in this form is read as it is, and takes more.
func TestIndexOfOthers(t *testing.T) {
	w := newWorld(t)
	text := `# Memory Index

## User
- [user_profile](user_profile.md) - name, preferences, communication style

## Projects
- [api-rewrite](project_api_rewrite.md) - REST->GraphQL, timeline, decisions
- [ml-pipeline](project_ml_pipeline.md) - training infra, model registry

## Infrastructure
- [prod-cluster](infra_prod.md) - K8s on GCP, 3 node pools, autoscaling

## Decisions
- [db-choice](decision_db.md) - PostgreSQL, reasons, alternatives considered
`
	w.do(create("/memories/MEMORY.md", text))
	list, err := w.open().Project.List()
	if err != nil || len(list) != 5 || list[1].Key != "api-rewrite" || list[1].File != "project_api_rewrite.md" || list[1].Topic != "Projects" ||
		list[1].Summary != "REST->GraphQL, timeline, decisions" || !list[1].Missing || list[1].Mark.Session != "s1" || list[1].Mark.Seq != 7 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := w.open().Project.Add(context.Background(), Addition{Text: "GitHub Actions", Topic: "infrastructure", Key: "ci-cd"}, By{}); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(text, "autoscaling\n", "autoscaling\n- [ci-cd](ci-cd.md) - GitHub Actions\n", 1)
	if got := fileText(w.open().Project.IndexFile()); got != want {
		t.Errorf("got %q", got)
	}
}

// Goal: a refusal for want of room names the entries that nobody stood by for longest, the oldest first.
func TestDemoteTheLeastConfirmed(t *testing.T) {
	w := newWorld(t)
	w.do(create("/memories/MEMORY.md", entriesText(197)))
	w.cfg.Now = func() time.Time { return testTime.AddDate(0, 1, 0) }
	for _, key := range []string{"key0", "key2"} {
		if err := w.open().Project.Edit(context.Background(), key, Revision{}, By{Source: SourceUser}); err != nil {
			t.Fatal(err)
		}
	}
	w.no(Command{Name: "insert", Path: "/memories/MEMORY.md", InsertLine: 200, InsertText: "- [last](last.md) - the rule"},
		"confirmed: key1 (2026-04-08T12:00:00Z), key3 (2026-04-08T12:00:00Z), key4 (")
	if _, err := w.open().Project.Add(context.Background(), Addition{Text: "one more"}, By{}); err == nil || !strings.Contains(err.Error(), "key1 (") {
		t.Errorf("add: %v", err)
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
