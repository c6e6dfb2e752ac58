package list

// all is further than any list has rows.
const all = 1 << 30

// Step is how far a key moves in a list or a text of which a page has so many rows. typed: letters are text, so that they
// and the blank move nothing. ok is false for a key that moves nothing.
func Step(key string, page int, typed bool) (by int, ok bool) {
	page = max(page, 1)
	switch key {
	case "up", "ctrl+p":
		return -1, true
	case "down", "ctrl+n":
		return 1, true
	case "pgup":
		return -page, true
	case "pgdown":
		return page, true
	case "home":
		return -all, true
	case "end":
		return all, true
	}
	if typed {
		return 0, false
	}
	switch key {
	case "k":
		return -1, true
	case "j":
		return 1, true
	case "b", "ctrl+u":
		return -page, true
	case "space", "ctrl+d":
		return page, true
	case "g":
		return -all, true
	case "G":
		return all, true
	}
	return 0, false
}
