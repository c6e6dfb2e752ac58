package session_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// called brings a world to a step with these tool calls.
func called(tools ...string) *world {
	w := newWorld("s")
	s := &script{w: w}
	var reply strings.Builder
	for _, t := range tools {
		reply.WriteString(" tool " + t + " {}")
	}
	play := []string{"open", `message "go"`, "rules allow:Bash", "run", "do t1.s1.b0.a1 text x" + reply.String(), "run"}
	for _, line := range play {
		if _, err := s.command(tokens(line)); err != nil {
			panic(err)
		}
	}
	return w
}

// again takes a state through a snapshot, as a resume would.
func again(t *testing.T, s *session.State) *session.State {
	t.Helper()
	out := &session.State{}
	if err := json.Unmarshal([]byte(asJSON(s)), out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestOpenActsAreAllKept however many there are; settled ones are kept to the last 256, and so are decisions.
func TestOpenActsAreAllKept(t *testing.T) {
	const n = 300
	tools := make([]string, n)
	for i := range tools {
		tools[i] = "Bash"
	}
	w := called(tools...)
	if got := len(w.st.Turn.Calls); got != n {
		t.Fatalf("%d open acts", got)
	}
	w.append(human, &session.CancelRequested{})
	(&script{w: w}).run()
	if len(w.st.Settled) != 256 || w.st.Dropped.Settled != n-256 {
		t.Errorf("%d settled acts, %d dropped", len(w.st.Settled), w.st.Dropped.Settled)
	}
	if last := w.st.Settled[255].ID; last != fmt.Sprintf("t1.s1.b%d.a1", n+1) {
		t.Errorf("the newest settled act is %s", last)
	}
	if got := len(w.st.Permissions.Decisions); got != 256 || w.st.Dropped.Decisions != n-256 {
		t.Errorf("%d decisions, %d dropped", got, w.st.Dropped.Decisions)
	}
}

// TestFilesAreBound: 4,096 paths, the most recently seen stay, also over snapshots and forks.
func TestFilesAreBound(t *testing.T) {
	w := newWorld("s")
	see := func(i int) {
		w.append(engine, &session.FileSeen{File: session.File{Path: fmt.Sprint(i), Use: session.FileRead}})
	}
	for i := range 4096 {
		see(i)
	}
	see(0) // the oldest is now the newest
	if len(w.st.Files) != 4096 || w.st.Dropped.Files != 0 {
		t.Fatalf("%d files, %d dropped", len(w.st.Files), w.st.Dropped.Files)
	}
	see(4096)
	if _, there := w.st.Files["1"]; there {
		t.Error("the file seen longest ago is still there")
	}
	w.st = again(t, w.st)
	see(4097)
	w.st = session.Fork(w.st, "child")
	w.st.ID = w.id
	w.append(human, &session.Forked{Parent: *w.st.Parent})
	see(4098)
	for path, want := range map[string]bool{"0": true, "2": false, "3": false, "4": true, "4098": true} {
		if _, there := w.st.Files[path]; there != want {
			t.Errorf("file %s: %t", path, there)
		}
	}
	if len(w.st.Files) != 4096 || w.st.Dropped.Files != 3 {
		t.Errorf("%d files, %d dropped", len(w.st.Files), w.st.Dropped.Files)
	}
	for range 20_000 { // the same few files again and again
		see(4098)
	}
	see(5000)
	if _, there := w.st.Files["4"]; there || len(w.st.Files) != 4096 {
		t.Errorf("file 4: %t, %d files", there, len(w.st.Files))
	}
}

// TestEndedTasksAreBound: 256 ended tasks, those that ended last stay, running ones all stay.
func TestEndedTasksAreBound(t *testing.T) {
	w := newWorld("s")
	for i := range 300 {
		w.append(engine, &session.TaskStarted{Task: session.Task{ID: fmt.Sprintf("bash_%d", i+1)}})
	}
	exit := func(i int) {
		w.append(engine, &session.TaskExited{Task: fmt.Sprintf("bash_%d", i), State: command.State{Status: command.Exited}})
	}
	for i := 2; i <= 258; i++ {
		exit(i)
	}
	exit(1) // started first, ended last
	if len(w.st.Tasks) != 298 || w.st.Dropped.Tasks != 2 {
		t.Fatalf("%d tasks, %d dropped", len(w.st.Tasks), w.st.Dropped.Tasks)
	}
	for id, want := range map[string]bool{"bash_1": true, "bash_2": false, "bash_3": false, "bash_4": true, "bash_300": true} {
		if (w.st.Task(id) != nil) != want {
			t.Errorf("task %s: want %t", id, want)
		}
	}
}

// TestFactsAreRefused: one more than 4,096 is told in advance, and dropped by nobody.
func TestFactsAreRefused(t *testing.T) {
	w := newWorld("s")
	for i := range 4096 {
		if !w.st.FactFits() {
			t.Fatalf("fact %d does not fit", i)
		}
		w.append(engine, &session.FactAdded{Fact: session.Fact{Text: fmt.Sprint(i)}})
	}
	if w.st.FactFits() {
		t.Error("one more fact fits")
	}
	w.append(engine, &session.FactAdded{Fact: session.Fact{Text: "one more"}})
	if len(w.st.Facts) != 4096 || w.st.Facts[0].Text != "0" || len(w.st.Faults) != 1 {
		t.Errorf("%d facts, the first is %q, faults %v", len(w.st.Facts), w.st.Facts[0].Text, w.st.Faults)
	}
}

// TestScratchIsRefused over 1 MiB, keys included; what is replaced or deleted makes room.
func TestScratchIsRefused(t *testing.T) {
	w := newWorld("s")
	half := make([]byte, 1<<19-1)
	set := func(key string, value []byte) { w.append(engine, &session.StateSet{Key: key, Value: value}) }
	set("a", half)
	set("b", half)
	if w.st.ScratchFits("c", nil) || !w.st.ScratchFits("a", half) || w.st.ScratchFits("a", make([]byte, 1<<19)) {
		t.Error("a full scratch state takes more, or does not take a replacement")
	}
	set("c", nil)
	if len(w.st.Faults) != 1 || len(w.st.Scratch) != 2 {
		t.Errorf("%d keys, faults %v", len(w.st.Scratch), w.st.Faults)
	}
	w.append(engine, &session.StateSet{Key: "a", Delete: true}, &session.StateSet{Key: "a", Delete: true})
	w.st = again(t, w.st)
	set("c", nil)
	set("d", []byte("x"))
	if len(w.st.Faults) != 1 || len(w.st.Scratch) != 3 || w.st.ScratchSize != 1<<19+1+2 {
		t.Errorf("%d keys of %d bytes, faults %v", len(w.st.Scratch), w.st.ScratchSize, w.st.Faults)
	}
}

// TestOtherBounds: what else grows by an event each is bound, and says so.
func TestOtherBounds(t *testing.T) {
	for name, c := range map[string]struct {
		bound int
		body  func(i int) session.Body
		size  func(s *session.State) int
	}{
		"messages": {1024, func(int) session.Body {
			return &session.MessageReceived{}
		}, func(s *session.State) int { return len(s.Queue) }},
		"labels": {256, func(i int) session.Body {
			return &session.Labelled{Labels: map[string]string{fmt.Sprint(i): "x"}}
		}, func(s *session.State) int { return len(s.Labels) }},
		"timers": {1024, func(i int) session.Body {
			return &session.TimerSet{ID: session.TimerID(fmt.Sprint(i)), At: 1}
		}, func(s *session.State) int { return len(s.Timers) }},
		"grants": {4096, func(i int) session.Body {
			return &session.PermissionGranted{Rule: fmt.Sprint(i)}
		}, func(s *session.State) int { return len(s.Permissions.Grants) }},
		"directories": {1024, func(i int) session.Body {
			return &session.Configured{AddDirs: []string{fmt.Sprint(i)}}
		}, func(s *session.State) int { return len(s.Directories) }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld("s")
			for i := range c.bound {
				w.append(engine, c.body(i))
			}
			if got := c.size(w.st); got != c.bound || len(w.st.Faults) > 0 {
				t.Fatalf("%d of %d, faults %v", got, c.bound, w.st.Faults)
			}
			w.append(engine, c.body(c.bound))
			if got := c.size(w.st); got != c.bound || len(w.st.Faults) != 1 {
				t.Errorf("%d of %d, faults %v", got, c.bound, w.st.Faults)
			}
			if w.append(engine, c.body(0)); name == "labels" && len(w.st.Faults) != 1 {
				t.Errorf("a label that is there can't be changed: %v", w.st.Faults)
			}
		})
	}
}

// TestFaultsAreBound: a log of nonsense costs no more than 64 lines.
func TestFaultsAreBound(t *testing.T) {
	w := newWorld("s")
	for range 100 {
		w.append(engine, &session.TurnEnded{N: 9})
	}
	if len(w.st.Faults) != 64 || w.st.Dropped.Faults != 36 {
		t.Errorf("%d faults, %d dropped", len(w.st.Faults), w.st.Dropped.Faults)
	}
}

// TestRangesAreBound: however holes are spread, the list stays short, in order, and leaves no conversation out.
func TestRangesAreBound(t *testing.T) {
	w := newWorld("s")
	var talk []int64
	for range 3000 {
		w.append(human, &session.MessageReceived{Note: true})
		talk = append(talk, w.st.Head.Seq)
		for range 20 {
			w.append(engine, &session.App{})
		}
	}
	rs := w.st.Conversation()
	if len(rs) > 512 {
		t.Errorf("%d ranges", len(rs))
	}
	i := 0
	for n, r := range rs {
		if r.From > r.To || n > 0 && r.From <= rs[n-1].To {
			t.Fatalf("range %d is %v after %v", n, r, rs[max(0, n-1)])
		}
		for i < len(talk) && talk[i] >= r.From && talk[i] <= r.To {
			i++
		}
	}
	if i != len(talk) {
		t.Errorf("event %d is in no range", talk[i])
	}
}

// TestFilesRoundTrip packs what JSON could not hold, and finds damage.
func TestFilesRoundTrip(t *testing.T) {
	for _, fs := range []session.Files{nil, {}, {
		"/w/\xff": {Path: "/w/\xff", Digest: store.Sum(nil), Mode: 0o755, Size: 1 << 40, Use: "odd", Time: -1, Seq: -7},
		"":        {Use: session.FileCreated, Seq: 9},
	}} {
		b, err := json.Marshal(fs)
		if err != nil {
			t.Fatal(err)
		}
		var got session.Files
		if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, fs) {
			t.Errorf("%v, %v came back as %v", err, fs, got)
		}
		if len(b) > 10 {
			for cut := 5; cut < len(b)-5; cut += 4 {
				if err := json.Unmarshal(append(b[:cut:cut], '"'), &got); err == nil && reflect.DeepEqual(got, fs) {
					t.Errorf("cut at %d of %d is not found", cut, len(b))
				}
			}
		}
	}
	var got session.Files
	for _, bad := range []string{`7`, `"!"`, `"/////w=="`, `"AAAA"`} {
		if json.Unmarshal([]byte(bad), &got) == nil {
			t.Errorf("%s is taken for files", bad)
		}
	}
}

// TestHugeStep: Next lists the first calls of a step, and what it costs hardly grows with their number.
func TestHugeStep(t *testing.T) {
	const n = 4000
	w := newWorld("s")
	w.append(human, &session.Opened{ID: "s"}, &session.MessageReceived{}, &session.TurnStarted{N: 1, Message: 2},
		&session.ModelRequested{Act: "t1.s1.b0.a1", Turn: 1, Step: 1, Attempt: 1, Through: 3})
	blocks := make([]session.SealedBlock, n)
	for i := range blocks {
		blocks[i] = session.SealedBlock{Type: model.BlockToolUse, Name: "Read"}
	}
	w.reply("t1.s1.b0.a1", modelapi.StopToolUse, model.Usage{}, blocks...)
	for i := range w.st.Turn.Calls {
		c := &w.st.Turn.Calls[i]
		c.Effect, c.Decision = session.EffectProcess, &session.Decision{Allow: true, Bound: w.st.Binding(c)}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	as := session.Next(w.st)
	runtime.ReadMemStats(&after)
	const listed = 32
	if len(as) != listed || len(as[listed-1].After) != listed-1 {
		t.Fatalf("%d actions", len(as))
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > n*100 {
		t.Errorf("%d bytes for %d calls", got, n)
	}
}
