package transcript

import "slices"

// cached are the lines of an entry.
type cached struct {
	lines []string
	width int
	fresh bool // lines are of the item as it is
	held  bool // in the cache's list
	used  int  // when they were used last, in uses of all
}

// cache bounds the lines that are held besides those on the screen.
type cache struct {
	held  []*entry // that hold lines
	lines int      // that they hold
	uses  int
}

// Bounds of the lines that are held, and of the entries that hold them. Those of the newest uses, which are several for
// each item of a frame, stay beyond it, so that nothing on the screen is drawn twice.
const (
	maxHeld  = 20_000
	maxDrawn = 600
	newUses  = 1000
)

// linesOf are the lines of an item, made anew only if it or the width has changed. They hold until the item changes.
func (m *Model) linesOf(e *entry) []string {
	c := &m.cache
	c.uses++
	e.used = c.uses
	if e.fresh && e.width == m.width {
		if e.Kind == Tool && e.Call.State == Running {
			e.lines[0] = m.callLine(&e.Call) // its time goes on
		}
		return e.lines
	}
	was := len(e.lines)
	e.lines, e.width, e.fresh = m.draw(e), m.width, true
	c.lines += len(e.lines) - was
	if !e.held {
		e.held = true
		c.held = append(c.held, e)
	}
	if c.lines > maxHeld || len(c.held) > maxDrawn {
		c.trim(e)
	}
	return e.lines
}

// trim lets go of what was not used of late.
func (c *cache) trim(but *entry) {
	c.held = slices.DeleteFunc(c.held, func(e *entry) bool {
		if e == but || e.used > c.uses-newUses {
			return false
		}
		c.forget(e)
		return true
	})
}

func (c *cache) forget(e *entry) {
	c.lines -= len(e.lines)
	e.cached = cached{}
}

// drop lets go of an entry that is no more.
func (c *cache) drop(e *entry) {
	if e.held {
		c.held = slices.DeleteFunc(c.held, func(o *entry) bool { return o == e })
		c.forget(e)
	}
}
