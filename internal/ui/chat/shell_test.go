package chat

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/ui/composer"
)

// Goal: a line that begins with ! is run for the person, what it prints is shown where it was run, and goes with the next
// message, once.
func TestALineOfAShell(t *testing.T) {
	at(t, 100, 24, func(c *Config) { c.Link.(*session).gate = make(chan struct{}) }, func(p *person) {
		p.write("!make test")
		p.sees("! runs this here, as you")
		p.press("enter")
		p.want("shell make test")
		p.sees("! make test", "runs as bash_1")
		p.s.output, p.s.how = "one\n\x1b[31mtwo\x1b[0m\n", "exit code 2"
		close(p.s.gate)
		p.wait(time.Second)
		p.sees("✗ ! make test → exit code 2, 2 lines; goes with your next message")
		p.press("tab", "enter")
		p.sees("│ one", "│ two")
		p.press("esc")
		p.write("why?")
		p.press("enter")
		if got := p.did(); !strings.Contains(got, "I ran `make test` (exit code 2): one\ntwo\n\nwhy?") || strings.Contains(got, "\x1b") {
			t.Errorf("%q", got)
		}
		p.sees("queued: I ran `make test` (exit code 2): [pasted 2 lines]")
		p.write("and now?")
		p.press("enter")
		if got := p.did(); !strings.Contains(got, "and now?") || strings.Contains(got, "I ran") {
			t.Errorf("twice: %q", got)
		}
	})
}

// Goal: what cannot be run is written again; ! alone forgets what was to go with the next message.
func TestALineOfAShellThatIsRefused(t *testing.T) {
	at(t, 80, 24, func(c *Config) { s := c.Link.(*session); s.gate = make(chan struct{}); close(s.gate) }, func(p *person) {
		p.s.fail["shell"] = errors.New("a rule denies it")
		p.write("!rm -rf build")
		p.press("enter")
		p.sees("not run, and written again below: a rule denies it", "> !rm -rf build")
		p.s.fail = map[string]error{}
		p.press("ctrl+c")
		p.write("!true")
		p.press("enter")
		p.wait(time.Second)
		p.sees("✓ ! true → nothing printed; goes with your next message")
		p.did()
		p.write("!")
		p.press("enter")
		p.want("forget x1")
		p.sees("no output goes with the next message")
		p.write("hello")
		p.press("enter")
		p.want("send k2 hello")
	})
}

// Goal: what was run before the screen was left is there again with what it printed, whether or not it had ended, and
// goes with the next message; not if another screen has sent it meanwhile.
func TestWhatWasRunBeforeTheScreenWasLeftGoesWithTheNextMessage(t *testing.T) {
	left := func(c *Config) {
		s := c.Link.(*session)
		s.gate, s.output = make(chan struct{}), "one\ntwo\n"
		s.left = []Ran{{Line: "make test", Task: "bash_1", Act: "x1"}}
	}
	at(t, 100, 24, left, func(p *person) {
		p.sees("! make test", "runs as bash_1")
		close(p.s.gate)
		p.wait(time.Second)
		p.sees("✓ ! make test → 2 lines; goes with your next message")
		p.write("why?")
		p.press("enter")
		if got := p.did(); !strings.Contains(got, "send k1 tells x1 I ran `make test`") {
			t.Errorf("%q", got)
		}
	})
	at(t, 100, 24, left, func(p *person) {
		close(p.s.gate)
		p.wait(time.Second)
		p.sees("goes with your next message")
		p.send(Changed{Told: []string{"x1"}})
		p.write("why?")
		p.press("enter")
		p.want("send k1 why?")
	})
}

// Goal: a message that was not sent, or was taken back, is written again without what was run, which goes with the next
// one.
func TestWhatWasRunGoesWithTheMessageThatIsSentAgain(t *testing.T) {
	at(t, 100, 24, func(c *Config) { s := c.Link.(*session); s.gate = make(chan struct{}); close(s.gate) }, func(p *person) {
		p.write("!make test")
		p.press("enter")
		p.wait(time.Second)
		p.s.fail["send"] = errors.New("the disk is full")
		p.write("why?")
		p.press("enter")
		p.sees("not sent, and written again below: the disk is full", "> why?")
		p.s.fail = map[string]error{}
		p.press("enter", "alt+up")
		p.sees("> why?")
		p.did()
		p.press("enter")
		if got := p.did(); !strings.Contains(got, " tells x1 I ran `make test`") || !strings.Contains(got, "\nwhy?") {
			t.Errorf("%q", got)
		}
	})
}

// Goal: a message of another process's screen that is taken back here has what was run in its text: it is not told once
// more.
func TestWhatStandsInAMessageThatIsTakenBackIsNotToldTwice(t *testing.T) {
	at(t, 100, 24, nil, func(p *person) {
		d := composer.Draft{Parts: []composer.Part{composer.Text("I ran it. why?")}}
		p.send(Changed{Queues: true, Queue: []Queued{{Key: "k tells x1,x2", Text: "I ran it. why?", Draft: &d}}})
		p.press("alt+up")
		p.want("withdraw k tells x1,x2; forget x1,x2")
	})
}
