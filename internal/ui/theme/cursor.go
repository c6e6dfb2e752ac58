package theme

import tea "charm.land/bubbletea/v2"

// Cursor is the terminal's own cursor at a place, in the shape that its person has chosen: none is set, so that there is
// none to be set back when the screen is left, lent to an editor or killed.
func Cursor(x, y int) *tea.Cursor {
	c := tea.NewCursor(x, y)
	c.Shape, c.Blink = ownShape, false
	return c
}

// ownShape is the shape that bubbletea writes as 0, which is the terminal's own: it counts two from each shape to the next,
// and a steady one comes second.
const ownShape tea.CursorShape = -1
