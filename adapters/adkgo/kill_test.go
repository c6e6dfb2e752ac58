package adkgo_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	adk "google.golang.org/adk/v2/session"

	"github.com/perdure/perdure/adapters/adkgo"
)

const writerHome = "ADKGO_TEST_HOME"

// write appends events for ever, each with a count in the state, and prints the number of each that was acknowledged.
func write(t *testing.T, dir string) {
	s := adkgo.New(open(t, dir), adkgo.Options{})
	r, err := s.Get(t.Context(), &adk.GetRequest{AppName: "app", UserID: "user", SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	for i := r.Session.Events().Len(); ; i++ {
		e := &adk.Event{ID: fmt.Sprint("e", i), Author: "agent", Actions: adk.EventActions{StateDelta: map[string]any{"n": i, "app:n": i}}}
		if err := s.AppendEvent(t.Context(), r.Session, e); err != nil {
			t.Fatal(err)
		}
		fmt.Println("acknowledged", i)
	}
}

// Whoever is killed: what was acknowledged is there, in order, and an event and the state that it changed are there
// together or not at all.
func TestKilled(t *testing.T) {
	if dir := os.Getenv(writerHome); dir != "" {
		write(t, dir)
		return
	}
	dir := filepath.Join(t.TempDir(), "home")
	first := open(t, dir)
	cur := create(t, adkgo.New(first, adkgo.Options{}), "app", "user", "s")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	last := -1
	for round := range 8 {
		n := 0
		untilKilled(t, "TestKilled", writerHome, dir, func(line string) bool {
			if _, err := fmt.Sscanf(line, "acknowledged %d", &last); err != nil {
				return false
			}
			n++
			return n == 5+3*round // what it still prints was acknowledged too
		})
		h := open(t, dir)
		got := get(t, adkgo.New(h, adkgo.Options{}), cur)
		n = got.Events().Len()
		if n < last+1 {
			t.Fatalf("round %d: %d was acknowledged, %d are there", round, last, n)
		}
		for i := range n {
			if id := got.Events().At(i).ID; id != fmt.Sprint("e", i) {
				t.Fatalf("event %d is %s", i, id)
			}
		}
		for _, key := range []string{"n", "app:n"} {
			if v, err := got.State().Get(key); err != nil || v != float64(n-1) {
				t.Errorf("round %d: %s is %v beside %d events: %v", round, key, v, n, err)
			}
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
