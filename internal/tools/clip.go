package tools

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/session"
)

// maxOutput is how much of a command's output a result shows, in bytes.
const maxOutput = 30_000

// clip keeps the beginning and the end of a text in bounded memory, cut between lines where there are any and between
// characters otherwise. What lies between is counted, never dropped silently.
type clip struct {
	max     int
	head    []byte
	tail    []byte
	split   bool // the head is closed: what comes goes to the tail
	omitted int64
}

// write takes the next bytes.
func (c *clip) write(p []byte) {
	if !c.split {
		if len(c.head)+len(p) <= c.max {
			c.head = append(c.head, p...)
			return
		}
		room := c.max + 1 - len(c.head) // one over the bound makes the overflow certain
		c.head, p = append(c.head, p[:min(room, len(p))]...), p[min(room, len(p)):]
		c.close()
	}
	c.tail = append(c.tail, p...)
	if n := len(c.tail) - 2*c.max; n > 2*c.max {
		c.omitted += int64(n)
		c.tail = append(c.tail[:0], c.tail[n:]...)
	}
}

// gap notes n bytes that are missing at this place.
func (c *clip) gap(n int64) {
	if n <= 0 {
		return
	}
	if !c.split {
		c.close()
	}
	c.omitted += n + int64(len(c.tail))
	c.tail = c.tail[:0]
}

// close ends the head at a good place in its first half; the rest becomes the tail.
func (c *clip) close() {
	c.split = true
	n := len(c.head)
	if half := c.max / 2; n > half {
		n = half - tornEnd(c.head[:half])
		if i := bytes.LastIndexByte(c.head[:n], '\n'); i >= n/2 {
			n = i + 1
		}
	}
	c.tail = append(c.tail, c.head[n:]...)
	c.head = c.head[:n]
}

// cutTail drops from the tail's front what is over the bound.
func (c *clip) cutTail() {
	n := len(c.tail) - (c.max - len(c.head))
	if n <= 0 {
		return
	}
	for n < len(c.tail) && !utf8.RuneStart(c.tail[n]) {
		n++
	}
	if c.tail[n-1] != '\n' {
		if i := bytes.IndexByte(c.tail[n:], '\n'); i >= 0 && i < (len(c.tail)-n)/2 {
			n += i + 1
		}
	}
	c.omitted += int64(n)
	c.tail = append(c.tail[:0], c.tail[n:]...)
}

// text gives the kept text, with a line in the place of what was left out. where is added to that line.
func (c *clip) text(where string) string {
	if c.split {
		c.cutTail()
	}
	if c.omitted == 0 {
		return string(c.head) + string(c.tail)
	}
	var b bytes.Buffer
	b.Write(c.head)
	if n := len(c.head); n > 0 && c.head[n-1] != '\n' {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "[%d bytes omitted%s]\n", c.omitted, where)
	b.Write(c.tail)
	return b.String()
}

// tornEnd gives how many bytes at the end of b are the start of a character.
func tornEnd(b []byte) int {
	for n := 1; n <= min(utf8.UTFMax-1, len(b)); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// tornStart gives how many bytes at the start of b are the end of a character.
func tornStart(b []byte) int {
	n := 0
	for n < min(utf8.UTFMax-1, len(b)) && !utf8.RuneStart(b[n]) {
		n++
	}
	return n
}

// clipText shortens s to about n bytes for messages, at a character's end.
func clipText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return session.CutEnd(s, n) + "…"
}
