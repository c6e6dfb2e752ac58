package pace

import (
	"reflect"
	"time"

	tea "charm.land/bubbletea/v2"
)

// settleAfter is how long the width stays as it is until a frame that is broken by it is drawn anew. While somebody
// drags an edge a terminal may have another width than it has told: tmux tells it four times a second. What is drawn
// then is torn. So the terminal is asked, too. What does not answer within answerWithin, or has another width each
// time, is believed.
const (
	settleAfter  = 350 * time.Millisecond
	answerWithin = 100 * time.Millisecond
	maxAsked     = 5
	printAfter   = 2 * time.Second / fps // what is printed goes above a frame that is drawn anew
)

// hold is what waits for a width to settle. It is used by the program's loop alone.
type hold struct {
	width  int  // that was told last
	asked  bool // the terminal is asked for it
	times  int  // that it was asked
	timer  *time.Timer
	prints []tea.Msg // lines to print above the frame when it is drawn anew
}

// settled tells that the width has stayed as it is; sure: that the terminal has said so, or says nothing.
type settled struct {
	width int
	sure  bool
}

// printed is the type of the messages that print lines above the frame.
var printed = reflect.TypeOf(tea.Println("")())

// kept reports whether a message waits until the frame is whole again: lines that are printed above one which the terminal
// has broken would come into its middle.
func (m *model) kept(msg tea.Msg) bool {
	if !m.held || reflect.TypeOf(msg) != printed {
		return false
	}
	m.hold.prints = append(m.hold.prints, msg)
	return true
}

// sized takes a size that the terminal tells.
func (m *model) sized(msg tea.WindowSizeMsg) {
	h := &m.hold
	changed := h.width != msg.Width
	h.width = msg.Width
	if changed && m.reflow.resized(m.program, msg.Width) && m.stop() {
		h.times = 0
		m.settle(settleAfter, false)
	}
}

// settle goes on after a while, unless something comes before.
func (m *model) settle(after time.Duration, sure bool) {
	h := &m.hold
	if h.timer != nil {
		h.timer.Stop()
	}
	then := settled{h.width, sure}
	h.asked = sure
	h.timer = time.AfterFunc(after, func() { m.program.Send(then) })
}

// answered takes the width that the terminal says when it is asked.
func (m *model) answered(width int) {
	h := &m.hold
	switch {
	case !h.asked:
	case width == h.width:
		m.settled(settled{width, true})
	default: // it will tell
		m.settle(settleAfter, h.times == maxAsked)
	}
}

// settled asks the terminal, and has the screen drawn again when that agrees.
func (m *model) settled(msg settled) {
	h := &m.hold
	if !m.held || msg.width != h.width || msg.sure != h.asked {
		return
	}
	if d := drawnBy(m.program); d != nil && !msg.sure {
		h.times++
		m.settle(answerWithin, true)
		d.ask()
		return
	}
	h.timer.Stop()
	h.asked = false
	m.reflow.settled(m.program)
	m.draw()
	if prints := h.prints; len(prints) > 0 {
		h.prints = nil
		time.AfterFunc(printAfter, func() {
			for _, p := range prints {
				m.program.Send(p)
			}
		})
	}
}

// stop has nothing drawn until [model.draw], and reports whether that is possible.
func (m *model) stop() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ticker == nil {
		return false
	}
	m.held = true
	m.ticker.Reset(time.Hour)
	return true
}

// draw has the screen drawn again.
func (m *model) draw() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held = false
	m.set(time.Second / fps)
}
