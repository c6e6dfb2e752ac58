package notify

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// screen is a terminal that keeps what it is sent.
type screen struct {
	*Notifier
	clock time.Time
	wait  bool // a tick was asked for
}

func newScreen(env map[string]string, edit ...func(*Config)) *screen {
	s := &screen{clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if env == nil {
		env = map[string]string{"TERM": "xterm-256color"}
	}
	cfg := Config{Title: true, Bell: true, Notify: true, Status: true, Getenv: func(k string) string { return env[k] }, Now: func() time.Time { return s.clock }}
	for _, e := range edit {
		e(&cfg)
	}
	s.Notifier = New(cfg)
	s.Notifier.later = func(time.Duration, tea.Msg) tea.Cmd { s.wait = true; return nil }
	return s
}

// sent is what a command writes.
func (s *screen) sent(cmd tea.Cmd) string {
	if cmd == nil {
		return ""
	}
	switch msg := cmd().(type) {
	case tea.RawMsg:
		return fmt.Sprint(msg.Msg)
	case tea.BatchMsg:
		out := ""
		for _, c := range msg {
			out += s.sent(c)
		}
		return out
	}
	return ""
}

// pass lets time pass, and what was put off happen.
func (s *screen) pass(d time.Duration) string {
	s.clock = s.clock.Add(d)
	return s.sent(s.Update(dueMsg{s.Notifier}))
}

var asks = Report{State: Blocked, Kind: Permission, Session: "fix the parser", Words: "may it run rm -rf build?"}

// Goal: the exact bytes of each thing, once.
func TestBytes(t *testing.T) {
	s := newScreen(nil)
	if got := s.Leave(); got != "" {
		t.Errorf("before anything was written: %q", got)
	}
	s.Update(tea.BlurMsg{})
	title := base64.StdEncoding.EncodeToString([]byte("fix the parser"))
	words := base64.StdEncoding.EncodeToString([]byte("may it run rm -rf build?"))
	want := "\x1b[22;0t\x1b]2;? fix the parser · asks for permission\a" +
		"\x1b]7501;state=blocked:kind=permission:app=perdure:title=" + title + ":msg=" + words + "\a" +
		"\a\x1b]9;Perdure · asks for permission — fix the parser: may it run rm -rf build?\a"
	if got := s.sent(s.Set(asks)); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := s.sent(s.Set(asks)); got != "" {
		t.Errorf("again: %q", got)
	}
	if got := s.Leave(); got != "\x1b[23;0t\x1b]7501;state=clear\a" {
		t.Errorf("at the end: %q", got)
	}
	if got := s.Leave(); got != "" {
		t.Errorf("at the end, again: %q", got)
	}
	for state, want := range map[State]string{Idle: "idle:app", Working: "working:app", Done: "done:app", Failed: "error:app"} {
		s := newScreen(nil, func(c *Config) { c.Title = false })
		if got := s.sent(s.Set(Report{State: state, Kind: Question})); got != "\x1b]7501;state="+want+"=perdure\a" {
			t.Errorf("%v: %q", state, got)
		}
	}
}

// Goal: each can be switched off by itself.
func TestSwitches(t *testing.T) {
	for name, off := range map[string]func(*Config){
		"\x1b]2;": func(c *Config) { c.Title = false }, "\a\x1b]9;": func(c *Config) { c.Bell = false }, "\x1b]9;": func(c *Config) { c.Notify = false },
		"\x1b]7501;": func(c *Config) { c.Status = false },
	} {
		s := newScreen(nil, off)
		s.Update(tea.BlurMsg{})
		got := s.sent(s.Set(asks)) + s.Leave()
		if name == "\a\x1b]9;" {
			got = strings.ReplaceAll(got, "\a\x1b]7501", "")
			name = "\a\a"
		}
		if strings.Contains(got, name) || got == "" {
			t.Errorf("%q is there: %q", name, got)
		}
	}
	s := newScreen(nil, func(c *Config) { c.Title, c.Bell, c.Notify, c.Status = false, false, false, false })
	s.Update(tea.BlurMsg{})
	if got := s.sent(s.Set(asks)) + s.Leave(); got != "" {
		t.Errorf("all is off: %q", got)
	}
}

// Goal: whoever looks is not called: the terminal has focus or, where it does not tell, a key was pressed a moment ago.
func TestWhoLooksIsNotCalled(t *testing.T) {
	calls := func(got string) bool { return strings.Contains(got, "\x1b]9;") }
	s := newScreen(nil)
	if calls(s.sent(s.Set(asks))) {
		t.Error("just started: somebody is there")
	}
	s.clock = s.clock.Add(time.Minute)
	if s.sent(s.Set(Report{})); !calls(s.sent(s.Set(asks))) && !calls(s.pass(time.Second)) {
		t.Error("nobody has pressed a key for a minute")
	}
	s.clock = s.clock.Add(time.Minute)
	s.sent(s.Set(Report{}))
	s.Update(tea.KeyPressMsg{Code: 'x'})
	if calls(s.sent(s.Set(asks))) {
		t.Error("somebody types")
	}
	s.clock = s.clock.Add(time.Minute)
	s.Update(tea.FocusMsg{})
	s.sent(s.Set(Report{}))
	if calls(s.sent(s.Set(asks))) {
		t.Error("the terminal has focus")
	}
	s.Update(tea.BlurMsg{})
	s.clock = s.clock.Add(time.Minute)
	if calls(s.sent(s.Set(Report{State: Working}))) {
		t.Error("work is nothing to call for")
	}
	for _, r := range []Report{{State: Done}, {State: Failed}, asks, {State: Blocked, Kind: Question}} {
		s.clock = s.clock.Add(time.Minute)
		if !calls(s.sent(s.Set(r))) {
			t.Errorf("%+v: nobody is called", r)
		}
	}
}

// Goal: a result that was looked at is no news.
func TestALookEndsTheNews(t *testing.T) {
	s := newScreen(nil)
	s.Update(tea.BlurMsg{})
	s.sent(s.Set(Report{State: Done, Session: "x"}))
	s.clock = s.clock.Add(time.Minute)
	if got := s.sent(s.Update(tea.FocusMsg{})); !strings.Contains(got, "state=idle") || !strings.Contains(got, "\x1b]2;x\a") {
		t.Errorf("%q", got)
	}
	s.sent(s.Set(asks))
	if got := s.sent(s.Update(tea.FocusMsg{})); got != "" {
		t.Errorf("a question is still one: %q", got)
	}
}

// Goal: however fast a session changes, the terminal is written to a few times a second and rung a few times a minute; the
// newest state is what it shows in the end, and nobody who waits is forgotten.
func TestRateIsBounded(t *testing.T) {
	s := newScreen(nil)
	s.Update(tea.BlurMsg{})
	titles, calls := 0, 0
	count := func(got string) {
		titles += strings.Count(got, "\x1b]2;")
		calls += strings.Count(got, "\x1b]9;")
	}
	s.due = true // ticks are played by hand
	for i := range 1000 {
		s.clock = s.clock.Add(10 * time.Millisecond)
		r := asks
		if i%2 == 0 {
			r = Report{State: Working}
		}
		r.Words = fmt.Sprint(i)
		count(s.sent(s.Set(r)))
	}
	if titles > 41 || titles < 20 || calls > 3 || calls < 1 {
		t.Errorf("in ten seconds: %d titles, %d calls", titles, calls)
	}
	s.Update(tea.BlurMsg{})
	last := asks
	last.Words = "the last one"
	got := s.sent(s.Set(last)) + s.pass(notifyEvery)
	if !strings.Contains(got, "asks for permission") || !strings.Contains(got, "the last one") || strings.Count(got, "\x1b]9;") != 1 {
		t.Errorf("in the end: %q", got)
	}
	s = newScreen(nil)
	s.Update(tea.BlurMsg{})
	s.sent(s.Set(asks))
	s.sent(s.Set(Report{State: Working}))
	s.sent(s.Set(asks))
	if !s.wait {
		t.Error("nothing comes back to what was put off")
	}
	s.Update(tea.FocusMsg{})
	if got := s.pass(notifyEvery); strings.Contains(got, "\x1b]9;") {
		t.Errorf("somebody has come meanwhile: %q", got)
	}
}

// Goal: terminals that understand nothing are spared; of two forms of notifications there is one; tmux hands on what it is
// asked to, and only then.
func TestTerminals(t *testing.T) {
	all := func(env map[string]string, edit ...func(*Config)) string {
		s := newScreen(env, edit...)
		s.Update(tea.BlurMsg{})
		return s.sent(s.Set(asks)) + s.Leave()
	}
	for _, term := range []string{"", "dumb", "vt100"} {
		if got := all(map[string]string{"TERM": term}); got != "" {
			t.Errorf("%q: %q", term, got)
		}
	}
	if got := all(map[string]string{"TERM": "linux"}); got != "\a" {
		t.Errorf("the console of Linux: %q", got)
	}
	for _, env := range []map[string]string{{"TERM": "rxvt-unicode"}, {"TERM": "foot"}, {"TERM": "xterm-256color", "VTE_VERSION": "7600"}} {
		if got := all(env); strings.Contains(got, "\x1b]9;") || !strings.Contains(got, "\x1b]777;notify;Perdure · asks for permission;fix the parser: may") {
			t.Errorf("%v: %q", env, got)
		}
	}
	tmux := map[string]string{"TERM": "tmux-256color", "TMUX": "/tmp/tmux-0/default,1,0"}
	if got := all(tmux); strings.Contains(got, "tmux;") || !strings.Contains(got, "\x1b]9;") {
		t.Errorf("tmux: %q", got)
	}
	got := all(tmux, func(c *Config) { c.Passthrough = true })
	if !strings.Contains(got, "\x1bPtmux;\x1b\x1b]9;Perdure") || !strings.Contains(got, "\x1bPtmux;\x1b\x1b]7501;state=clear\a\x1b\\") || !strings.Contains(got, "\x1b]2;? fix") {
		t.Errorf("tmux, asked to: %q", got)
	}
}

// Goal: whatever a title says, nothing of it is obeyed: what is sent are the sequences that are meant, and text.
func TestHostileTexts(t *testing.T) {
	for _, text := range []string{
		"a\a\x1b]0;evil\x1b\\b", "\x1b[31m\u009b2J", "9;4;1", "a;b;c", "\x9c\x9d\xff", "x\ny\rz\t", "\u202e日本語\u2066", strings.Repeat("日", 5000), "👩‍👩‍👧‍👦", "\x1bPtmux;\x1b",
	} {
		for _, term := range []string{"xterm", "foot"} {
			s := newScreen(map[string]string{"TERM": term})
			s.Update(tea.BlurMsg{})
			check(t, s.sent(s.Set(Report{State: Blocked, Session: text, Words: text})))
		}
	}
}

func FuzzTexts(f *testing.F) {
	f.Add("a\x1b]0;x\a", "\u009c;\xff")
	f.Fuzz(func(t *testing.T, session, words string) {
		s := newScreen(map[string]string{"TERM": "foot"})
		s.Update(tea.BlurMsg{})
		check(t, s.sent(s.Set(Report{State: Done, Session: session, Words: words})))
	})
}

// check takes what was sent apart: a title, a status, a bell and a notification, of a bounded length.
func check(t *testing.T, sent string) {
	t.Helper()
	parts := strings.Split(sent, "\a")
	if len(parts) != 5 || parts[2] != "" || parts[4] != "" {
		t.Fatalf("%d parts: %q", len(parts), sent)
	}
	for i, begin := range []string{"\x1b[22;0t\x1b]2;", "\x1b]7501;state=", "", "\x1b]"} {
		rest, ok := strings.CutPrefix(parts[i], begin)
		if !ok || strings.ContainsFunc(rest, unicode.IsControl) || strings.ContainsFunc(rest, func(r rune) bool { return unicode.Is(unicode.Cf, r) }) || strings.Contains(rest, "\uFFFD") && strings.ToValidUTF8(rest, "") != rest {
			t.Fatalf("part %d: %q", i, parts[i])
		}
	}
	if n := strings.Count(parts[3], ";"); strings.HasPrefix(parts[3], "\x1b]777") && n != 3 {
		t.Errorf("%d fields: %q", n, parts[3])
	}
	for _, seq := range parts {
		if len(seq) > 4096 {
			t.Errorf("%d bytes in one sequence", len(seq))
		}
	}
}
