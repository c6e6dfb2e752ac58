package knowledge

import (
	"errors"
	"io/fs"
)

// toldMark is, in the home, what was said last of handoffs that cannot be read.
const toldMark = "handoffs-told"

// News reports whether an error of [Handoffs.All] is to be told: it is not the one that was told last for this project. Nil
// is no news, and has the same error told again when it comes back. What cannot be remembered is told each time.
func (h Handoffs) News(err error) bool {
	home, openErr := openAt(h.s.cfg.Home, (&desk{files: &files{s: h.s}}).markPath(), err != nil, 0o700)
	if openErr != nil {
		return err != nil
	}
	defer home.Close()
	if err == nil {
		_ = home.Remove(toldMark)
		return false
	}
	text := []byte(err.Error())
	text = text[:min(len(text), maxRead)]
	if was, readErr := readRegular(home, toldMark); readErr == nil && string(was) == string(text) {
		return false
	} else if readErr != nil && !errors.Is(readErr, fs.ErrNotExist) {
		return true
	}
	_ = (&files{s: h.s}).lay(home, toldMark, text, 0o600, false)
	return true
}
