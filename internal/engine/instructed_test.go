package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/instructions"
	"github.com/perdure/perdure/internal/session"
)

// A directory fifty levels deep with instructions at each level: what a session is given of them when it gets there is
// kept over every compaction, and must not fill the window that the work needs. What is left out is named.
func TestNestedInstructionsLeaveRoomForTheWork(t *testing.T) {
	c := newCrowd(t, 40_000, 30, 3000)
	p := instructed(t, c.stage)
	p.write(t, "AGENTS.md", "PROJECT-RULE")
	deep := strings.Repeat("/d", 50)
	for i := range 50 {
		p.write(t, deep[1:2*i+2]+"/AGENTS.md", fmt.Sprintf("RULE-%d-HOLDS\n", i)+strings.Repeat("x", 8000))
	}
	for path, b := range c.files.m {
		c.files.m[strings.Replace(path, "/w/", p.dir+deep+"/", 1)] = b
	}
	c.answer = reading(c, p.dir+deep)
	pr, se := c.start("go")
	st := run(t, se)
	if st.LastTurn == nil || st.LastTurn.Stop != session.TurnEndTurn || st.LastTurn.Steps != 30 {
		halt, why := st.Halt()
		t.Fatalf("the turn: %+v, halted %q %s", st.LastTurn, halt, why)
	}
	r := c.last()
	if times(r, "PROJECT-RULE") != 1 || times(r, "RULE-0-HOLDS") != 1 || times(r, "RULE-49-HOLDS") != 0 || times(r, "left out") == 0 || c.largest > 40_000 {
		t.Errorf("the project's rule %d times, the first %d, the last %d, left out %d, the largest request %d",
			times(r, "PROJECT-RULE"), times(r, "RULE-0-HOLDS"), times(r, "RULE-49-HOLDS"), times(r, "left out"), c.largest)
	}
	if n := len(compactions(t, pr)); n > 15 {
		t.Errorf("%d compactions in 30 steps", n)
	}
}

// A file that grows while a session lives must not fill its window either.
func TestGrownInstructionsLeaveRoomForTheWork(t *testing.T) {
	c := newCrowd(t, 20_000, 3, 300)
	p := instructed(t, c.stage)
	p.write(t, "AGENTS.md", "PROJECT-RULE")
	for path, b := range c.files.m {
		c.files.m[strings.Replace(path, "/w/", p.dir+"/", 1)] = b
	}
	c.answer = reading(c, p.dir)
	pr, se := c.start("go")
	run(t, se)
	p.write(t, "AGENTS.md", "PROJECT-RULE\n"+strings.Repeat("another rule\n", instructions.MaxFile/13))
	for range 2 {
		pr.say("go on")
		st := run(t, se)
		if st.LastTurn == nil || st.LastTurn.Stop != session.TurnEndTurn {
			t.Fatalf("the turn: %+v, %+v", st.LastTurn, st.Failure())
		}
	}
	if r := c.last(); times(r, "is left out here") != 1 || c.largest > 20_000 {
		t.Errorf("that it is left out is said %d times, the largest request has %d tokens", times(r, "is left out here"), c.largest)
	}
}

// A rule that is changed while the session sleeps, and waits for a task, is told with the turn that wakes it, once.
func TestInstructionsChangeWhileTheSessionSleeps(t *testing.T) {
	s, cmds := waiter(t, `{"bash_id":"bash_1"}`)
	config := s.config
	p := instructed(t, s)
	with := s.config
	s.config = func(c *engine.Config) { config(c); with(c) }
	p.write(t, "AGENTS.md", "RULE-BEFORE\n"+strings.Repeat("another line\n", 40))
	synctest.Test(t, func(t *testing.T) {
		s.t = t
		pr, se := s.start("go")
		se = restart(t, pr, se)
		_, _, over := waiting(t, se)
		<-time.After(time.Minute) // of the bubble
		p.write(t, "AGENTS.md", "RULE-AFTER\n"+strings.Repeat("another line\n", 40))
		cmds.end(theTask, 0)
		if err := <-over; err != nil {
			t.Fatal(err)
		}
		if r := s.last(); times(r, "+RULE-AFTER") != 1 || times(r, "-RULE-BEFORE") != 1 || times(r, "another line") > 60 {
			t.Errorf("%s", render(r.Messages))
		}
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	})
}
