package pace

import (
	"io"
	"reflect"
	"strings"
	"sync"
	"unsafe"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/ui/theme"
)

// reflow keeps a frame that stands among printed lines whole when its terminal is made narrower. Most terminals break the
// lines then that are too wide, so that the frame has more rows than were drawn, and the cursor stands further below its
// top. bubbletea goes up as many rows as it has drawn: what is above would stay, and stand twice. So while
// the width changes nothing is drawn, and before something is, the cursor is put where it is taken to be.
//
// Others cut such lines off; going further up there would overwrite what was printed before. So nothing is done unless the
// terminal has said by its name that it breaks lines.
type reflow struct {
	breaks bool // the terminal breaks lines that have become too wide
	tmux   bool
	width  int
	widths []int // of the newest frame's lines above its cursor, in tmux
}

// breaking are the terminals that break lines, by how they begin when they are asked for their name.
var breaking = [...]string{"tmux", "vte", "kitty", "wezterm", "ghostty", "foot", "iterm2", "konsole", "contour", "mintty", "xterm.js", "windows terminal"}

// named hears what the terminal says of itself.
func (r *reflow) named(name string) {
	name = strings.ToLower(strings.TrimSpace(name))
	r.tmux = strings.HasPrefix(name, "tmux")
	for _, n := range breaking {
		r.breaks = r.breaks || strings.HasPrefix(name, n)
	}
}

// env hears of terminals that have no answer to the question for their name. Within another one, which has, they do not
// count.
func (r *reflow) env(e tea.EnvMsg) {
	if term := e.Getenv("TERM"); strings.HasPrefix(term, "screen") || strings.HasPrefix(term, "tmux") {
		return
	}
	r.breaks = r.breaks || e.Getenv("ALACRITTY_WINDOW_ID") != "" || e.Getenv("WT_SESSION") != "" || e.Getenv("TERM_PROGRAM") == "Apple_Terminal"
}

// resized comes before bubbletea takes the new width, and reports whether nothing is to be drawn until that has settled.
func (r *reflow) resized(p *tea.Program, width int) bool {
	known := r.width > 0 && r.width != width
	r.width = width
	d := drawnBy(p)
	return r.breaks && known && d != nil && d.inline()
}

// settled comes before something is drawn at a new width.
func (r *reflow) settled(p *tea.Program) {
	if d := drawnBy(p); d != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.up(r.width)
	}
}

// drawn is what bubbletea has drawn last: private fields of its own, which are there in the version that is used.
type drawn struct {
	mu     *sync.Mutex
	view   **tea.View
	screen terminalScreen
	out    io.Writer
}

// terminalScreen is what draws.
type terminalScreen interface {
	Position() (x, y int)
	Erase() // all is drawn anew
}

// drawnBy finds it; nil: this version of bubbletea has nothing of the kind where it is looked for.
func drawnBy(p *tea.Program) *drawn {
	r := reflect.ValueOf(p).Elem().FieldByName("renderer")
	if !r.IsValid() || r.Kind() != reflect.Interface || r.IsNil() {
		return nil
	}
	if r = r.Elem(); r.Kind() != reflect.Pointer || r.Elem().Kind() != reflect.Struct {
		return nil
	}
	r = r.Elem()
	d := &drawn{}
	d.mu, _ = field(r, "mu").(*sync.Mutex)
	d.view, _ = field(r, "lastView").(**tea.View)
	if out, ok := field(r, "w").(*io.Writer); ok {
		d.out = *out
	}
	if s := r.FieldByName("scr"); s.IsValid() && s.Kind() == reflect.Pointer && !s.IsNil() {
		at := reflect.NewAt(s.Type(), unsafe.Pointer(s.UnsafeAddr())) //nolint:gosec // read while the lock is held
		d.screen, _ = at.Elem().Interface().(terminalScreen)
	}
	if d.mu == nil || d.view == nil || d.out == nil || d.screen == nil {
		return nil
	}
	return d
}

// field is the address of a field; nil: there is none.
func field(of reflect.Value, name string) any {
	f := of.FieldByName(name)
	if !f.IsValid() {
		return nil
	}
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Interface() //nolint:gosec // read while the lock is held
}

// inline reports whether there is a frame, among printed lines.
func (d *drawn) inline() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return *d.view != nil && !(*d.view).AltScreen
}

// ask has the terminal tell its width: where the cursor is when it has gone to the right as far as it can. It knows that
// better than its size, which tmux 3.3 tells the wrong way around.
func (d *drawn) ask() {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, _ = io.WriteString(d.out, askWidth)
}

const askWidth = ansi.SaveCursor + "\x1b[9999C" + ansi.RequestCursorPositionReport + ansi.RestoreCursor

// up goes up the rows that the frame has got above the cursor by being broken at a width, and blanks what is above the
// cursor on the way: a terminal may put what is cleared from its top on into the scrollback.
func (d *drawn) up(width int) {
	if *d.view == nil || (*d.view).AltScreen {
		return
	}
	x, y := d.screen.Position()
	if above := above((*d.view).Content, x, y, width); above > y {
		blank := strings.Repeat(ansi.EraseEntireLine+ansi.CursorDown(1), above)
		_, _ = io.WriteString(d.out, ansi.CursorUp(above)+blank+ansi.CursorUp(above-y))
	}
}

// above is how many rows of a frame whose lines are broken at a width stand above the one of a cursor, which was at a
// place of it.
func above(frame string, x, y, width int) (rows int) {
	for i, line := range strings.Split(frame, "\n") {
		line = said(line)
		switch {
		case i < y:
			rows += len(theme.Break(line, width))
		case ansi.StringWidth(line) > x: // the cursor stands on a character, and goes where that goes
			return rows + len(theme.Break(ansi.Truncate(line, x, "")+"x", width)) - 1
		default:
			return rows + x/max(width, 1)
		}
	}
	return rows
}

// said is a line as text, without what is blank at its end.
func said(line string) string { return strings.TrimRight(ansi.Strip(line), " ") }

// shrinks hears of each frame. tmux takes a line for as long as it ever was, unless all of it is cleared: so where one
// above the cursor gets shorter, the frame is cleared.
func (r *reflow) shrinks(p *tea.Program, v tea.View) {
	if !r.tmux || v.AltScreen {
		r.widths = r.widths[:0]
		return
	}
	shorter := false
	for i, line := range strings.Split(v.Content, "\n") {
		if v.Cursor != nil && i >= v.Cursor.Y {
			break
		}
		w := ansi.StringWidth(said(line))
		if i == len(r.widths) {
			r.widths = append(r.widths, w)
			continue
		}
		shorter = shorter || w < r.widths[i]
		r.widths[i] = w
	}
	if d := drawnBy(p); shorter && d != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.screen.Erase()
	}
}
