package homes_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/session"
)

// chats answers whatever it is asked.
const chats = `{"turns":[{"match":"","steps":[{"text":"one"},{"text":"two"},{"text":"three"}]}],"summary":{"text":"## Next Step\nGo on."}}`

// given is the handoff that a session began with; empty: none.
func (r *relay) given(id string) (out string) {
	for _, b := range r.bodies(id) {
		if g, ok := b.(*session.ContextGiven); ok {
			for _, text := range g.Texts {
				if text.Name == session.GivenHandoff {
					out = string(text.Text)
				}
			}
		}
	}
	return out
}

// lived has a session begin, say something and end.
func (r *relay) lived(id, prompt string) {
	r.t.Helper()
	l := r.process(chats, 0)
	r.must(l.begin(id))
	r.must(l.say(id, prompt))
	r.must(l.Close())
}

// A short question that a session asks in between ends the thread for the one after it (the page was read, and nobody
// has it any more): too short to leave a handoff, it puts back what it began with.
func TestAShortSessionPutsTheHandoffBack(t *testing.T) {
	r := newRelay(t)
	r.lived("a", "the long work")
	r.least = time.Hour
	for _, id := range []string{"b", "c"} {
		r.lived(id, "what is the time")
		if g := r.given(id); !strings.Contains(g, "the long work") {
			t.Errorf("%s was given %q", id, g)
		}
	}
	there, _ := r.lies()
	if len(there) != 1 || there[0].Session != "a" || !there[0].Intact {
		t.Errorf("what lies there: %+v", there)
	}
}

// The same when it is killed, before its first turn or in it: the next start puts it back. A start that is to leave
// everything alone changes nothing, and is no end of the thread either.
func TestAKilledShortSessionIsPutBackByTheNextStart(t *testing.T) {
	for _, turns := range []bool{false, true} {
		for _, ignored := range []bool{false, true} {
			r := newRelay(t)
			r.lived("a", "the long work")
			r.least = time.Hour
			l := r.process(chats, 0)
			r.must(l.begin("b"))
			if turns {
				l.kill = l.points + 8 // in its turn
				_ = l.say("b", "what is the time")
				if !l.dead {
					t.Fatal("it is not dead")
				}
			}
			l.end()
			if ignored {
				before, past := r.lies()
				r.ignored = true
				r.lived("f", "alone")
				r.ignored = false
				if now, history := r.lies(); len(now) != len(before) || len(history) != len(past) || r.given("f") != "" {
					t.Errorf("a session that ignores handoffs: %d → %d, %d → %d, given %q", len(before), len(now), len(past), len(history), r.given("f"))
				}
			}
			r.lived("c", "again")
			if g := r.given("c"); !strings.Contains(g, "the long work") {
				t.Errorf("with turns %v, ignored %v the next session was given %q", turns, ignored, g)
			}
		}
	}
}

// A session that is told to ignore handoffs neither reads nor moves what lies there, however long it lasts; its own lies
// beside it.
func TestAnIgnoredHandoffStays(t *testing.T) {
	r := newRelay(t)
	r.lived("a", "the long work")
	before, _ := r.lies()
	r.ignored = true
	r.lived("f", "other work")
	r.ignored = false
	there, past := r.lies()
	if r.given("f") != "" || len(past) != 0 || len(there) != 2 || string(there[0].Text)+string(there[1].Text) == "" {
		t.Fatalf("given %q, %d lie there, %d were read", r.given("f"), len(there), len(past))
	}
	kept := false
	for _, f := range there {
		kept = kept || f.Path == before[0].Path && f.Digest == before[0].Digest
	}
	if !kept {
		t.Errorf("the handoff that was ignored is not where it was: %+v", there)
	}
	r.lived("c", "again")
	if g := r.given("c"); !strings.Contains(g, "the long work") || !strings.Contains(g, "other work") {
		t.Errorf("the next session was told:\n%s", g)
	}
}

// Several sessions that were killed while they worked in one directory: the next one is told of all of them, not of the
// newest alone, also when another one that ignores handoffs came between.
func TestEveryKilledSessionIsMadeUpFor(t *testing.T) {
	r := newRelay(t)
	a, b := r.process(chats, 0), r.process(chats, 0)
	r.must(a.begin("a"))
	r.must(b.begin("b"))
	a.kill, b.kill = a.points+12, b.points+12
	_, _ = a.say("a", "the first work"), b.say("b", "the second work")
	if !a.dead || !b.dead {
		t.Fatal("they are not dead")
	}
	r.ignored = true
	r.lived("f", "alone")
	r.ignored = false
	r.lived("c", "again")
	g := r.given("c")
	for _, work := range []string{"the first work", "the second work", "alone"} {
		if !strings.Contains(g, work) {
			t.Errorf("the next session is not told of %q:\n%s", work, g)
		}
	}
	r.single("at the end")
	r.faultless()
	r.lived("d", "and again")
	if g := r.given("d"); strings.Contains(g, "the first work") {
		t.Errorf("it is told twice:\n%s", g)
	}
}

// A session that is killed in the root of a repository is made up for by one that begins in a directory below: what is
// known of the project is the same.
func TestAKilledSessionOfTheRootIsMadeUpForBelowIt(t *testing.T) {
	r := newRelay(t)
	r.must(os.MkdirAll(filepath.Join(r.dir, ".git"), 0o700))
	r.must(os.MkdirAll(filepath.Join(r.dir, "sub"), 0o700))
	a := r.process(chats, 0)
	r.must(a.begin("a"))
	a.kill = a.points + 12
	if err := a.say("a", "the first work"); err == nil || !a.dead {
		t.Fatal("it is not dead")
	}
	r.dir = filepath.Join(r.dir, "sub")
	r.lived("b", "again")
	if g := r.given("b"); !strings.Contains(g, "the first work") {
		t.Errorf("the next session was given %q", g)
	}
}
