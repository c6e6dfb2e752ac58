package chat

import (
	"errors"
	"strings"
	"testing"
	"time"
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
		p.sees("no output goes with the next message")
		p.write("hello")
		p.press("enter")
		p.want("send k2 hello")
	})
}
