package main

import (
	"strings"
	"syscall"
	"testing"
)

// queuedLines are the messages that wait, as a screen shows them.
func queuedLines(screen string) (out []string) {
	for line := range strings.Lines(screen) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "queued: "); ok {
			text, _, _ = strings.Cut(text, "  (alt+")
			out = append(out, strings.TrimSpace(text))
		}
	}
	return out
}

// oneSpaced is a text as a line shows it.
func oneSpaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// Goal: a SIGKILL in any screen leaves a terminal that the next start can be used on, and loses no message that was
// accepted: those that wait are shown in their order, and run unchanged, once, when their person goes on.
func TestKilledInEveryScreen(t *testing.T) {
	s := newSeat(t, 80, 24, spoken)
	s.d.script("editor", "#!/bin/sh\nclear; echo the editor is open\nexec sleep 1000\n")
	s.runs("w", "--session-id one --allowed-tools Bash --model "+s.model)
	s.sees("w", "one can write", has("enter sends"))
	s.types("w", "run the command")
	s.keys("w", "Enter")
	s.d.until("the command runs", func() bool { return s.d.read("ran") != "" })
	queued := []string{"one of 日本語 three", "two of  them, with   spaces", "three of them"}
	for _, text := range queued {
		s.types("w", text)
		s.sees("w", "what is typed", has("> "+text))
		s.keys("w", "Enter")
		s.sees("w", "it is queued", has("queued: "+oneSpaced(text)))
	}
	s.kills("w")
	shown := func(screen string) bool {
		return strings.Join(queuedLines(screen), "|") == oneSpaced(strings.Join(queued, "|"))
	}
	for _, c := range []struct {
		name string
		do   []string // keys, or letters behind a colon
		sees string
	}{
		{"plan", []string{":/plan ", "Enter"}, "esc"},
		{"tasks", []string{":/tasks ", "Enter"}, "Tasks"},
		{"context", []string{":/context ", "Enter"}, "esc"},
		{"files", []string{":/files ", "Enter"}, "esc"},
		{"cost", []string{":/cost ", "Enter"}, "esc"},
		{"help", []string{":?"}, "Writing"},
		{"inbox", []string{":/inbox ", "Enter"}, "Waits for you"},
		{"completion", []string{":/co"}, "› /co"},
		{"history", []string{"C-r"}, "history:"},
		{"find", []string{"C-f", ":run"}, "find: run"},
		{"browsing", []string{"Tab"}, "enter open"},
		{"editor", []string{":draft", "C-g"}, "the editor is open"},
		{"picker", []string{":/resume ", "Enter"}, "enter continue"},
	} {
		s.runs("w", "-c")
		s.sees("w", "before "+c.name+": what waits", func(screen string) bool { return shown(screen) && has("> run the command")(screen) })
		for _, key := range c.do {
			if text, ok := strings.CutPrefix(key, ":"); ok {
				s.types("w", text)
			} else {
				s.keys("w", key)
			}
		}
		s.sees("w", c.name, has(c.sees))
		s.kills("w")
		s.editorEnds()
	}
	for _, c := range [][2]string{{"-r", "enter continue"}, {"inbox -i", "nobody runs it"}, {"board", "Sessions"}, {"attach one", "enter goes on"}} {
		s.runs("w", c[0])
		s.sees("w", c[0], has(c[1]))
		s.kills("w")
	}
	if n := s.count("one", "model.requested"); n != 1 {
		t.Errorf("%d requests: something went on by itself", n)
	}
	s.d.write("gate", "")
	s.runs("w", "-c")
	s.sees("w", "what waits", shown)
	s.keys("w", "Enter")
	s.sees("w", "all of it was answered", has("Reply to the third."))
	s.leaves("w")
	messages, at := s.d.ok("show", "one", "--messages", "--json"), -1
	for i, text := range queued {
		next := strings.Index(messages, `"`+text+`"`)
		if next < at || strings.Count(messages, `"`+text+`"`) != 1 {
			t.Errorf("message %d is at %d, after %d:\n%s", i, next, at, messages)
		}
		at = next
	}
	if ran := s.d.read("ran"); ran != "ran\n" {
		t.Errorf("the command ran %q", ran)
	}
}

// editorEnds ends an editor that outlives the screen it was opened from.
func (s *seat) editorEnds() {
	for pid, line := range s.d.processes() {
		if strings.HasPrefix(line, "sleep 1000") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
