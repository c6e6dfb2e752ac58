package panels

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/perdure/perdure/internal/ui/theme"
)

var update = flag.Bool("update", false, "write the golden files anew")

var testNow = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func testConfig() Config {
	return Config{Styles: theme.Colours(), Now: func() time.Time { return testNow }}
}

const evil = "\x1b]0;title\a\x1b[2J日本語\t👩‍👩‍👧 e\u0301\r\nnext \u202eline"

// fake is every source, under the test's control.
type fake struct {
	plan    Plan
	context Context
	files   Files
	cost    Cost
	changes map[string][]Change
	perms   Permissions
	revoked []string
	err     error
}

func (f *fake) Permissions(context.Context) (Permissions, error) { return f.perms, f.err }
func (f *fake) Revoke(_ context.Context, p Permission) (string, error) {
	f.revoked = append(f.revoked, p.ID)
	return "taken back: it asks again", f.err
}

func (f *fake) Plan(context.Context) (Plan, error)       { return f.plan, f.err }
func (f *fake) Context(context.Context) (Context, error) { return f.context, f.err }
func (f *fake) Files(context.Context) (Files, error)     { return f.files, f.err }
func (f *fake) Cost(context.Context) (Cost, error)       { return f.cost, f.err }
func (f *fake) Changes(_ context.Context, path string) ([]Change, error) {
	return f.changes[path], f.err
}

func usual() *fake {
	usd, turn := 1.2345, 0.0042
	return &fake{
		plan: Plan{
			Steps: []Step{
				{Text: "Read the tests", Status: "done", Output: "three of them fail"},
				{Text: "Repair the parser", Active: "Repairing the parser", Status: "executing"},
				{Text: "Deploy to staging " + evil, Status: "blocked", Blocker: "the staging key", Reason: "nobody has it"},
				{Text: "Ask for a review", Status: "awaiting_approval"},
				{Text: "Wait for the build", Status: "waiting_external"},
				{Text: "Load test", Status: "failed", Reason: "the server fell over"},
				{Text: "Write it down", Status: "planned"},
			},
			Facts: []Fact{{Kind: "constraint", Text: "The API must not change.", Reason: "others use it", From: "user"}, {Kind: "failed_approach", Text: "Caching " + evil}},
		},
		context: Context{
			Model: "anthropic/claude-x", Window: 200_000, CompactAt: 160_000, Tokens: 63_214, Cached: 58_000, CachedAt: testNow.Add(-90 * time.Second),
			Parts: []Part{{"system", 1800}, {"tools", 6400}, {"instructions", 2300}, {"live_state", 300}, {"steps", 52_414}},
		},
		files: Files{
			Created:  []File{{Path: "/home/me/shop/internal/parser/parse_test.go", Name: "internal/parser/parse_test.go", Size: 2048}},
			Modified: []File{{Path: "/home/me/shop/go.mod", Name: "go.mod", Size: 300}, {Path: "/home/me/shop/" + evil, Size: 1 << 20}},
			Read:     []File{{Path: "/etc/hosts", Size: 120}, {Path: "/home/me/shop/" + strings.Repeat("deep/", 30) + "file.go", Size: 9}}, More: 12,
		},
		cost: Cost{
			Session: Use{Input: 123_456, Output: 45_678, CacheRead: 12_345_678, CacheWrite: 400_000, Lost: 1500, Calls: 88, USD: &usd}, TurnOpen: true,
			Turn: &Use{Input: 1200, Output: 340, CacheRead: 58_000, CacheWrite: 900, Calls: 3, USD: &turn}, Budget: 5, Spent: 1.2345,
			Models: []ModelUse{{"anthropic/claude-x", Use{Input: 123_456, Output: 45_678, Calls: 80, USD: &usd}}, {"local/" + evil, Use{Input: 10, Calls: 8}}},
		},
		perms: Permissions{Mode: "default", Scopes: []PermissionScope{
			{"This session alone", []Permission{
				{ID: "revoke a", Effect: "allow", Rule: "Bash(git log:*)", Words: "commands that begin with git log", From: "granted by anna, 2h ago"},
				{ID: "1", Effect: "ask", Rule: "Bash(rm:*)", Words: "commands that begin with rm", From: "given with the session", Fixed: "it stays with the session"},
			}},
			{"Sessions of ~/shop", nil},
			{"Every session", []Permission{
				{ID: "2", Effect: "deny", Rule: "Read(/etc/**)", Words: "reading every file below /etc", From: "your configuration", Fixed: "it stands in ~/.config/perdure/config.toml: change it there"},
				{ID: "user b", Effect: "allow", Rule: "Edit(" + evil + ")", Words: "changing " + evil, From: "remembered by " + evil},
			}},
		}},
		changes: map[string][]Change{"/home/me/shop/go.mod": {
			{Title: "Edit", At: testNow.Add(-time.Hour), Old: "go 1.25\n", New: "go 1.26\n"},
			{Title: "Write", At: testNow.Add(-time.Minute), New: "module x\n" + evil, Note: "unknown whether it was written"},
		}},
	}
}

func help() []Section {
	return []Section{
		{"Conversation", []theme.Key{{Press: "enter", Does: "send what is written"}, {Press: "esc", Does: "cancel what runs"}}},
		{"Commands", []theme.Key{{Press: "/compact [FOCUS]", Does: "make room in the context"}, {Press: "/" + evil, Does: evil}}},
	}
}

func pages(f *fake) map[string]*Page {
	c := testConfig()
	return map[string]*Page{"plan": NewPlan(c, f), "context": NewContext(c, f), "files": NewFiles(c, f), "cost": NewCost(c, f), "help": NewHelp(c, help()), "permissions": NewPermissions(c, f)}
}

// drain runs a command and what follows from it.
func drain(p *Page, cmd tea.Cmd) {
	for cmd != nil {
		cmd = p.Update(cmd())
	}
}

func press(p *Page, keys ...string) {
	named := map[string]rune{
		"up": tea.KeyUp, "down": tea.KeyDown, "enter": tea.KeyEnter, "esc": tea.KeyEscape, "backspace": tea.KeyBackspace,
		"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "end": tea.KeyEnd, "home": tea.KeyHome,
	}
	for _, k := range keys {
		msg := tea.KeyPressMsg{Code: []rune(k)[0], Text: k}
		if code, ok := named[k]; ok {
			msg = tea.KeyPressMsg{Code: code}
		}
		drain(p, p.Update(msg))
	}
}

// checkFrame wants exactly so many lines of exactly so many cells, and nothing in them that steers the terminal.
func checkFrame(t interface {
	Helper()
	Errorf(string, ...any)
}, p *Page, width, height int,
) string {
	t.Helper()
	frame := p.View()
	lines := strings.Split(frame, "\n")
	if len(lines) != height {
		t.Errorf("%dx%d: %d lines", width, height, len(lines))
	}
	for _, l := range lines {
		if n := ansi.StringWidth(l); n != width {
			t.Errorf("%dx%d: %d cells: %q", width, height, n, l)
		}
		for _, s := range strings.Split(l, "\x1b")[1:] {
			if end := strings.IndexByte(s, 'm'); end < 0 || strings.Trim(s[:end], "[0123456789;") != "" {
				t.Errorf("a sequence that is no colour: %q", l)
			}
		}
	}
	text := ansi.Strip(frame)
	for _, r := range text {
		if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e') {
			t.Errorf("%dx%d: %q in %q", width, height, r, text)
			break
		}
	}
	return text
}

// Goal: how the pages look, at the sizes that people have.
func TestGoldenPages(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 12}} {
		for _, c := range []struct {
			name, page string
			keys       []string
		}{
			{"plan", "plan", nil},
			{"step", "plan", []string{"j", "j", "enter"}},
			{"filter", "plan", []string{"/", "l", "o", "a", "d"}},
			{"context", "context", nil},
			{"files", "files", nil},
			{"changes", "files", []string{"down", "enter"}},
			{"cost", "cost", nil},
			{"help", "help", []string{"end"}},
			{"permissions", "permissions", nil},
			{"revoke", "permissions", []string{"x"}},
		} {
			p := pages(usual())[c.page]
			p.SetSize(size[0], size[1])
			drain(p, p.Init())
			press(p, c.keys...)
			checkFrame(t, p, size[0], size[1])
			golden(t, fmt.Sprint(c.name, "-", size[0]), p.View())
		}
	}
}

func golden(t *testing.T, name, frame string) {
	t.Helper()
	var text strings.Builder
	for line := range strings.SplitSeq(ansi.Strip(frame), "\n") {
		text.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	text.WriteString("----\n" + strings.ReplaceAll(frame, "\x1b", "^") + "\n")
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text.String() != string(want) {
		t.Errorf("%s differs; -update writes it anew:\n%s", name, text.String())
	}
}

// Whatever the size and whatever is pressed, a frame stays in its place; in too small a room it says so.
func TestNothingBreaksAPage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := usual()
		if rapid.IntRange(0, 4).Draw(t, "failing") == 0 {
			f.err = errors.New(evil)
		}
		name := rapid.SampledFrom([]string{"plan", "context", "files", "cost", "help"}).Draw(t, "page")
		p := pages(f)[name]
		width, height := rapid.IntRange(0, 130).Draw(t, "width"), rapid.IntRange(1, 40).Draw(t, "height")
		p.SetSize(width, height)
		checkFrame(t, p, width, height)
		drain(p, p.Init())
		for _, k := range rapid.SliceOfN(rapid.SampledFrom([]string{"down", "up", "enter", "esc", "/", "漢", "e", "pgdown", "pgup", "home", "end", "r", "backspace", "h"}), 0, 12).Draw(t, "keys") {
			press(p, k)
			if k == "h" && !p.Typing() {
				width = rapid.IntRange(1, 130).Draw(t, "width")
				p.SetSize(width, height)
			}
			text := checkFrame(t, p, width, height)
			if small := width < minWidth || height < minHeight; small && width > 9 && !strings.Contains(text, "too small") {
				t.Errorf("%dx%d: %q", width, height, text)
			}
		}
	})
}

// An answer that comes late says nothing of now, in the list and in what was opened of it.
func TestAnswersToOlderQuestionsAreDropped(t *testing.T) {
	f := usual()
	p := NewFiles(testConfig(), f)
	p.SetSize(80, 24)
	first := p.Init()
	old := first()
	f.files = Files{Created: []File{{Path: "/new"}}}
	drain(p, p.Refresh())
	p.Update(old)
	if text := checkFrame(t, p, 80, 24); !strings.Contains(text, "/new") || strings.Contains(text, "go.mod") {
		t.Error(text)
	}
	f.changes = map[string][]Change{"/new": {{Title: "Slow", New: "x"}}}
	slow := p.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
	if !strings.Contains(p.View(), "looking…") {
		t.Error(p.View())
	}
	press(p, "esc")
	late := slow()
	p.Update(late)
	if strings.Contains(p.View(), "Slow") {
		t.Error("what was closed has opened again")
	}
	f.changes = map[string][]Change{"/new": {{Title: "Quick", New: "x"}}}
	press(p, "enter")
	p.Update(late)
	if text := p.View(); strings.Contains(text, "Slow") || !strings.Contains(text, "Quick") {
		t.Error(text)
	}
	// Looking at the list again leaves what is open alone, and a page takes no other page's answers.
	other := NewPlan(testConfig(), f)
	other.SetSize(80, 24)
	other.Init()
	drain(p, p.Refresh())
	other.Update(old)
	if text := p.View(); !strings.Contains(text, "Quick") || strings.Contains(other.View(), "go.mod") {
		t.Error(text)
	}
}

// What is selected stays selected when others come before it; a filter is text until it is kept, and each step back is
// one step.
func TestSelectionFilterAndSteppingBack(t *testing.T) {
	f := &fake{files: Files{Read: []File{{Path: "/b"}, {Path: "/d"}}}}
	p := NewFiles(testConfig(), f)
	p.SetSize(40, 12)
	drain(p, p.Init())
	press(p, "j")
	f.files = Files{Created: []File{{Path: "/a"}}, Read: []File{{Path: "/b"}, {Path: "/c"}, {Path: "/d"}}}
	press(p, "r")
	if got := p.selected().key; got != "/d" {
		t.Errorf("%s is selected", got)
	}
	press(p, "/", "k", "j")
	if !p.Typing() || p.filter.Text != "kj" || !strings.Contains(p.View(), "nothing matches") {
		t.Errorf("%t %q", p.Typing(), p.filter.Text)
	}
	press(p, "backspace", "backspace", "C", "R", "E", "A", "T", "enter", "enter")
	if p.detail == nil || p.open() != nil {
		t.Error("what is open opens again")
	}
	press(p, "esc", "/")
	press(p, "backspace", "backspace", "backspace", "backspace", "backspace", "R", "E", "A", "D", " ", "/", "c", "enter")
	if got := p.selected().key; got != "/c" || p.Typing() {
		t.Errorf("%s is selected, filter %q", got, p.filter.Text)
	}
	press(p, "enter")
	for i, want := range []bool{true, true, false} { // the detail, the filter, nothing
		if got := p.Back(); got != want {
			t.Errorf("step back %d: %t", i, got)
		}
	}
	if p.filter.Text != "" || p.selected().key != "/c" {
		t.Errorf("%q, %s", p.filter.Text, p.selected().key)
	}
	f.err = errors.New("disk on fire")
	press(p, "r")
	if text := p.View(); !strings.Contains(text, "disk on fire") || !strings.Contains(text, "/a") {
		t.Errorf("what was seen before is gone: %s", text)
	}
}

// Why there is nothing to see is said whole, where the rows would be: the first line has no room for it.
func TestWhyNothingIsThereIsSaidWhole(t *testing.T) {
	f := usual()
	f.err = errors.New("session 01a20938-b488-7edc-8109-b1f98c2789bb: its files were not captured: the directory holds more than 200,000 files, the last words")
	p := NewDiff(testConfig(), f)
	p.SetSize(50, 12)
	drain(p, p.Init())
	text := p.View()
	for _, want := range []string{"its files were not captured", "the last words", "r tries again"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	checkFrame(t, p, 50, 12)
	f.err, f.files = nil, Files{None: "no turn has changed a file yet"}
	press(p, "r")
	if text := p.View(); !strings.Contains(text, "no turn has changed a file yet") || strings.Contains(text, "r tries again") {
		t.Error(text)
	}
}

// The cursor is a real one, behind what was typed, so that an input method opens its window there; wide characters and a
// text that has no room do not put it elsewhere.
func TestTheCursorStandsBehindWhatIsTyped(t *testing.T) {
	p := NewPlan(testConfig(), usual())
	p.SetSize(60, 12)
	drain(p, p.Init())
	if p.Cursor() != nil {
		t.Error("a cursor where nothing is typed")
	}
	press(p, "/")
	p.Update(tea.PasteMsg{Content: "日本 \t e\u0301"})
	if c := p.Cursor(); c == nil || c.X != len(" /")+4+2 || c.Y != 11 {
		t.Errorf("%+v", c)
	}
	for range 40 {
		press(p, "語")
	}
	line := strings.Split(ansi.Strip(p.View()), "\n")[11]
	if c := p.Cursor(); c.X > 33 || ansi.StringWidth(line[:strings.LastIndex(line, "語")+len("語")]) != c.X {
		t.Errorf("%+v %q", c, line)
	}
	p.SetSize(20, 4)
	if p.Cursor() != nil {
		t.Error("a cursor in too small a room")
	}
}

// Moving reaches every row that can be selected and every line that cannot, also where headings fill the screen.
func TestMovingReachesEverything(t *testing.T) {
	f := &fake{}
	for i := range 300 {
		f.files.Read = append(f.files.Read, File{Path: fmt.Sprint("/file", i)})
	}
	p := NewFiles(testConfig(), f)
	p.SetSize(40, 8)
	drain(p, p.Init())
	seen := map[string]bool{}
	for range 300 {
		seen[p.selected().key] = true
		if !strings.Contains(p.View(), p.selected().key) {
			t.Fatalf("%s is selected and not seen", p.selected().key)
		}
		press(p, "j")
	}
	press(p, "end")
	if len(seen) != 300 || p.selected().key != "/file299" {
		t.Errorf("%d, %s", len(seen), p.selected().key)
	}
	press(p, "pgup", "pgup")
	if p.selected().key != "/file289" {
		t.Errorf("%s after two pages", p.selected().key)
	}
	press(p, "home")
	if !strings.Contains(p.View(), "Read (300)") || p.selected().key != "/file0" {
		t.Errorf("the heading above the first row is not seen: %s", p.View())
	}
	cost := NewCost(testConfig(), usual())
	cost.SetSize(40, 6)
	drain(cost, cost.Init())
	press(cost, "end")
	if !strings.Contains(cost.View(), "1,500 tokens more") {
		t.Error(cost.View())
	}
}

// A frame costs what is on the screen, not what is in the list.
func TestAFrameDrawsWhatIsVisible(t *testing.T) {
	drawn := 0
	p := &Page{cfg: testConfig(), title: "Rows"}
	p.load = func(context.Context) (filled, error) {
		f := filled{}
		for i := range 100_000 {
			f.rows = append(f.rows, row{key: fmt.Sprint(i), draw: func(int) string { drawn++; return "row" }})
		}
		return f, nil
	}
	p.SetSize(80, 24)
	drain(p, p.Init())
	press(p, "end", "up", "home")
	p.View()
	if drawn > 24 {
		t.Errorf("%d rows were drawn for a frame of 24 lines", drawn)
	}
}

// The newest changes of a file come first, and how many are not shown is said.
func TestOlderChangesAreCounted(t *testing.T) {
	var changes []Change
	for i := range maxChanges + 5 {
		changes = append(changes, Change{Title: "Edit", Old: "x\n", New: fmt.Sprint(i, "\n")})
	}
	text := strings.Join(changeLines(testConfig(), "f", changes)(80), "\n")
	if n := strings.Count(text, "Edit"); n != maxChanges || !strings.Contains(text, "older changes that are not shown: 5") || !strings.Contains(ansi.Strip(text[:40]), "25. Edit") {
		t.Errorf("%d changes:\n%s", n, text)
	}
	long := Change{Title: "Write", New: strings.Repeat("line\n", 350)}
	text = strings.Join(changeLines(testConfig(), "f", []Change{long, long, long, long})(80), "\n")
	if n := strings.Count(text, "Write"); n != 3 || !strings.Contains(text, "older changes that are not shown: 1") {
		t.Errorf("%d long changes", n)
	}
}

// A rule is taken back by x and y alone, and it is the one that was asked about, whatever changes in the list meanwhile; of
// one that cannot be, it is said what can be done instead.
func TestARuleIsTakenBack(t *testing.T) {
	f := usual()
	p := NewPermissions(testConfig(), f)
	p.SetSize(80, 24)
	drain(p, p.Init())
	for _, key := range []string{"n", "enter", "x", "esc"} {
		press(p, "x")
		if !p.Typing() || !strings.Contains(ansi.Strip(p.View()), "Take back Bash(git log:*)? y/N") {
			t.Fatalf("not asked: %s", ansi.Strip(p.View()))
		}
		if press(p, key); len(f.revoked) > 0 || p.Typing() {
			t.Fatalf("%s took %v back", key, f.revoked)
		}
	}
	press(p, "x")
	f.perms.Scopes[0].Rules = f.perms.Scopes[0].Rules[1:] // somebody else took it back
	drain(p, p.Refresh())
	if press(p, "y"); fmt.Sprint(f.revoked) != "[revoke a]" || !strings.Contains(p.View(), "it asks again") {
		t.Errorf("%v\n%s", f.revoked, p.View())
	}
	press(p, "home", "x")
	if text := ansi.Strip(p.View()); p.Typing() || !strings.Contains(text, "it stays with the session") {
		t.Errorf("%s", text)
	}
	press(p, "end", "x")
	f.err = errors.New("the disk is \x1b[2J full")
	press(p, "y")
	if text := ansi.Strip(p.View()); !strings.Contains(text, "the disk is full") {
		t.Errorf("%s", text)
	}
}

// What a key does is read whole at every width, on as many lines as it takes, and one step of the selection is one key.
func TestHelpIsReadWhole(t *testing.T) {
	long := "open what is selected, and everything below it that was folded; again it folds all of that"
	p := NewHelp(testConfig(), []Section{{Title: "Keys", Keys: []theme.Key{{Press: "enter", Does: long}, {Press: "esc", Does: "close"}}}})
	for _, width := range []int{40, 80, 60} {
		p.SetSize(width, 20)
		text := ansi.Strip(p.View())
		if got := strings.Join(strings.Fields(text), " "); !strings.Contains(got, long) {
			t.Errorf("at %d:\n%s", width, text)
		}
	}
	if press(p, "down"); p.selected().key != "esc" {
		t.Errorf("%q is selected", p.selected().key)
	}
}
