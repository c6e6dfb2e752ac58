package session_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// ordinaryLog is n events of one long turn of tool calls that see files of 2,000 paths.
func ordinaryLog(tb testing.TB, n int) []store.Event {
	w := newWorld("s")
	w.hurried = true
	s := &script{w: w}
	for _, line := range []string{"open price=3", "rules allow:Bash", `message "go"`, "run"} {
		if _, err := s.command(tokens(line)); err != nil {
			tb.Fatal(err)
		}
	}
	output := strings.Repeat("a line of output\n", 50)
	for step := 1; len(w.events) < n; step++ {
		act := session.AttemptID(session.ActBase(1, step, 2), 1)
		for _, line := range []string{
			fmt.Sprintf(`do t1.s%d.b0.a1 text "I look at the next file." tool Bash {"command":"sed\u0020-n\u00201,50p\u0020file%d.go"}`, step, step),
			"run", "start " + act,
		} {
			if _, err := s.command(tokens(line)); err != nil {
				tb.Fatal(err)
			}
		}
		w.result(&session.ToolFinished{Act: act, Outcome: session.OutcomeOK, Content: []model.Part{model.TextPart(output)}})
		for i := range 2 {
			w.append(engine, &session.FileSeen{File: session.File{
				Path: fmt.Sprintf("/home/ada/project/internal/some/file%d.go", (2*step+i)%2000), Digest: store.Sum([]byte{byte(step)}),
				Mode: 0o644, Size: 1234, Use: session.FileRead,
			}})
		}
	}
	return w.events[:n]
}

// BenchmarkFold folds 10,000 ordinary events: at most about 20 ms.
func BenchmarkFold(b *testing.B) {
	events := ordinaryLog(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		if s, err := session.Fold("s", events); err != nil || len(s.Faults) > 0 {
			b.Fatal(err, s.Faults)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(events)), "ns/event")
}

// BenchmarkFoldManyFiles sees 10,000 paths, more than are kept.
func BenchmarkFoldManyFiles(b *testing.B) {
	w := newWorld("s")
	for i := range 10_000 {
		w.append(engine, &session.FileSeen{File: session.File{Path: fmt.Sprintf("/home/ada/project/file%d.go", i), Use: session.FileRead}})
	}
	for b.Loop() {
		if _, err := session.Fold("s", w.events); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSnapshot writes and reads the state of 10,000 ordinary events.
func BenchmarkSnapshot(b *testing.B) {
	s, err := session.Fold("s", ordinaryLog(b, 10_000))
	if err != nil {
		b.Fatal(err)
	}
	size := 0
	for b.Loop() {
		raw, err := json.Marshal(s)
		if err != nil {
			b.Fatal(err)
		}
		if err := json.Unmarshal(raw, &session.State{}); err != nil {
			b.Fatal(err)
		}
		size = len(raw)
	}
	b.ReportMetric(float64(size), "bytes")
}

// BenchmarkSeal encodes and hashes an event of 1 KB, as an append does before the store.
func BenchmarkSeal(b *testing.B) {
	chain := session.Chain{Session: "s"}
	body := &session.ToolFinished{Act: "t1.s1.b1.a1", Outcome: session.OutcomeOK, Content: []model.Part{model.TextPart(strings.Repeat("x", 900))}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := chain.Event(engine, 1, body); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNext asks what to do in a step of 20 calls.
func BenchmarkNext(b *testing.B) {
	tools := make([]string, 20)
	for i := range tools {
		tools[i] = "Bash"
	}
	w := called(tools...)
	b.ReportAllocs()
	for b.Loop() {
		session.Next(w.st)
	}
}

// TestStateStaysSmall: the state of a session of 10,000 events holds where things are, not what they say.
func TestStateStaysSmall(t *testing.T) {
	small, err := session.Fold("s", ordinaryLog(t, 200))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(asJSON(small)); n > 48<<10 {
		t.Errorf("%d bytes after 200 events", n)
	}
	large, err := session.Fold("s", ordinaryLog(t, 10_000))
	if err != nil {
		t.Fatal(err)
	}
	files := large.Files
	large.Files = nil
	if n := len(asJSON(large)); n > 128<<10 || len(files) != 2000 {
		t.Errorf("%d bytes after 10,000 events, files apart, of which there are %d", n, len(files))
	}
}
