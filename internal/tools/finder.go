package tools

import (
	"bytes"
	"regexp"

	"github.com/perdure/perdure/internal/session"
)

// maxMatched bounds the bytes of one line that are matched together. A longer line is taken in pieces.
const maxMatched = 64 << 10

// Finder finds the first line of a stream that matches. A line is looked at when its end has come: a newline, or a
// carriage return with something after it, so that every state of a progress bar counts. It is matched as BashOutput
// shows it, without terminal escapes, and with secrets replaced. Memory is bounded.
//
// At and Gap are set to where a search goes on, and are to be kept: nothing before At matches.
type Finder struct {
	Pattern *regexp.Regexp
	Replace func([]byte) []byte // hides secrets, without changing what it is given; nil: there are none
	Partial func([]byte) int    // bytes at the end that may be the beginning of a secret; nil: none
	At      int64               // offset of the first byte that has not been looked at
	Gap     int64               // bytes before At that were dropped before they could be looked at

	carry []byte // from At on
}

// Next is the offset of the bytes that Write takes next.
func (f *Finder) Next() int64 { return f.At + int64(len(f.carry)) }

// Write takes the next bytes, and gives the first line that matches. After a match At is not moved on.
func (f *Finder) Write(b []byte) (line string, ok bool) {
	f.carry = append(f.carry, b...)
	for {
		n := f.whole()
		if n == 0 {
			return "", false
		}
		if line, ok = f.match(f.carry[:n]); ok {
			return line, true
		}
		f.At, f.carry = f.At+int64(n), append(f.carry[:0], f.carry[n:]...)
	}
}

// Skip notes that the next bytes are not there any more. What was begun before them is a line: its end will not come.
func (f *Finder) Skip(gap int64) (line string, ok bool) {
	if line, ok = f.End(); !ok {
		f.At, f.Gap = f.At+gap, f.Gap+gap
	}
	return line, ok
}

// End takes the end of the stream: what is left is a line.
func (f *Finder) End() (line string, ok bool) {
	if line, ok = f.match(f.carry); !ok {
		f.At, f.carry = f.Next(), nil
	}
	return line, ok
}

// whole is how many of the carried bytes can be looked at: whole lines without the beginning of a secret behind them.
func (f *Finder) whole() int {
	sure := len(f.carry)
	if f.Partial != nil {
		sure -= f.Partial(f.carry)
	}
	n := lastEnd(f.carry[:sure])
	for try := 0; f.cutsSecret(n, sure); try++ {
		if n = lastEnd(f.carry[:n-1]); try == maxSecretLines {
			n = 0
		}
	}
	if n == 0 && len(f.carry) > maxMatched {
		return len(f.carry) - incomplete(f.carry)
	}
	return n
}

// maxSecretLines bounds the lines of one secret.
const maxSecretLines = 256

// lastEnd is where the last whole line of b ends: after a newline, or after a carriage return, unless a newline follows,
// which would be the end then.
func lastEnd(b []byte) int {
	n := bytes.LastIndexByte(b, '\n') + 1
	for i := len(b) - 2; i >= n; i-- {
		if b[i] == '\r' && b[i+1] != '\n' && b[i+1] != '\r' {
			return i + 1
		}
	}
	return n
}

// cutsSecret reports whether a cut at n would leave a part of a secret of several lines standing.
func (f *Finder) cutsSecret(n, sure int) bool {
	if f.Replace == nil || n == 0 || n == sure {
		return false
	}
	whole := f.Replace(f.carry[:sure])
	before := f.Replace(f.carry[:n])
	return !bytes.HasPrefix(whole, before) || !bytes.Equal(whole[len(before):], f.Replace(f.carry[n:sure]))
}

// match looks at whole lines.
func (f *Finder) match(b []byte) (string, bool) {
	if f.Replace != nil && len(b) > 0 {
		b = f.Replace(b)
	}
	for len(b) > 0 {
		line, rest, _ := bytes.Cut(b, []byte{'\n'})
		b = rest
		line = bytes.TrimRight(line, "\r")
		for more := true; more; {
			var piece []byte
			piece, line, more = bytes.Cut(line, []byte{'\r'})
			if len(piece) == 0 && more {
				continue
			}
			if shown := cleanLine(piece); f.Pattern.Match(shown) {
				return clipLine(string(bytes.ToValidUTF8(shown, []byte("\uFFFD")))), true
			}
		}
	}
	return "", false
}

// clipLine bounds a matching line.
func clipLine(s string) string {
	const more = " […]"
	if len(s) <= session.MaxAwaitLine {
		return s
	}
	return session.CutEnd(s, session.MaxAwaitLine-len(more)) + more
}
