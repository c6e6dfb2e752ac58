package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// counted is a script whose words are told apart, one in each piece that comes: those have 24 bytes.
func counted() string {
	var words strings.Builder
	for i := range 40 {
		fmt.Fprintf(&words, "piece%02d abcdefghijklmno ", i)
	}
	return `{"turns":[{"match":"go","steps":[{"text":"` + words.String() + `","delay_ms":50}]},{"match":"more","steps":[{"text":"More was said."}]},{"match":"hi","steps":[{"text":"Hello."}]}]}`
}

// Goal: who is attached sees the words as the writer says them, and can write; a SIGKILL of the attached process disturbs
// nobody. When the writer dies it is said, and enter goes on.
func TestAttachFollowsTheWriter(t *testing.T) {
	d := newDesk(t)
	model := d.model(counted())
	d.ok("-p", "--session-id", "one", "--model", model, "hi")
	writer, other := newGlass(t, 100, 30), newGlass(t, 100, 30)
	holds := writer.start(d, "-c", "--model", model)
	writer.sees(0, "Hello.")
	looks := other.start(d, "attach", "one")
	other.sees(0, "Hello.")
	other.sees(0, "held by pid")
	writer.types("go")
	writer.settles()
	writer.types("\r")
	var behind []time.Duration
	for i := range 40 {
		word := fmt.Sprintf("piece%02d", i)
		behind = append(behind, other.sees(0, word).Sub(writer.sees(0, word)))
	}
	worst := behind[0]
	for _, b := range behind {
		worst = max(worst, b)
	}
	t.Logf("behind the writer: %v at most, each %v", worst, behind)
	if worst > 2*time.Second {
		t.Errorf("words come %v behind the writer", worst)
	}
	at := writer.size()
	other.types("more\r")
	writer.sees(at, "More was said.")
	other.sees(0, "More was said.")
	if err := looks.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	at = writer.size()
	writer.types("hi\r")
	writer.sees(at, "Hello.")
	third := newGlass(t, 100, 30)
	cmd := third.start(d, "attach", "one")
	third.sees(0, "held by pid")
	if err := holds.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	third.sees(0, "nobody runs this session")
	third.settles()
	at = third.size()
	third.types("\r")
	third.settles()
	third.types("more")
	third.settles()
	third.types("\r")
	third.sees(at, "More was said.")
	third.types("\x03")
	third.settles()
	third.types("\x03")
	third.left(cmd, 0)
}

// Goal: a session that another process holds can be attached to, forked or taken over, by one key; who is shut out is
// told, and by what to come back.
func TestHeldByAnotherProcess(t *testing.T) {
	s := newSeat(t, 80, 24, spoken)
	s.runs("w", "--session-id one --model "+s.model)
	s.sees("w", "one can write", has("enter sends"))
	s.types("w", "hi")
	s.keys("w", "Enter")
	s.sees("w", "an answer", has("Hello."))
	s.window("v", 40, 16)
	offered := has("Another process holds this session", "a  attach", "f  fork", "t  take it over", "esc  leave")

	s.runs("v", "-r one")
	s.sees("v", "the choice", offered)
	s.keys("v", "Escape")
	s.sees("v", "left", has("left with 0"))
	s.runs("v", "-r one")
	s.sees("v", "the choice", offered)
	s.types("v", "a")
	s.sees("v", "attached", has("Hello.", "held by pid"))
	s.leaves("v")

	s.runs("v", "-r one")
	s.sees("v", "the choice", offered)
	s.types("v", "f")
	s.sees("v", "the copy", func(screen string) bool { return has("works in", "enter sends")(screen) && !has("held by")(screen) })
	s.leaves("v")
	if ids := s.sessions(); len(ids) != 2 {
		t.Errorf("sessions: %q", ids)
	}

	s.runs("v", "-r one")
	s.sees("v", "the choice", offered)
	s.types("v", "t")
	s.sees("v", "it warns", func(screen string) bool { return has("t again takes the session over")(oneSpaced(screen)) })
	s.types("v", "t")
	s.sees("v", "it is here", func(screen string) bool { return has("Hello.", "enter sends")(screen) && !has("held by")(screen) })
	s.types("w", "words please") // it hears of it at its next write at the latest
	s.keys("w", "Enter")
	s.sees("w", "it is told", has("another process has taken this session over"))
	s.sees("w", "what it wrote is not lost", has("words please"))
	s.types("v", "hi")
	s.keys("v", "Enter")
	s.sees("v", "it answers here", func(screen string) bool { return strings.Count(screen, "Hello.") == 2 })
	s.leaves("v")
}
