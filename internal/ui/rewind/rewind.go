// Package rewind is where a person goes back: to before a turn, with the conversation, the files, or both, and with the
// files to any moment that was kept. Other plans of what files become are shown and asked about by it, too, in their
// own words.
//
// Nothing is done by the key that opened the page, nor by one that was pressed before what it would do was on the
// screen for a moment. What would become of the files is shown first, path by path; enter alone never touches them.
// What is asked first, and done if a person says no more, is to go back with the conversation alone, which destroys
// nothing. What somebody else changed stays, unless it is forced by a key of its own and two more.
package rewind

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/ui/list"
	"github.com/perdure/perdure/internal/ui/theme"
)

// Turn is one that can be gone back to before.
type Turn struct {
	Key     string
	Words   string // of its prompt
	At      time.Time
	Changed int    // files that it changed; negative: nobody knows
	Undone  bool   // what it changed was undone
	Why     string // why the files cannot go back to before it; empty: they can
}

// Path is one that a plan is about.
type Path struct {
	Sign rune // + comes back, ~ is changed back, - goes away, = stays
	Name string
	Why  string // it stays
	Both bool   // both sides have changed it, in different lines: it has both then
}

// Words are those of a plan by which files do something else than go back. Empty ones are of going back.
type Words struct {
	Title   string // what is done, and where
	Counts  string // of the paths
	Nothing string // that no file would be touched
	Forced  string // what goes if it is forced
	Doing   string // as in Restoring
	Always  bool   // it can be done where no path is touched
	Settled bool   // it cannot be forced
}

// Plan is what would become of the files.
type Plan struct {
	To                             string // the moment in words
	Added, Modified, Deleted, Kept int
	Paths                          []Path
	More                           int // that are not listed
	As                             Words
}

// nothing reports that no file would be touched.
func (p Plan) nothing() bool { return p.Added+p.Modified+p.Deleted == 0 && !p.As.Always }

// canForce reports whether what stays can be forced.
func (p Plan) canForce() bool { return p.Kept > 0 && !p.As.Settled }

// Way is with what a person goes back.
type Way int

// The ways.
const (
	Conversation Way = iota
	Files
	Both
)

// Source knows the turns and does what is chosen. Its methods may block, and are called from other goroutines.
type Source interface {
	// Turns are those that can be gone back to before, newest first.
	Turns(ctx context.Context) ([]Turn, error)
	// Plan says what would become of the files. It touches none.
	Plan(ctx context.Context, key string, force bool) (Plan, error)
	// Do goes back and gives the message that says what came of it, to whoever owns the page.
	Do(ctx context.Context, key string, way Way, force bool) tea.Msg
}

// Config is what a page needs.
type Config struct {
	Styles  theme.Styles
	Now     func() time.Time // required
	Source  Source           // required
	Context context.Context  //nolint:containedctx // work runs in it: it outlives the page; required
}

// stage is what the page asks.
type stage int

const (
	turns stage = iota
	ways
	plan
	working
)

// settle is how long something was on the screen before a key decides about it.
const settle = 300 * time.Millisecond

// Page is the page. It is used from one goroutine.
type Page struct {
	cfg           Config
	only          bool // it is about one moment
	stage         stage
	width, height int

	all    []Turn
	looked bool
	list   list.List[string]
	turn   Turn
	way    Way

	plan   Plan
	force  bool
	sure   bool // the first yes to force was said
	top    int  // of the plan
	asked  int  // number of the newest question; answers to older ones are dropped
	waits  bool // for its answer
	drawn  time.Time
	note   string // until the next key
	failed string
}

type (
	turnsMsg struct {
		p   *Page
		n   int
		got []Turn
		err error
	}
	planMsg struct {
		p   *Page
		n   int
		got Plan
		err error
	}
)

// New makes the page of all turns.
func New(cfg Config) *Page { return &Page{cfg: cfg} }

// NewFiles makes a page that is about the files at one moment, which the source knows by a key.
func NewFiles(cfg Config, key string) *Page {
	return &Page{cfg: cfg, only: true, stage: plan, way: Files, turn: Turn{Key: key}}
}

// Init begins to look.
func (p *Page) Init() tea.Cmd {
	if p.only {
		return p.ask(false)
	}
	p.asked++
	n, src, ctx := p.asked, p.cfg.Source, p.cfg.Context
	return func() tea.Msg {
		got, err := src.Turns(ctx)
		return turnsMsg{p, n, got, err}
	}
}

// ask looks what would become of the files.
func (p *Page) ask(force bool) tea.Cmd {
	p.show(plan)
	p.asked++
	p.force, p.sure, p.waits, p.top, p.failed = force, false, true, 0, ""
	n, src, ctx, key := p.asked, p.cfg.Source, p.cfg.Context, p.turn.Key
	return func() tea.Msg {
		got, err := src.Plan(ctx, key, force)
		return planMsg{p, n, got, err}
	}
}

// show goes on to another question, which has to be drawn before a key answers it.
func (p *Page) show(s stage) { p.stage, p.drawn = s, time.Time{} }

// do does what was chosen.
func (p *Page) do() tea.Cmd {
	p.show(working)
	src, ctx, key, way, force := p.cfg.Source, p.cfg.Context, p.turn.Key, p.way, p.force
	return func() tea.Msg { return src.Do(ctx, key, way, force) }
}

// Working reports that it is being done: the page is over when that is.
func (p *Page) Working() bool { return p.stage == working }

// Typing reports whether letters are text: never.
func (p *Page) Typing() bool { return false }

// SetSize gives the page its room, in cells.
func (p *Page) SetSize(width, height int) {
	p.width, p.height = width, height
	p.list.Room(max((p.height-2)/2, 1))
	p.scroll(0)
}

// Back goes back to the question before, and reports whether there was one. What is under way goes on.
func (p *Page) Back() bool {
	p.note = ""
	switch {
	case p.stage == plan && p.sure:
		p.sure, p.drawn = false, time.Time{}
	case p.stage == plan && !p.only:
		p.asked++ // the plan is no longer wanted
		p.waits, p.failed = false, ""
		p.show(ways)
	case p.stage == ways:
		p.show(turns)
	default:
		return false
	}
	return true
}

// Update takes a message. Those that are not the page's are ignored.
func (p *Page) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case turnsMsg:
		if msg.p == p && msg.n == p.asked {
			p.looked, p.all = true, msg.got
			if msg.err != nil {
				p.failed = msg.err.Error()
			}
			p.list.Set(len(p.all), func(i int) (string, bool) { return p.all[i].Key, true })
		}
	case planMsg:
		if msg.p == p && msg.n == p.asked {
			p.plan, p.waits, p.drawn = msg.got, false, time.Time{}
			if msg.err != nil {
				p.failed = msg.err.Error()
			}
		}
	case tea.KeyPressMsg:
		return p.key(msg.String())
	}
	return nil
}

// seen reports whether what is asked was on the screen for long enough.
func (p *Page) seen() bool { return !p.drawn.IsZero() && p.cfg.Now().Sub(p.drawn) >= settle }

func (p *Page) key(name string) tea.Cmd {
	p.note = ""
	switch p.stage {
	case turns:
		if by, ok := list.Step(name, max((p.height-2)/2, 1), false); ok {
			p.list.Move(by)
		} else if at := p.list.At(); name == "enter" && at >= 0 && p.seen() {
			p.turn, p.way = p.all[at], Conversation
			p.show(ways)
		}
	case ways:
		return p.wayKey(name)
	case plan:
		return p.planKey(name)
	case working:
	}
	return nil
}

func (p *Page) wayKey(name string) tea.Cmd {
	if by, ok := list.Step(name, 1, false); ok {
		p.way = Way(min(max(int(p.way)+by, int(Conversation)), int(Both)))
		return nil
	}
	switch {
	case name != "enter" || !p.seen():
	case p.way == Conversation:
		return p.do()
	case p.turn.Why != "":
		p.note = "the files cannot: " + p.turn.Why
	default:
		return p.ask(false)
	}
	return nil
}

// planKey takes a key while a plan is shown: y does it, and enter, which may have been meant for the question before, does
// not.
func (p *Page) planKey(name string) tea.Cmd {
	if by, ok := list.Step(name, p.body(), false); ok {
		p.scroll(by)
		return nil
	}
	ready := !p.waits && p.failed == "" && p.seen()
	switch {
	case name == "r" && p.failed != "" && !p.waits:
		return p.ask(p.force)
	case !ready:
	case name == "f" && p.plan.canForce() && !p.force:
		return p.ask(true)
	case name == "y" && p.plan.nothing() && p.way == Files:
		p.note = "there is nothing to do"
	case name == "y" && p.force && !p.sure:
		p.sure, p.drawn = true, time.Time{}
	case name == "y":
		return p.do()
	case name == "enter":
		p.note = "y does it"
	}
	return nil
}

// scroll moves over the plan.
func (p *Page) scroll(by int) { p.top = max(min(p.top+by, len(p.plan.Paths)+1-p.body()), 0) }
