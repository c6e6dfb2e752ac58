package chat

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/perdure/perdure/internal/ui/asks"
	"github.com/perdure/perdure/internal/ui/composer"
	"github.com/perdure/perdure/internal/ui/diffview"
	"github.com/perdure/perdure/internal/ui/markdown"
	"github.com/perdure/perdure/internal/ui/theme"
	"github.com/perdure/perdure/internal/ui/transcript"
)

// session is a session under the test's control: what was asked of it, and what it answers.
type session struct {
	mu       sync.Mutex
	did      []string
	fail     map[string]error
	stopped  []string
	older    [][]transcript.Item
	output   string
	whole    string
	how      string
	gate     chan struct{} // for the end of a line of a shell
	left     []Ran
	kept     []string
	reply    Reply
	leaving  string
	waits    []asks.Ask
	answered []string
	keys     int
}

func (s *session) do(format string, args ...any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	s.did = append(s.did, text)
	verb, _, _ := strings.Cut(text, " ")
	return s.fail[verb]
}

func (s *session) Send(_ context.Context, key string, d composer.Draft) error {
	return s.do("send %s %s", key, d)
}
func (s *session) Withdraw(_ context.Context, key string) error { return s.do("withdraw %s", key) }
func (s *session) Cancel(context.Context) ([]string, error)     { return s.stopped, s.do("cancel") }
func (s *session) Continue(context.Context) (*Goal, error)      { return nil, s.do("continue") }
func (s *session) Mode(_ context.Context, mode string) error    { return s.do("mode %s", mode) }
func (s *session) Leaving(context.Context) string               { return s.leaving }

func (s *session) Older(context.Context) ([]transcript.Item, bool, error) {
	err := s.do("older")
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || len(s.older) == 0 {
		return nil, false, err
	}
	items := s.older[0]
	s.older = s.older[1:]
	return items, len(s.older) > 0, nil
}

func (s *session) Again(through int64) { _ = s.do("again %d", through) }

func (s *session) Output(_ context.Context, act string) (string, int64, error) {
	return s.output, 0, s.do("output %s", act)
}

func (s *session) Whole(_ context.Context, c transcript.Call) (string, int64, error) {
	return s.whole, 5000, s.do("whole %s", c.Run)
}

func (s *session) Remember(_ context.Context, fact string) error { return s.do("remember %s", fact) }

func (s *session) Shell(_ context.Context, line string) (Ran, error) {
	return Ran{Line: line, Task: "bash_1", Act: "x1"}, s.do("shell %s", line)
}

func (s *session) ShellEnd(_ context.Context, r Ran) (Ran, error) {
	<-s.gate
	r.How, r.Output = s.how, s.output
	return r, s.fail["shellend"]
}

func (s *session) ShellLeft(context.Context) ([]Ran, error) { return s.left, s.fail["shellleft"] }

func (s *session) ShellForget(_ context.Context, ran []Ran) error {
	acts := make([]string, len(ran))
	for i, r := range ran {
		acts[i] = r.Act
	}
	return s.do("forget %s", strings.Join(acts, ","))
}

func (s *session) KeepDraft(_ context.Context, d composer.Draft) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, d.String())
	return s.fail["keep"]
}

func (s *session) Command(_ context.Context, name, args string) (Reply, error) {
	return s.reply, s.do("command %s %s", name, args)
}

// What waits for an answer.
func (s *session) List(context.Context) ([]asks.Ask, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]asks.Ask(nil), s.waits...), nil
}

func (s *session) Show(_ context.Context, a asks.Ask) (asks.Detail, error) {
	return asks.Detail{Rows: []asks.Row{{Text: a.Line}}, Exact: asks.Rule{Text: "Bash(make)", Allows: "make"}}, nil
}

func (s *session) Answer(_ context.Context, a asks.Ask, ans asks.Answer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered = append(s.answered, fmt.Sprintf("%s %d %s", a.ID, ans.Verdict, ans.Text))
	for i := range s.waits {
		if s.waits[i].ID == a.ID {
			s.waits = append(s.waits[:i:i], s.waits[i+1:]...)
			break
		}
	}
	return nil
}

func (s *session) Became(context.Context, asks.Ask) string { return "" }

// What is written with.
func (s *session) Newest(context.Context, int) ([]string, error)               { return nil, nil }
func (s *session) Search(context.Context, string, int) ([]string, error)       { return nil, nil }
func (s *session) Files(context.Context, string, int) ([]composer.File, error) { return nil, nil }
func (s *session) Image(context.Context, string) (composer.Image, error) {
	return composer.Image{}, errors.New("there are no images here")
}

type prose struct{ r *markdown.Renderer }

func (p prose) Lines(text string, width int) []string { return p.r.Lines(text, width) }
func (p prose) Stream(width int) transcript.Stream    { return markdown.NewStream(p.r, width) }

// failer is a test, or one run of a property.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// person is somebody at a screen. It lives in a bubble of package synctest, so that its time is the test's.
type person struct {
	t       failer
	m       *Model
	s       *session
	msgs    chan tea.Msg
	over    chan struct{}
	quit    bool
	printed []string
	other   []string // names of messages that are for the terminal
}

func configOf(s *session) Config {
	style := theme.Colours()
	diff := diffview.New(style)
	return Config{
		Style: style, Link: s, Now: time.Now, Context: context.Background(), NewKey: func() string { s.keys++; return fmt.Sprint("k", s.keys) },
		Composer: composer.New(composer.Config{Source: s, Now: time.Now, Styles: style, Hint: "what is to be done?"}),
		Transcript: transcript.New(transcript.Config{
			Style: style, Prose: prose{markdown.New(style)}, Now: time.Now,
			Diff: func(d transcript.Diff, width int) []string { return diff.Lines(d.Old, d.New, d.Name, width) },
		}),
		Asks:     asks.New(asks.Config{Source: s, Now: time.Now, Style: style}),
		Commands: []Command{{Name: "help", Page: func(string) Page { return &paper{} }}, {Name: "exit"}, {Name: "mode"}, {Name: "cost", Alias: []string{"price"}}, {Name: "resume"}},
		Stand:    Stand{Title: "a session", Model: "test/model", Mode: "default"},
	}
}

// newModelOnly is a screen whose session takes everything.
func newModelOnly(change func(*Config)) *Model {
	cfg := configOf(&session{fail: map[string]error{}})
	if change != nil {
		change(&cfg)
	}
	return New(cfg)
}

func newPerson(t failer, width, height int, change func(*Config)) *person {
	t.Helper()
	p := &person{t: t, s: &session{fail: map[string]error{}}, msgs: make(chan tea.Msg, 1000), over: make(chan struct{})}
	cfg := configOf(p.s)
	if change != nil {
		change(&cfg)
	}
	p.m = New(cfg)
	p.run(p.m.Init())
	p.send(tea.WindowSizeMsg{Width: width, Height: height})
	return p
}

// run runs a command as bubbletea does.
func (p *person) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		msg := cmd()
		select {
		case p.msgs <- msg:
		case <-p.over:
		}
	}()
}

// send gives the screen a message, and what comes of it, until nothing more comes at once.
func (p *person) send(msgs ...tea.Msg) {
	p.t.Helper()
	for _, msg := range msgs {
		p.take(msg)
	}
	for {
		synctest.Wait()
		select {
		case msg := <-p.msgs:
			p.take(msg)
		default:
			return
		}
	}
}

func (p *person) take(msg tea.Msg) {
	p.t.Helper()
	switch msg := msg.(type) {
	case nil:
		return
	case tea.BatchMsg:
		for _, cmd := range msg {
			p.run(cmd)
		}
		return
	case tea.QuitMsg:
		p.quit = true
		return
	}
	if v := reflect.ValueOf(msg); v.Type().PkgPath() == "charm.land/bubbletea/v2" {
		switch name := v.Type().Name(); name {
		case "printLineMessage":
			p.printed = append(p.printed, strings.Split(ansi.Strip(strings.Trim(fmt.Sprintf("%v", msg), "{}")), "\n")...)
			return
		case "sequenceMsg":
			for i := range v.Len() {
				if cmd, ok := v.Index(i).Interface().(tea.Cmd); ok && cmd != nil {
					p.run(cmd)
				}
			}
			return
		case "clearScreenMsg", "setClipboardMsg", "execMsg", "SuspendMsg":
			p.other = append(p.other, name)
			return
		}
	}
	_, cmd := p.m.Update(msg)
	p.check()
	p.run(cmd)
}

// check holds the screen against its size.
func (p *person) check() {
	p.t.Helper()
	m := p.m
	if m.width <= 0 || m.height <= 0 {
		return
	}
	v := m.View()
	lines := strings.Split(v.Content, "\n")
	most := m.height
	if m.cfg.Inline && m.page == nil && !m.asking() {
		most = min(most, inlineLines)
	}
	if len(lines) > most || !m.cfg.Inline && m.width >= minWidth && m.height >= minHeight && len(lines) != m.height {
		p.t.Fatalf("%d lines at %d×%d:\n%s", len(lines), m.width, m.height, ansi.Strip(v.Content))
	}
	for _, l := range lines {
		if n := ansi.StringWidth(l); n > m.width {
			p.t.Fatalf("%d cells in %d: %q", n, m.width, l)
		}
		if s := ansi.Strip(l); strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
			p.t.Fatalf("a control character in %q", s)
		}
	}
	if c := v.Cursor; c != nil && (c.X < 0 || c.X >= m.width || c.Y < 0 || c.Y >= len(lines)) {
		p.t.Fatalf("the cursor is at %d,%d of %d×%d", c.X, c.Y, m.width, len(lines))
	}
}

// wait lets time pass.
func (p *person) wait(d time.Duration) {
	p.t.Helper()
	for end := time.After(d); ; {
		select {
		case msg := <-p.msgs:
			p.send(msg)
		case <-end:
			p.send()
			return
		}
	}
}

var named = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
	"alt+up": {Code: tea.KeyUp, Mod: tea.ModAlt}, "pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift},
	"shift+up": {Code: tea.KeyUp, Mod: tea.ModShift}, "shift+down": {Code: tea.KeyDown, Mod: tea.ModShift}, "shift+end": {Code: tea.KeyEnd, Mod: tea.ModShift},
	"shift+home": {Code: tea.KeyHome, Mod: tea.ModShift}, "backspace": {Code: tea.KeyBackspace}, "space": {Code: tea.KeySpace, Text: " "},
	"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
}

func keyOf(name string) tea.KeyPressMsg {
	if k, ok := named[name]; ok {
		return k
	}
	if c, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(c[0]), Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

// press presses keys by their names, and letters.
func (p *person) press(names ...string) {
	p.t.Helper()
	for _, name := range names {
		p.send(keyOf(name))
	}
}

// write writes letters.
func (p *person) write(text string) {
	p.t.Helper()
	for _, r := range text {
		p.send(keyOf(string(r)))
	}
}

// screen is what is there to read.
func (p *person) screen() string {
	var b strings.Builder
	for l := range strings.Lines(ansi.Strip(p.m.View().Content) + "\n") {
		b.WriteString(strings.TrimRight(l, " \n") + "\n")
	}
	return b.String()
}

func (p *person) sees(words ...string) {
	p.t.Helper()
	for _, w := range words {
		if !strings.Contains(p.screen(), w) {
			p.t.Fatalf("%q is not on the screen:\n%s", w, p.screen())
		}
	}
}

func (p *person) misses(words ...string) {
	p.t.Helper()
	for _, w := range words {
		if strings.Contains(p.screen(), w) {
			p.t.Fatalf("%q is on the screen:\n%s", w, p.screen())
		}
	}
}

// did is what was asked of the session since the last time, except looks.
func (p *person) did() string {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	out := strings.Join(p.s.did, "; ")
	p.s.did = nil
	return out
}

func (p *person) want(did string) {
	p.t.Helper()
	if got := p.did(); got != did {
		p.t.Fatalf("the session was asked for %q, want %q", got, did)
	}
}

// at runs a test in time of its own.
func at(t *testing.T, width, height int, change func(*Config), do func(p *person)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := newPerson(t, width, height, change)
		defer p.leave()
		do(p)
	})
}

// always checks a property in time of its own.
func always(t *testing.T, change func(*rapid.T, *Config), do func(rt *rapid.T, p *person)) {
	t.Helper()
	rapid.Check(t, func(rt *rapid.T) {
		var failed any
		synctest.Test(t, func(*testing.T) {
			defer func() { failed = recover() }()
			p := newPerson(rt, 80, 24, func(c *Config) {
				if change != nil {
					change(rt, c)
				}
			})
			defer p.leave()
			do(rt, p)
		})
		if fmt.Sprintf("%T", failed) == "rapid.invalidData" {
			panic(failed) // elsewhere than a failure, so that one is not taken for the other
		}
		if failed != nil {
			panic(failed)
		}
	})
}

// leave lets all commands end.
func (p *person) leave() {
	close(p.over)
	<-time.After(time.Hour)
}

// paper is a page.
type paper struct {
	typing, deep bool
	keys         []string
	width        int
	height       int
}

func (p *paper) Init() tea.Cmd             { return nil }
func (p *paper) SetSize(width, height int) { p.width, p.height = width, height }
func (p *paper) Typing() bool              { return p.typing }
func (p *paper) Back() bool                { was := p.deep; p.deep = false; return was }
func (p *paper) View() string {
	return strings.Join(theme.Block([]string{"a page " + strings.Join(p.keys, "")}, p.width, p.height), "\n")
}

func (p *paper) Update(msg tea.Msg) tea.Cmd {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		p.keys = append(p.keys, k.String())
	}
	return nil
}

func stand(change func(*Stand)) *Stand {
	s := &Stand{Title: "a session", Model: "test/model", Mode: "default"}
	if change != nil {
		change(s)
	}
	return s
}

func working() *Stand {
	return stand(func(s *Stand) { s.Working, s.Activity, s.Since = true, "thinking", time.Now() })
}
