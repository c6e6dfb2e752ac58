package tasks

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// termModes follows what a program has switched on and off at its terminal, by its output alone, so that whoever
// attaches later sees the same and whoever leaves gets an ordinary terminal back. Its zero value is an ordinary
// terminal. It knows the modes that have a number (CSI ? n h); they are all that survives the program's death.
type termModes struct {
	set    map[int]bool // that differ from an ordinary terminal's
	state  int
	number int
	list   []int
}

// Bounds of what is followed.
const (
	maxModes     = 64
	maxModeValue = 1 << 16
)

// The states of the parser.
const (
	modeGround = iota
	modeEscape // ESC
	modeCSI    // ESC [
	modeParams // ESC [ ?
)

// ordinarilyOn tells of the modes that an ordinary terminal has on: wrapping, and a cursor that shows.
func ordinarilyOn(mode int) bool { return mode == 7 || mode == 25 }

// alternate reports whether a full-screen program shows its own screen.
func (m *termModes) alternate() bool { return m.set[47] || m.set[1047] || m.set[1049] }

// follow looks at the next bytes of the output, which may be cut anywhere.
func (m *termModes) follow(b []byte) {
	for _, c := range b {
		switch {
		case c == 0x1b:
			m.state = modeEscape
		case m.state == modeGround:
		case m.state == modeEscape && c == '[':
			m.state = modeCSI
		case m.state == modeEscape && c == 'c': // a full reset
			m.set, m.state = nil, modeGround
		case m.state == modeCSI && c == '?':
			m.state, m.number, m.list = modeParams, 0, m.list[:0]
		case m.state != modeParams:
			m.state = modeGround
		default:
			m.param(c)
		}
	}
}

// param takes a byte of a list of modes.
func (m *termModes) param(c byte) {
	switch {
	case c >= '0' && c <= '9':
		m.number = min(m.number*10+int(c-'0'), maxModeValue)
		return
	case len(m.list) < maxModes:
		m.list = append(m.list, m.number)
	}
	if m.number = 0; c == ';' {
		return
	}
	m.state = modeGround
	if c != 'h' && c != 'l' {
		return
	}
	for _, mode := range m.list {
		if (c == 'h') == ordinarilyOn(mode) {
			delete(m.set, mode)
		} else if len(m.set) < maxModes {
			if m.set == nil {
				m.set = map[int]bool{}
			}
			m.set[mode] = true
		}
	}
}

// enter makes an ordinary terminal what the program has made of its own.
func (m *termModes) enter() string { return m.write(false) }

// leave makes it an ordinary one again.
func (m *termModes) leave() string {
	out := "\x1b[0m" + m.write(true)
	if m.alternate() {
		out += "\x1b7\x1b[r\x1b8" // no scrolling region
	}
	return out
}

func (m *termModes) write(back bool) string {
	var out strings.Builder
	for _, mode := range slices.Sorted(maps.Keys(m.set)) {
		final := 'h'
		if ordinarilyOn(mode) != back {
			final = 'l'
		}
		fmt.Fprintf(&out, "\x1b[?%d%c", mode, final)
	}
	return out.String()
}
