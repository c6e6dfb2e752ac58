// Package list is what all pages that show a list have in common: which row is selected and which rows are on the
// screen ([List]), what a key moves ([Step]), and a line of words that is typed ([Field]) and that rows are found by
// ([Matches]).
//
// It draws no rows: their page does, those that [List.Visible] names. What it does for a key or a frame does not grow with
// the length of the list; [List.Set] looks at each row once.
package list

// List is a person's place among rows. Each that can be selected has a key of its own; headings and blanks have none. The
// zero value is a list without rows. It is used from one goroutine.
type List[K comparable] struct {
	rows, room int
	key        func(i int) (K, bool)
	selected   K
	at, top    int
	some       bool // a row is selected
}

// Set gives the list its rows, as many as there are now. key is that of each; false: it cannot be selected. It is kept and
// called again. What was selected stays so while it is there, else the row that has its place now is.
func (l *List[K]) Set(rows int, key func(i int) (K, bool)) {
	l.rows, l.key = rows, key
	if l.some {
		for i := range rows {
			if k, ok := key(i); ok && k == l.selected {
				l.put(i)
				return
			}
		}
	}
	l.put(l.nearest(l.at, 1))
}

// Room says how many rows fit on the screen.
func (l *List[K]) Room(rows int) {
	l.room = rows
	l.keep()
}

// At is the selected row; -1: none is.
func (l *List[K]) At() int {
	if !l.some {
		return -1
	}
	return l.at
}

// Selected is the key of the selected row; ok is false when none is.
func (l *List[K]) Selected() (k K, ok bool) { return l.selected, l.some }

// Visible are the rows on the screen: from one, up to before another.
func (l *List[K]) Visible() (from, to int) { return l.top, min(l.top+max(l.room, 0), l.rows) }

// Move selects the row that is so many further on; where no row can be selected, it scrolls. It reports whether another
// one is selected.
func (l *List[K]) Move(by int) bool {
	if !l.some {
		l.top += by
		l.keep()
		return false
	}
	step := 1
	if by < 0 {
		step = -1
	}
	was := l.at
	l.put(l.nearest(l.at+by, step))
	return l.at != was
}

// First selects the first row that can be.
func (l *List[K]) First() { l.put(l.nearest(0, 1)) }

// nearest is the row at a place or behind it in the direction of step, else the first on the other side; -1: there is none.
func (l *List[K]) nearest(at, step int) int {
	at = max(min(at, l.rows-1), 0)
	for range 2 {
		for i := at; i >= 0 && i < l.rows; i += step {
			if l.can(i) {
				return i
			}
		}
		step = -step
	}
	return -1
}

// can reports whether a row can be selected.
func (l *List[K]) can(i int) bool {
	_, ok := l.key(i)
	return ok
}

func (l *List[K]) put(at int) {
	var none K
	l.at, l.selected, l.some = max(at, 0), none, at >= 0
	if l.some {
		l.selected, _ = l.key(at)
	}
	l.keep()
}

// keep scrolls so that the selected row is on the screen: with the headings above it, and what ends the list below it, as
// far as there is room.
func (l *List[K]) keep() {
	room := max(l.room, 1)
	if l.some {
		first, last := l.at, l.at
		for first > 0 && l.at-first < room-1 && !l.can(first-1) {
			first--
		}
		for last < l.rows-1 && last-first < room-1 && !l.can(last+1) {
			last++
		}
		if last < l.rows-1 {
			last = l.at // they are the headings of what follows
		}
		l.top = max(min(l.top, first), last-room+1)
	}
	l.top = max(min(l.top, l.rows-room), 0)
}
