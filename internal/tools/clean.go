package tools

import (
	"bytes"
	"unicode/utf8"
)

// maxLine bounds the bytes of one output line that are looked at together. A longer line is taken in pieces.
const maxLine = 256 << 10

// cleaner makes what a command printed fit to read, line by line: of a progress bar drawn with carriage returns the
// last state stays, backspaces erase, terminal escapes and other control characters go, invalid UTF-8 becomes U+FFFD.
// It works on a stream in bounded memory.
type cleaner struct {
	emit  func(line []byte) // one line, with its newline if it has one; valid during the call
	carry []byte            // the start of a line whose end has not come
}

// write takes the next bytes.
func (c *cleaner) write(p []byte) {
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		switch {
		case i < 0 && len(c.carry)+len(p) <= maxLine:
			c.carry = append(c.carry, p...)
			return
		case i >= 0 && len(c.carry) == 0:
			c.emit(cleanLine(p[:i+1]))
			p = p[i+1:]
		case i >= 0 && len(c.carry)+i < maxLine:
			c.emit(cleanLine(append(c.carry, p[:i+1]...)))
			c.carry, p = c.carry[:0], p[i+1:]
		default:
			n := max(0, min(len(p), maxLine-len(c.carry)))
			c.carry, p = append(c.carry, p[:n]...), p[n:]
			c.spill()
		}
	}
}

// spill makes room in a full carry: what a later carriage return overwrote is forgotten, else a piece is emitted.
func (c *cleaner) spill() {
	if i := bytes.LastIndexByte(bytes.TrimRight(c.carry, "\r"), '\r'); i >= 0 {
		c.carry = append(c.carry[:0], c.carry[i+1:]...)
		return
	}
	n := len(c.carry) - incomplete(c.carry)
	c.emit(cleanLine(c.carry[:n]))
	c.carry = append(c.carry[:0], c.carry[n:]...)
}

// flush takes the end of the stream.
func (c *cleaner) flush() {
	if len(c.carry) > 0 {
		c.emit(cleanLine(c.carry))
		c.carry = c.carry[:0]
	}
}

// cleanLine cleans one line, with or without its newline. The result may share memory with b.
func cleanLine(b []byte) []byte {
	if plain(b) {
		return b
	}
	end := ""
	if n := len(b); n > 0 && b[n-1] == '\n' {
		b, end = b[:n-1], "\n"
	}
	b = stripControls(lastDrawn(b))
	return append(bytes.ToValidUTF8(b, []byte("\uFFFD")), end...)
}

// plain tells that a line needs no cleaning.
func plain(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\t' && c != '\n' || c == 0x7f {
			return false
		}
	}
	return utf8.Valid(b)
}

// lastDrawn gives what is left of a line after its carriage returns: the last piece that is not empty.
func lastDrawn(b []byte) []byte {
	b = bytes.TrimRight(b, "\r")
	return b[bytes.LastIndexByte(b, '\r')+1:]
}

// stripControls removes escape sequences and control characters, and applies backspaces.
func stripControls(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c == 0x1b:
			i += escape(b[i:])
			continue
		case c == '\b':
			_, n := utf8.DecodeLastRune(out)
			out = out[:len(out)-n]
		case c < ' ' && c != '\t' || c == 0x7f:
		default:
			out = append(out, c)
		}
		i++
	}
	return out
}

// escape gives the length of the terminal escape sequence that b starts with; an unfinished one is all of b.
func escape(b []byte) int {
	if len(b) < 2 {
		return len(b)
	}
	switch c := b[1]; {
	case c == '[': // CSI: parameters and intermediates, then one final byte
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				return i + 1
			}
			if b[i] < 0x20 || b[i] > 0x7e {
				return i
			}
		}
		return len(b)
	case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_': // OSC, DCS, SOS, PM, APC: until BEL or ST
		for i := 2; i < len(b); i++ {
			if b[i] == 0x07 {
				return i + 1
			}
			if b[i] == 0x1b {
				if i+1 < len(b) && b[i+1] == '\\' {
					return i + 2
				}
				return i
			}
		}
		return len(b)
	case c >= 0x20 && c <= 0x2f: // charset and the like: intermediates, then one final byte
		for i := 2; i < len(b); i++ {
			if b[i] < 0x20 || b[i] > 0x2f {
				return i + 1
			}
		}
		return len(b)
	case c >= 0x30 && c <= 0x7e:
		return 2
	default:
		return 1
	}
}

// maxEscape bounds an unfinished escape sequence that a reader waits for.
const maxEscape = 64

// incomplete gives how many bytes at the end of b are the start of a character or escape sequence whose rest is
// still to come.
func incomplete(b []byte) int {
	if n := tornEnd(b); n > 0 {
		return n
	}
	tail := b[max(0, len(b)-maxEscape):]
	i := bytes.LastIndexByte(tail, 0x1b)
	if i < 0 || bytes.IndexByte(tail[i:], '\n') >= 0 {
		return 0
	}
	// A sequence is finished when one more byte would not make it longer.
	if escape(append(bytes.Clone(tail[i:]), 'm')) > len(tail)-i {
		return len(tail) - i
	}
	return 0
}
