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
