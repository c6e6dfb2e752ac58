package tools

import "bytes"

// LastLines gives the end of an output, made fit to read: at most so many lines and bytes, cut at a line or, within one
// that is longer, at a character.
func LastLines(out []byte, lines, limit int) string {
	var clean []byte
	c := cleaner{emit: func(line []byte) { clean = append(clean, line...) }}
	c.write(out)
	c.flush()
	clean = bytes.TrimRight(clean, "\n")
	from := max(0, len(clean)-limit)
	if from > 0 {
		if i := bytes.IndexByte(clean[from:], '\n'); i >= 0 {
			from += i + 1
		}
		from += tornStart(clean[from:])
	}
	clean = clean[from:]
	for at, n := len(clean), 0; at >= 0; n++ {
		if n == lines {
			clean = clean[at+1:]
			break
		}
		at = bytes.LastIndexByte(clean[:at], '\n')
	}
	return string(clean)
}
