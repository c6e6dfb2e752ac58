package tasks

import (
	"strings"
	"testing"
)

// Goal: the detach keys are found however they are typed, and every other key reaches the task, in order.
func TestDetachKeys(t *testing.T) {
	for _, c := range []struct {
		keys  string
		typed []string // pieces as they come
		want  string   // what reaches the task; ! is the detach
	}{
		{`ctrl-\`, []string{"ls\r", "\x1c"}, "ls\r!"},
		{`ctrl-\`, []string{"a\x1cb"}, "a!"},
		{"ctrl-b,d", []string{"\x02", "d"}, "!"},
		{"ctrl-b,d", []string{"x\x02", "y"}, "x\x02y"},
		{"ctrl-b,d", []string{"\x02\x02", "d"}, "\x02!"},
		{"ctrl-b,d", []string{"\x02"}, ""},
		{"ctrl-p,ctrl-q", []string{"\x10\x11"}, "!"},
		{"a,a,b", []string{"aaab"}, "a!"},
		{"a,b,a,c", []string{"abab", "ac"}, "ab!"},
		{"ctrl-@", []string{"\x00"}, "!"},
	} {
		keys, err := parseKeys(c.keys)
		if err != nil {
			t.Fatal(err)
		}
		d, got := &detachKeys{keys: keys}, ""
		for _, piece := range c.typed {
			text, detach := d.typed([]byte(piece))
			if got += string(text); detach {
				got += "!"
				break
			}
		}
		if got != c.want {
			t.Errorf("%s, typed %q: %q, want %q", c.keys, c.typed, got, c.want)
		}
	}
	for _, bad := range []string{"", "ctrl-", "ctrl-ab", "d,", "ctrl-1", "ä", "a,b,c,d,e,f,g,h,i", " "} {
		if keys, err := parseKeys(bad); err == nil {
			t.Errorf("%q is read as %q", bad, keys)
		}
	}
}

// Goal: what a program switched on is known however its output is cut, and is switched off when one leaves.
func TestTermModes(t *testing.T) {
	for _, c := range []struct {
		output, enter, leave string
		alternate            bool
	}{
		{"plain \x1b[1mtext\x1b[0m\r\n", "", "", false},
		{"\x1b[?1049h\x1b[22;0;0t\x1b[?25l\x1b[?1h", "\x1b[?1h\x1b[?25l\x1b[?1049h", "\x1b[?1l\x1b[?25h\x1b[?1049l", true},
		{"\x1b[?1049h\x1b[?1049l", "", "", false},
		{"\x1b[?1000;1006;2004h\x1b[?1000l", "\x1b[?1006h\x1b[?2004h", "\x1b[?1006l\x1b[?2004l", false},
		{"\x1b[?25l\x1bc", "", "", false},
		{"\x1b[?\x1b[?7l\x1b[?12$p\x1b[?99999999999999999999h", "\x1b[?7l\x1b[?65536h", "\x1b[?7h\x1b[?65536l", false},
	} {
		for size := 1; size <= len(c.output); size++ {
			var m termModes
			for at := 0; at < len(c.output); at += size {
				m.follow([]byte(c.output[at:min(at+size, len(c.output))]))
			}
			leave := strings.TrimSuffix(strings.TrimPrefix(m.leave(), "\x1b[0m"), "\x1b7\x1b[r\x1b8")
			if m.enter() != c.enter || leave != c.leave || m.alternate() != c.alternate {
				t.Fatalf("%q by %d: enter %q, leave %q, alternate %v", c.output, size, m.enter(), leave, m.alternate())
			}
		}
	}
	var m termModes
	for i := range 10_000 {
		m.follow([]byte("\x1b[?" + strings.Repeat("1;", 200) + string(rune('0'+i%10)) + string(rune('0'+i/10%10)) + string(rune('0'+i/100%10)) + "h"))
	}
	if len(m.set) > maxModes || len(m.list) > maxModes {
		t.Errorf("%d modes, %d in a list", len(m.set), len(m.list))
	}
}
