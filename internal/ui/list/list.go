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
	rows     []entry[K]
	room     int
	selected K
	at, top  int
	some     bool // a row is selected
}

// entry is a row: its key, if it can be selected.
type entry[K comparable] struct {
	key K
	can bool
}

// Set gives the list its rows, as many as there are now. key is that of each; false: it cannot be selected. It is not kept:
// rows may change as they like until they are set anew, which is to be done before the next [List.Visible]. What was
// selected stays so while it is there, else the row that has its place now is.
func (l *List[K]) Set(rows int, key func(i int) (K, bool)) {
	l.rows = l.rows[:0]
	at := -1
	for i := range rows {
		k, can := key(i)
		l.rows = append(l.rows, entry[K]{k, can})
		if at < 0 && can && l.some && k == l.selected {
			at = i
		}
	}
	if at >= 0 {
		l.put(at)
		return
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
func (l *List[K]) Visible() (from, to int) { return l.top, min(l.top+max(l.room, 0), len(l.rows)) }

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
	at = max(min(at, len(l.rows)-1), 0)
	for range 2 {
		for i := at; i >= 0 && i < len(l.rows); i += step {
			if l.rows[i].can {
				return i
			}
		}
		step = -step
	}
	return -1
}

func (l *List[K]) put(at int) {
	var none K
	l.at, l.selected, l.some = max(at, 0), none, at >= 0
	if l.some {
		l.selected = l.rows[at].key
	}
	l.keep()
}

// keep scrolls so that the selected row is on the screen: with the headings above it, and what ends the list below it, as
// far as there is room.
func (l *List[K]) keep() {
	room := max(l.room, 1)
	if l.some {
		first, last := l.at, l.at
		for first > 0 && l.at-first < room-1 && !l.rows[first-1].can {
			first--
		}
		for last < len(l.rows)-1 && last-first < room-1 && !l.rows[last+1].can {
			last++
		}
		if last < len(l.rows)-1 {
			last = l.at // they are the headings of what follows
		}
		l.top = max(min(l.top, first), last-room+1)
	}
	l.top = max(min(l.top, len(l.rows)-room), 0)
}
