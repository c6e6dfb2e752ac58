package main

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// Goal: whatever a screen switches on in a terminal is off again when it is left, by its person or by a signal: modes,
// keyboard stacks, title, colours, the cursor's shape, and the line discipline.
func TestLeavingSwitchesEverythingOff(t *testing.T) {
	for _, c := range []struct{ args, keys string }{
		{"--model MODEL", "\x03\x03"},
		{"--inline --model MODEL", "\x03\x03"},
		{"-c", "\x03\x03"},
		{"-r", "\x03"},
		{"board", "\x03"},
		{"inbox -i", "\x03"},
		{"attach one", "\x03\x03"},
		{"task watch", "\x03"},
	} {
		for _, sig := range []syscall.Signal{0, syscall.SIGTERM, syscall.SIGHUP} {
			t.Run(c.args+" "+sig.String(), func(t *testing.T) {
				d := newDesk(t)
				model := d.model(gated)
				d.ok("-p", "--session-id", "one", "--model", model, "hi")
				g := newGlass(t, 80, 24)
				cmd := g.start(d, strings.Fields(strings.ReplaceAll(c.args, "MODEL", model))...)
				g.sees(0, "\x1b[?2004h")
				g.settles()
				g.types("/x") // where one writes, a cursor is shown
				g.settles()
				if sig != 0 {
					_ = cmd.Process.Signal(sig)
					g.left(cmd, 128+int(sig))
					return
				}
				for _, key := range c.keys {
					g.types(string(key))
					<-time.After(50 * time.Millisecond)
				}
				g.left(cmd, 0)
			})
		}
	}
}

// Goal: stopped from outside, which no program can refuse, and continued by the shell, the screen has its terminal again:
// what is typed is drawn by it and not by the terminal, and enter sends.
func TestStoppedFromOutside(t *testing.T) {
	s := newSeat(t, 80, 24, spoken)
	s.types("w", "stty -a > cooked; '"+s.d.exe+"' --session-id one --model "+s.model)
	s.keys("w", "Enter")
	s.sees("w", "one can write", has("enter sends"))
	s.types("w", "half of my ")
	s.sees("w", "it is written", has("> half of my"))
	if err := syscall.Kill(s.child("w"), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s.sees("w", "the shell tells", has("]+  Stopped"))
	s.types("w", "fg")
	s.keys("w", "Enter")
	s.sees("w", "the screen is drawn again", func(screen string) bool { return has("> half of my")(screen) && !has("]+  Stopped")(screen) })
	s.types("w", "words")
	s.sees("w", "what is typed is where one writes", has("> half of my words"))
	s.keys("w", "Enter")
	s.sees("w", "it is sent", func(screen string) bool { return strings.Contains(screen, "\n > half of my words") })
	s.keys("w", "C-c")
	s.sees("w", "it asks again", has("ctrl+c again leaves"))
	s.keys("w", "C-c")
	s.sees("w", "it has left", has("to go on: perdure -r one"))
	s.types("w", "clear; stty -a | diff - cooked && echo the same")
	s.keys("w", "Enter")
	s.sees("w", "the terminal is as it was", has("the same\n"))
}
