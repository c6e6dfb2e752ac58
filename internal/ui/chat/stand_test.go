package chat

import (
	"strings"
	"testing"
	"time"

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
