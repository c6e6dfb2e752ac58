package chat

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/ui/asks"
	"github.com/perdure/perdure/internal/ui/transcript"
)

// Goal: what is said once above is not said again in the last line; where nothing else says it, the last line does.
func TestWhatWaitsIsSaidOnce(t *testing.T) {
	waits := func(p *person) {
		p.s.waits = []asks.Ask{{ID: "a1", Kind: asks.Approval, Line: "Bash make", Asked: time.Now()}}
		p.send(Changed{
			Items:  []transcript.Item{{ID: CallID("a1"), Kind: transcript.Tool, Call: transcript.Call{Act: "a1", Name: "Bash", About: "make", State: transcript.Waiting, Outcome: "waits for your approval"}}},
			Queues: true, Queue: []Queued{{Key: "q", Text: "and then"}}, Stand: stand(func(s *Stand) { s.Waits = 1 }),
		})
		p.wait(time.Second)
	}
	at(t, 80, 24, nil, func(p *person) {
		waits(p)
		p.sees("waits for your approval", "1 approval waits for you  ctrl+o", "queued: and then")
		p.misses("1 waits for you", "1 queued")
	})
	at(t, 80, 24, nil, func(p *person) {
		waits(p)
		p.write("/help")
		p.press("enter")
		p.sees("1 waits for you (ctrl+o)", "1 queued")
	})
}

// Goal: commands in the background are counted where one looks.
func TestTasksAreCounted(t *testing.T) {
	at(t, 80, 24, nil, func(p *person) {
		p.send(Changed{Stand: stand(func(s *Stand) { s.Tasks = 1 })})
		p.sees("1 task runs")
		p.send(Changed{Stand: stand(func(s *Stand) { s.Tasks = 2 })})
		p.sees("2 tasks run")
	})
	at(t, 40, 12, nil, func(p *person) {
		p.send(Changed{Stand: stand(func(s *Stand) { s.Tasks = 12 })})
		p.sees("12 tasks run")
	})
}

// Goal: ctrl+c while it works says which key cancels, with what would go on too.
func TestInterruptSaysWhatCancels(t *testing.T) {
	at(t, 80, 24, nil, func(p *person) {
		p.send(Changed{Stand: working()})
		p.press("ctrl+c")
		p.sees("ctrl+c again leaves, esc cancels what runs")
		p.press("esc")
		p.want("cancel")
	})
	at(t, 80, 24, nil, func(p *person) {
		p.press("ctrl+c")
		p.sees("ctrl+c again leaves")
		p.misses("esc cancels")
	})
}

// Goal: esc while messages are queued has the next one begin at once: that is said before it is pressed, and after.
func TestCancellingSaysThatTheNextMessageBegins(t *testing.T) {
	at(t, 80, 24, nil, func(p *person) {
		p.send(Changed{Queues: true, Queue: []Queued{{Key: "a", Text: "first"}, {Key: "b", Text: "second"}}, Stand: working()})
		lines := strings.Split(p.screen(), "\n")
		for _, l := range lines {
			if strings.Contains(l, "queued: first") != strings.Contains(l, "esc: now") {
				t.Errorf("esc is explained beside what it begins, and nowhere else: %q", l)
			}
		}
		p.press("esc")
		p.want("cancel")
		p.sees("the next message begins")
	})
	at(t, 120, 24, nil, func(p *person) {
		p.send(Changed{Queues: true, Queue: []Queued{{Key: "a", Text: "first"}}, Stand: working()})
		p.sees("esc: now, in place of what runs, alt+↑ takes it back")
		p.send(Changed{Stand: stand(func(s *Stand) { s.Waits = 1 })})
		p.misses("esc: now")
	})
}

// Goal: a message to a session that nobody runs needs no second enter: it goes on with it, wherever it can.
func TestAMessageToASessionThatNobodyRuns(t *testing.T) {
	at(t, 80, 24, nil, func(p *person) {
		p.send(Changed{Stand: stand(func(s *Stand) { s.Nobody, s.Halted = true, "nobody runs this session: enter goes on with it here" })})
		p.write("go")
		p.press("enter")
		p.want("send k1 go; continue")
	})
}

// Goal: what a person has said goes on is not asked again where it goes on.
func TestItGoesOnAtOnce(t *testing.T) {
	at(t, 80, 24, func(c *Config) { c.On = true }, func(p *person) {
		p.want("continue")
	})
}

// Goal: what the model was shown of an output is not all there is: v opens all of it; of words all of them.
func TestAllOfAnOutput(t *testing.T) {
	at(t, 80, 24, nil, func(p *person) {
		p.s.whole = "first\nmiddle\nlast"
		p.send(Changed{Items: []transcript.Item{
			{ID: "t", Kind: transcript.Text, Text: "words of the model"},
			{ID: CallID("a1"), Kind: transcript.Tool, Call: transcript.Call{Act: "a1", Run: "a1.a2", Name: "Bash", About: "make", State: transcript.Done, Output: "first\n[…]\nlast"}},
		}})
		p.press("tab", "v")
		p.want("whole a1.a2")
		p.sees("Bash make", "4.9 KiB before this", "middle")
		p.press("esc")
		p.sees("v all of it")
		p.s.whole = "" // it is gone: what the model was shown is left
		p.press("v")
		p.sees("[…]")
		p.press("esc", "up", "v")
		p.sees("all of it", "words of the model")
	})
}

// Goal: a line that begins with # is remembered, and said to be; what is a heading, a number or of more lines is a message.
// What could not be remembered is written again.
func TestALineIsRemembered(t *testing.T) {
	at(t, 80, 24, nil, func(p *person) {
		say := func(text string) {
			p.write(text)
			p.press("enter")
		}
		say("# the port is 8080")
		p.want("remember the port is 8080")
		p.sees("remembered for this project: the port is 8080", "/memory undo")
		say("#always use tabs")
		p.want("remember always use tabs")
		say("#12 is broken")
		say("## a heading")
		p.want("send k3 #12 is broken; send k4 ## a heading")
		p.s.fail["remember"] = errors.New("it holds a secret")
		say("# no")
		p.sees("not remembered, and written again below: it holds a secret", "> # no")
	})
}

// Goal: of a session that was opened from another page, esc goes back there, and cancels what runs only after that was
// said.
func TestEscGoesBackToWhereItWasOpened(t *testing.T) {
	nested := func(c *Config) { c.Nested = true }
	at(t, 80, 24, nested, func(p *person) {
		p.sees("esc goes back")
		p.send(Changed{Stand: stand(func(s *Stand) { s.Halted = "the turn was left open: enter goes on with it, esc ends it" })})
		p.write("x")
		p.press("esc")
		if p.press("backspace"); p.quit {
			t.Fatal("what is written stays")
		}
		p.press("esc")
		if p.want(""); !p.quit {
			t.Error("it is not left")
		}
	})
	at(t, 80, 24, nested, func(p *person) {
		p.send(Changed{Stand: working()})
		p.press("esc")
		p.want("cancel")
		p.press("ctrl+c")
		p.sees("ctrl+c again goes back to where you came from")
	})
}

// Goal: what a command offers can be chosen: a session is gone to, a command is done, a text is read. The page never
// takes keys that are being typed.
func TestChoices(t *testing.T) {
	offers := Reply{Title: "found: port", Choices: []Choice{
		{Line: "one", About: "the port is", Go: &Goal{Session: "s1"}},
		{Line: "two", Command: "mode", Args: "plan"},
		{Line: "three", Text: "the whole entry"},
	}}
	search := func(p *person) {
		p.s.reply = offers
		p.write("/resume x")
		p.press("enter")
		p.did()
	}
	at(t, 80, 24, nil, func(p *person) {
		search(p)
		p.sees("found: port", "▌ one", "the port is")
		p.press("esc")
		p.misses("found: port")
		search(p)
		p.s.reply = Reply{}
		p.press("down", "enter")
		p.want("command mode plan")
		search(p)
		p.press("t", "h", "r", "enter")
		p.sees("the whole entry")
		p.press("esc")
		search(p)
		p.press("enter")
		if r := p.m.Result(); !p.quit || r.Goal == nil || r.Goal.Session != "s1" {
			t.Errorf("%+v", r)
		}
	})
	at(t, 80, 24, nil, func(p *person) {
		p.write("a message")
		p.send(replyMsg{"search", offers, nil})
		p.sees("/search again shows what was found", "> a message")
	})
}

// Goal: the live area of --inline has at most 10 lines whatever there is to show, and no line of it is filled up to the
// width of the terminal: what is filled breaks when the terminal gets narrower, and stays in the scrollback.
func TestTheLiveAreaIsSmallAndNotFilled(t *testing.T) {
	at(t, 120, 40, func(c *Config) { c.Inline = true }, func(p *person) {
		idle := strings.Split(strings.TrimRight(p.m.View().Content, "\n"), "\n")
		for _, l := range idle {
			if n := ansi.StringWidth(l); n > 60 {
				t.Errorf("%d cells wide while nothing happens: %q", n, l)
			}
		}
		p.s.waits = []asks.Ask{{ID: "a1", Kind: asks.Approval, Line: "Bash make", Asked: time.Now()}, {ID: "a2", Kind: asks.Approval, Line: "Bash more", Asked: time.Now()}}
		p.send(Changed{
			Queues: true, Queue: []Queued{{Key: "a", Text: "one"}, {Key: "b", Text: "two"}, {Key: "c", Text: "three"}, {Key: "d", Text: "four"}},
			Stand: stand(func(s *Stand) { s.Waits, s.Halted = 2, "halted" }), Said: []Said{{ID: "x", Kind: transcript.Text, Text: strings.Repeat("many words ", 400)}},
		})
		for range 30 {
			p.write("a line")
			p.press("alt+enter")
		}
		if n := strings.Count(strings.TrimRight(p.m.View().Content, "\n"), "\n") + 1; n > 10 {
			t.Errorf("%d lines", n)
		}
		p.sees("a line", "approvals wait")
	})
}

// Esc closes the list of sessions, and the screen is there again with its turn going on: another esc at the same moment
// was meant for the list, too, and cancels nothing; one that is pressed again does.
func TestAnEscOfThePageBeforeCancelsNothing(t *testing.T) {
	at(t, 80, 24, func(c *Config) { c.On = true }, func(p *person) {
		p.want("continue")
		p.send(Changed{Stand: working()})
		p.press("esc")
		p.want("")
		p.sees("esc again cancels what runs")
		p.press("esc")
		p.want("cancel")
	})
}
