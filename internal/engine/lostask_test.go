package engine_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/memory"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

const lostAct = "t1.s2.b1.a1"

// dyingAt lets the next process of a stage die at one of its appends.
func dyingAt(s *stage, at int, after bool, do func(p process)) (died bool) {
	m, kept := &mortal{at: at, after: after}, s.config
	s.config = func(c *engine.Config) {
		kept(c)
		m.Store = c.Store.(*memory.Store)
		c.Store = m
	}
	do(s.process())
	s.config = kept
	return m.died
}

// goOn opens the session and lets it run, for a process that may die.
func goOn(t *testing.T, p process) {
	t.Helper()
	if se, err := p.Open(t.Context(), "s", bypass); err == nil {
		_ = se.Run(t.Context())
		_ = se.Close(t.Context(), "")
	}
}

// asks are the questions about lost acts in the log.
func asks(p process) (n int) {
	for _, b := range p.log(session.KindToolUnknown) {
		if b.(*session.ToolUnknown).Asks != nil {
			n++
		}
	}
	return n
}

// closed runs the session until it rests, and gives it back.
func closed(t *testing.T, p process) *session.State {
	t.Helper()
	se := p.open(bypass)
	st := run(t, se).Copy()
	must(t, se.Close(t.Context(), ""))
	return st
}

// A session that is set to ask halts after an act of which nobody can tell what it did, before anything else begins, and
// asks once, wherever the process dies meanwhile: the question and the capture of what changed come in one commit.
func TestALostActAsksOnce(t *testing.T) {
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			s, _ := interrupted(t, session.OnLostAsk)
			died := dyingAt(s, at, after, func(p process) { goOn(t, p) })
			p := s.process()
			if seen := p.log(session.KindFilesCaptured); asks(p) == 1 && len(seen) < 3 {
				t.Errorf("append %d, after %t: it asks, and what changed is not captured", at, after)
			}
			st := closed(t, p)
			waits := session.Waits(st)
			if asks(p) != 1 || len(waits) != 1 || waits[0].Kind != "question" || waits[0].Call.ID != lostAct || session.ActivityOf(st) != session.Waiting {
				t.Errorf("append %d, after %t: asked %d times, waits %+v, %s", at, after, asks(p), waits, session.ActivityOf(st))
			}
			if string(s.files.m["/w/a"]) != "half done" || s.files.m["/w/next"] != nil || len(s.requests) != 2 {
				t.Errorf("append %d, after %t: it went on: %q, %d requests", at, after, s.files.m, len(s.requests))
			}
			if !died {
				break
			}
		}
	}
}

// What a person answers is done once, wherever the process dies meanwhile, and the model is told of it. Their own edits of
// while it waited stay, whatever the answer.
func TestAnAnswerAboutALostActIsDoneOnce(t *testing.T) {
	for number, want := range map[string]struct{ a, next, told string }{
		"1": {"half done", "next", "decided to keep it."},
		"2": {"old", "next", "decided to have it taken back."},
		"3": {"half done", "", ""},
	} {
		for _, after := range []bool{false, true} {
			for at := 1; ; at++ {
				s, k := interrupted(t, session.OnLostAsk)
				p := s.process()
				closed(t, p)
				p.send("answer", &session.QuestionAnswered{Act: lostAct, Text: number})
				died := dyingAt(s, at, after, func(p process) { goOn(t, p) })
				p = s.process()
				st := closed(t, p)
				got := s.files.m
				if string(got["/w/a"]) != want.a || string(got["/w/next"]) != want.next || (got["/w/half"] == nil) != (number == "2") || string(got["/w/kept"]) != "kept" {
					t.Errorf("%s, append %d, after %t: files %q", number, at, after, got)
				}
				asked, done := p.log(session.KindRestoreRequested), p.log(session.KindFilesRestored)
				if n := len(asked); n != len(done) || n != map[string]int{"2": 1}[number] || asks(p) != 1 || len(p.log(session.KindQuestionAnswered)) != 1 {
					t.Errorf("%s, append %d, after %t: asked for %d, restored %d, asks %d", number, at, after, n, len(done), asks(p))
				}
				for id, n := range k.wrote {
					if n != 1 {
						t.Errorf("%s, append %d, after %t: %s was written %d times", number, at, after, id, n)
					}
				}
				stop, told := session.TurnEndTurn, render(s.last().Messages)
				if number == "3" {
					stop = session.TurnCancelled
				}
				if st.LastTurn == nil || st.LastTurn.Stop != stop || strings.Count(told, want.told) < 1 || want.told != "" && strings.Count(told, "decided to") != 1 {
					t.Errorf("%s, append %d, after %t: %+v, the model was told\n%s", number, at, after, st.LastTurn, told)
				}
				if len(st.Faults) > 0 || k.held != 0 {
					t.Errorf("%s, append %d, after %t: faults %q, %d held", number, at, after, st.Faults, k.held)
				}
				if !died {
					break
				}
			}
		}
	}
}

// Whoever edits a file while a session asks about a lost act has not their edit taken back with it.
func TestEditsWhileALostActWaitsStay(t *testing.T) {
	s, _ := interrupted(t, session.OnLostAsk)
	p := s.process()
	closed(t, p)
	seen := p.log(session.KindFilesCaptured)
	tree := seen[len(seen)-1].(*session.FilesCaptured).Tree
	s.files.m["/w/mine"] = []byte("a person's")
	p.send("answer", &session.QuestionAnswered{Act: lostAct, Text: "2"})
	k := s.kept()
	var base store.Digest
	kept := s.config
	s.config = func(c *engine.Config) {
		kept(c)
		c.Captures = basing{k, &base}
	}
	goOn(t, s.process())
	if base != tree {
		t.Errorf("the restore is against %s, the files as they were when it was asked are %s", base, tree)
	}
}

// Only the options are answers, by their number or in words: a text for the model is refused, and so is a second answer.
func TestALostActTakesAnOption(t *testing.T) {
	s, _ := interrupted(t, session.OnLostAsk)
	p := s.process()
	closed(t, p)
	p.send("one", &session.QuestionAnswered{Act: lostAct, Text: "look at the log first"})
	p.send("two", &session.QuestionAnswered{Act: lostAct, Text: "4"})
	se := p.open(bypass)
	must(t, se.Drain(t.Context()))
	err := se.Append(t.Context(), store.Actor{Type: store.ActorUser}, &session.QuestionAnswered{Act: lostAct, Text: "yes"})
	if err == nil || !strings.Contains(err.Error(), "1, 2 or 3") {
		t.Errorf("appended: %v", err)
	}
	if n := len(p.log(session.KindInboxRefused)); n != 2 || len(session.Waits(se.State())) != 1 {
		t.Errorf("%d refused, waits %v", n, session.Waits(se.State()))
	}
	must(t, se.Append(t.Context(), store.Actor{Type: store.ActorUser}, &session.QuestionAnswered{Act: lostAct, Text: "2"}))
	must(t, se.Close(t.Context(), ""))
	p.send("three", &session.QuestionAnswered{Act: lostAct, Text: session.LostStop})
	closed(t, p)
	if n := len(p.log(session.KindInboxRefused)); n != 3 || string(s.files.m["/w/a"]) != "old" || len(p.log(session.KindFilesRestored)) != 1 {
		t.Errorf("%d refused, files %q", n, s.files.m)
	}
}

// Where nothing can be taken back nobody is asked: nothing has changed, or it cannot be captured, or nothing captures.
func TestALostActWithNothingToTakeBackIsTold(t *testing.T) {
	for name, change := range map[string]func(*stage, *keeper){
		"nothing changed": func(s *stage, _ *keeper) {
			s.files.m["/w/a"] = []byte("old")
			delete(s.files.m, "/w/half")
		},
		"not captured": func(_ *stage, k *keeper) {
			k.fail = func(engine.CaptureRequest) error { return errNo }
		},
		"no captures": func(s *stage, _ *keeper) { s.config = nil },
	} {
		s, k := interrupted(t, session.OnLostAsk)
		change(s, k)
		p := s.process()
		st := closed(t, p)
		if asks(p) != 0 || st.LastTurn == nil || st.LastTurn.Stop != session.TurnEndTurn || string(s.files.m["/w/next"]) != "next" {
			t.Errorf("%s: asked %d, %+v", name, asks(p), st.LastTurn)
		}
	}
}

// A turn that is cancelled while a lost act waits ends: nobody is asked any more, and the files stay.
func TestACancelledTurnAsksNothingAboutALostAct(t *testing.T) {
	s, _ := interrupted(t, session.OnLostAsk)
	p := s.process()
	closed(t, p)
	p.send("cancel", &session.CancelRequested{})
	st := closed(t, p)
	if st.LastTurn == nil || st.LastTurn.Stop != session.TurnCancelled || len(st.Faults) > 0 || string(s.files.m["/w/a"]) != "half done" {
		t.Errorf("%+v, faults %q", st.LastTurn, st.Faults)
	}
}
