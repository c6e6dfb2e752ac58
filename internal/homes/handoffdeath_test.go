package homes_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
)

// firstSession plans, notes what failed, reads until it is compacted, and ends with something to remember.
func firstSession(dir string) string {
	steps := []string{
		`{"text":"I plan.","tools":[{"name":"TodoWrite","input":{"todos":[{"content":"schema","status":"in_progress"},{"content":"retry logic","status":"pending"}]}},
		  {"name":"Note","input":{"kind":"failed","text":"v2 compatibility mode","reason":"v2 ended on May 1"}}]}`,
	}
	for i := range 3 {
		steps = append(steps, fmt.Sprintf(`{"text":"I read %d.","tools":[{"name":"Read","input":{"file_path":"%s/f%d"}}]}`, i, dir, i))
	}
	steps = append(steps,
		`{"text":"The schema is there.","tools":[{"name":"TodoWrite","input":{"todos":[{"content":"schema","status":"completed","output":"schema.sql"},{"content":"retry logic","status":"pending"}]}},
		  {"name":"Note","input":{"kind":"decision","text":"direct migration","reason":"it is shorter"}}]}`,
		`{"text":"Done for today.\n\n[DECISION] Migrate directly, without v2."}`)
	return `{"turns":[{"match":"migrate","steps":[` + strings.Join(steps, ",") + `]}],
	 "summary":{"text":"## Goal\nMigrate to v3.\n## Done\n- the schema\n## Next Step\nWrite the retry logic."}}`
}

// secondSession does the one next step.
const secondSession = `{"turns":[{"match":"continue","steps":[{"text":"Going on."}]},{"match":"migrate","steps":[{"text":"never"}]}],
 "summary":{"text":"## Next Step\nTest it."}}`

// migrating is a relay whose directory has files that fill a window.
func migrating(t *testing.T) *relay {
	r := newRelay(t)
	for i := range 3 {
		text := strings.Repeat(fmt.Sprintf("a line of file %d\n", i), 500)
		r.must(os.WriteFile(filepath.Join(r.dir, fmt.Sprintf("f%d", i)), []byte(text), 0o600))
	}
	return r
}

// first lives the first session, and gives the points of its life. Its errors are those of a death.
func (r *relay) first(kill int) *life {
	l := r.process(firstSession(r.dir), kill)
	if err := l.begin("a"); err == nil {
		err = l.say("a", "migrate")
		if err != nil && kill == 0 {
			r.t.Fatal(err)
		}
	}
	l.end()
	return l
}

// A process that dies in a compaction, or while it hands off, loses or doubles what the next session is to know (peers
// leave a summary that was made and never applied, or half a file): at every commit and at every change of a file. After
// the start of the next session, whoever that is, the log and the files say the same.
func TestKilledWhileHandingOff(t *testing.T) {
	r := migrating(t)
	calm := r.first(0)
	if n := strings.Count(kinds(r.bodies("a")), " context.compacted"); n < 1 || calm.points < 60 {
		t.Fatalf("%d compactions, %d points", n, calm.points)
	}
	t.Logf("%d points", calm.points)
	const shards = 4
	for shard := range shards {
		t.Run(fmt.Sprintf("shard%d", shard), func(t *testing.T) {
			t.Parallel()
			for n := 1 + shard; n <= calm.points; n += shards {
				killedThenNext(t, n, false)
				if n/shards%4 == 0 || os.Getenv("PERDURE_SOAK") == "1" {
					killedThenNext(t, n, true)
				}
			}
		})
	}
}

// killedThenNext kills the first session at a point; the next one begins after it, or after the first was resumed.
func killedThenNext(t *testing.T, n int, resumed bool) {
	r := migrating(t)
	dead := r.first(n)
	when := fmt.Sprintf("killed at %d, %s, resumed %v", n, dead.last, resumed)
	r.whole(when)
	if resumed && len(r.bodies("a")) > 0 {
		l := r.process(firstSession(r.dir), 0)
		r.must(l.say("a", "migrate")) // its key is the same: it is there once
		l.end()
	}
	l := r.process(secondSession, 0)
	r.must(l.begin("b"))
	r.agrees(when)
	r.must(l.say("b", "continue"))
	l.end()
	r.whole(when)
	r.single(when)
	r.faultless()
}

func kinds(bodies []session.Body) (out string) {
	for _, b := range bodies {
		out += " " + string(session.KindOf(b))
	}
	return out
}

// agrees compares what the second session begins with, and the files, with the first one's log.
func (r *relay) agrees(when string) {
	r.t.Helper()
	var written *session.HandoffWritten
	var began, failed, decided, tagged bool
	for _, b := range r.bodies("a") {
		switch b := b.(type) {
		case *session.HandoffWritten:
			written = b
		case *session.TurnStarted:
			began = true
		case *session.FactAdded:
			failed = failed || b.Fact.Kind == "failed_approach"
			decided = decided || b.Fact.Kind == "decision"
		case *session.ModelResponded:
			tagged = tagged || strings.Contains(b.Prose(), "[DECISION]")
		default:
		}
	}
	given := ""
	for _, b := range r.bodies("b") {
		if g, ok := b.(*session.ContextGiven); ok {
			for _, text := range g.Texts {
				if text.Name == session.GivenHandoff {
					given = string(text.Text)
				}
			}
		}
	}
	there, past := r.lies()
	if !began {
		if given != "" || len(there)+len(past) > 0 {
			r.faultf("%s: a handoff of nothing: %s", when, given)
		}
		return
	}
	if written == nil || given == "" {
		r.faultf("%s: a handoff in the log: %v; the next session was given %q", when, written != nil, given)
		return
	}
	for text, is := range map[string]bool{"v2 ended on May 1": failed, "direct migration": decided} {
		if is && !strings.Contains(given, text) {
			r.faultf("%s: the next session is not told %q:\n%s", when, text, given)
		}
	}
	if len(there) != 0 || len(past) != 1 || string(past[0].Text) != string(written.Text) {
		r.faultf("%s: %d handoffs lie there, %d were read; the log and the file differ:\n%s", when, len(there), len(past), written.Text)
	}
	r.concluded(when, tagged)
}

// concluded checks what else a session leaves.
func (r *relay) concluded(when string, tagged bool) {
	r.t.Helper()
	s := r.disk.Open()
	defer s.Kill()
	st := session.New("a")
	for e, err := range s.Read(r.t.Context(), "a", 1, 0) {
		r.must(err)
		r.must(st.Apply(e))
	}
	b, err := os.ReadFile(filepath.Join(r.dir, ".agent/state.json"))
	if len(st.Plan) > 0 || err == nil {
		var file struct {
			Plan []struct{ Step, Status string }
		}
		if err == nil {
			err = json.Unmarshal(b, &file)
		}
		if err != nil || len(file.Plan) != len(st.Plan) {
			r.faultf("%s: the state file: %v\n%s", when, err, b)
		}
		for i, step := range file.Plan {
			if (step.Status == "done") != (st.Plan[i].Status == session.StepDone) {
				r.faultf("%s: step %d is %s in the file and %s in the log", when, i, step.Status, st.Plan[i].Status)
			}
		}
	}
	list, err := r.known().Inbox().List()
	r.must(err)
	found := map[string]int{}
	for _, p := range list.List {
		found[p.Text]++
	}
	if n := found["Migrate directly, without v2."]; n > 1 || tagged != (n == 1) {
		r.faultf("%s: one proposal is due: %v; %v", when, tagged, found)
	}
}

// single fails for what is there twice: a handoff, a line of the journal.
func (r *relay) single(when string) {
	r.t.Helper()
	there, past := r.lies()
	seen := map[string]bool{}
	for _, f := range append(there, past...) {
		if key := fmt.Sprint(f.Session, f.Seq); seen[key] || seen[f.Digest] {
			r.faultf("%s: the handoff of %s at %d is there twice", when, f.Session, f.Seq)
		} else {
			seen[key], seen[f.Digest] = true, true
		}
	}
	b, _ := os.ReadFile(filepath.Join(r.dir, ".agent/journal.md"))
	for l := range strings.Lines(string(b)) {
		if strings.HasPrefix(l, "- ") && seen[l] {
			r.faultf("%s: the journal says twice: %s", when, l)
		}
		seen[l] = true
	}
}

// The process that makes up for a killed one may be killed as well, at each of its steps: the one after it is told all the
// same, once, and nothing is left half done.
func TestKilledWhileMakingUp(t *testing.T) {
	calm := migrating(t)
	points := calm.first(0).points
	for _, at := range []int{points / 2, points * 9 / 10} {
		for n := 1; ; n++ {
			r := migrating(t)
			r.first(at)
			l := r.process(secondSession, n)
			err := l.begin("b")
			dead := l.dead
			l.end()
			if !dead {
				if err != nil || n < 10 {
					t.Fatalf("begun after %d points: %v", n, err)
				}
				break
			}
			when := fmt.Sprintf("killed at %d, then at %d, %s", at, n, l.last)
			r.whole(when)
			l = r.process(secondSession, 0)
			r.must(l.begin("c"))
			if g := r.given("c"); !strings.Contains(g, "v2 ended on May 1") {
				t.Errorf("%s: the third session was given %q", when, g)
			}
			r.must(l.say("c", "continue"))
			l.end()
			r.whole(when)
			r.single(when)
			r.faultless()
		}
	}
}

// What looks for losses finds them: a page that is gone, there twice, or only half there, a step that the state file does
// not have, a line of the journal that is there twice.
func TestHandoffLossesAreFound(t *testing.T) {
	page := func(r *relay, name string) string { return filepath.Join(r.dir, ".agent", name) }
	for want, damage := range map[string]func(r *relay) error{
		"was given \"\"": func(r *relay) error { return os.Remove(page(r, "HANDOFF.md")) },
		"is there twice": func(r *relay) error {
			b, err := os.ReadFile(page(r, "HANDOFF.md"))
			return errors.Join(err, os.WriteFile(page(r, "HANDOFF-a.md"), b, 0o600))
		},
		"half a handoff": func(r *relay) error { return os.Truncate(page(r, "HANDOFF.md"), 300) },
		"the state file": func(r *relay) error { return os.Remove(page(r, "state.json")) },
		"the journal says twice": func(r *relay) error {
			b, err := os.ReadFile(page(r, "journal.md"))
			return errors.Join(err, os.WriteFile(page(r, "journal.md"), append(b, b...), 0o600))
		},
	} {
		r := migrating(t)
		r.first(0)
		r.must(damage(r))
		r.whole("damaged")
		r.single("damaged")
		l := r.process(secondSession, 0)
		r.must(l.begin("b"))
		l.end()
		r.agrees("damaged")
		if !strings.Contains(strings.Join(r.faults, "\n"), want) {
			t.Errorf("nobody says %q: %q", want, r.faults)
		}
	}
}
