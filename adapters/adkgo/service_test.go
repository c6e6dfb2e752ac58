package adkgo_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	adk "google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/session/sessiontestsuite"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/adapters/adkgo"
	"github.com/perdure/perdure/store"
)

func open(t *testing.T, dir string) *perdure.Home {
	t.Helper()
	h, err := perdure.Open(t.Context(), dir, perdure.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func service(t *testing.T, opt adkgo.Options) *adkgo.Service {
	t.Helper()
	return adkgo.New(open(t, filepath.Join(t.TempDir(), "home")), opt)
}

// ADK's own suite, with and without the fence.
func TestSuite(t *testing.T) {
	for _, opt := range []adkgo.Options{{}, {Fence: true}} {
		t.Run(fmt.Sprintf("%+v", opt), func(t *testing.T) {
			sessiontestsuite.RunServiceTests(t, sessiontestsuite.SuiteOptions{SupportsUserProvidedSessionID: true},
				func(t *testing.T) adk.Service { return service(t, opt) })
		})
	}
}

func create(t *testing.T, s *adkgo.Service, app, user, id string) adk.Session {
	t.Helper()
	r, err := s.Create(t.Context(), &adk.CreateRequest{AppName: app, UserID: user, SessionID: id, State: map[string]any{"k": "v", "app:a": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	return r.Session
}

func get(t *testing.T, s *adkgo.Service, cur adk.Session) adk.Session {
	t.Helper()
	r, err := s.Get(t.Context(), &adk.GetRequest{AppName: cur.AppName(), UserID: cur.UserID(), SessionID: cur.ID()})
	if err != nil {
		t.Fatal(err)
	}
	return r.Session
}

// What was appended is there in the next process, once, whatever the names are.
func TestGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	for _, name := range []string{"s", "../../x", "a\x00b", string(make([]byte, 5000))} {
		h := open(t, dir)
		s := adkgo.New(h, adkgo.Options{})
		cur := create(t, s, name, name, name)
		for i := range 5 {
			e := &adk.Event{ID: fmt.Sprint("e", i), Author: "agent", Actions: adk.EventActions{StateDelta: map[string]any{"n": i, "temp:x": 1, "user:u": "2"}}}
			for range 2 { // a repetition changes nothing
				if err := s.AppendEvent(t.Context(), cur, e); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		h = open(t, dir)
		again := get(t, adkgo.New(h, adkgo.Options{}), cur)
		snap := sessiontestsuite.Snapshot(again)
		if len(snap.Events) != 5 || snap.State["n"] != 4.0 || snap.State["app:a"] != "1" || snap.State["user:u"] != "2" || snap.State["temp:x"] != nil {
			t.Errorf("%.20q: %d events, state %v", name, len(snap.Events), snap.State)
		}
		for l, err := range h.List(t.Context(), store.Query{}) {
			if err != nil {
				t.Fatal(err)
			}
			if faults, err := h.Verify(t.Context(), l.ID); err != nil || len(faults) > 0 {
				t.Errorf("verify %s: %q, %v", l.ID, faults, err)
			}
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Many at once all get through; with the fence only who has seen the newest event does, and nothing is lost.
func TestAtOnce(t *testing.T) {
	for _, fence := range []bool{false, true} {
		s := service(t, adkgo.Options{Fence: fence})
		first := create(t, s, "app", "user", "s")
		const writers, each = 8, 20
		var all sync.WaitGroup
		var mu sync.Mutex
		acknowledged := map[string]bool{}
		for w := range writers {
			all.Go(func() {
				for i := range each {
					cur, id := get(t, s, first), fmt.Sprintf("%d.%d", w, i)
					err := s.AppendEvent(t.Context(), cur, &adk.Event{ID: id, Author: "user"})
					switch {
					case err == nil:
						mu.Lock()
						acknowledged[id] = true
						mu.Unlock()
					case !fence || !errors.Is(err, store.ErrConflict):
						t.Errorf("fence %t: %v", fence, err)
					}
				}
			})
		}
		all.Wait()
		got := get(t, s, first)
		if got.Events().Len() != len(acknowledged) || !fence && len(acknowledged) != writers*each {
			t.Errorf("fence %t: %d acknowledged, %d there", fence, len(acknowledged), got.Events().Len())
		}
		for e := range got.Events().All() {
			if !acknowledged[e.ID] {
				t.Errorf("event %s was not acknowledged", e.ID)
			}
		}
	}
}
