package tools

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// maxLineChars is how much of a line is shown.
const maxLineChars = 2000

// view is the part of a text file that is shown: numbered lines, as cat -n prints them.
type view struct {
	first, limit int64 // lines, from 1

	env     Env // whose secrets are hidden
	out     strings.Builder
	lines   int64 // in the file
	last    int64 // shown
	size    int64 // bytes
	invalid int64 // shown lines that are not UTF-8
	full    bool  // the bound of text was met
	partial bool  // the file's end was not seen
}

// scan reads to the end, so that the file is digested and its lines are counted.
func (v *view) scan(src *bufio.Reader) error {
	var line []byte
	var rest int64 // bytes of the line that are not in it
	for {
		piece, err := src.ReadSlice('\n')
		v.size += int64(len(piece))
		if room := maxLineChars*utf8.UTFMax + 1 - len(line); v.wants() && room > 0 {
			line = append(line, piece[:min(room, len(piece))]...)
			rest += int64(len(piece) - min(room, len(piece)))
		} else {
			rest += int64(len(piece))
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && err != io.EOF {
			v.partial = true
			return err
		}
		if len(line) > 0 || rest > 0 {
			v.lines++
			if rest > 0 && err == nil {
				rest-- // the newline is no part of what is left out
			}
			v.show(line, rest)
			line, rest = line[:0], 0
		}
		if err == io.EOF {
			return nil
		}
	}
}

// wants reports whether the line after those counted is to be shown.
func (v *view) wants() bool {
	n := v.lines + 1
	return !v.full && n >= v.first && n-v.first < v.limit
}

// show adds line number v.lines if it is in the view. rest bytes of it are missing in b.
func (v *view) show(b []byte, rest int64) {
	v.lines--
	wanted := v.wants()
	v.lines++
	if !wanted {
		return
	}
	if v.lines == 1 {
		b = bytes.TrimPrefix(b, []byte(byteOrderMark))
	}
	if rest == 0 {
		b = bytes.TrimSuffix(b, []byte("\n"))
		b = bytes.TrimSuffix(b, []byte("\r"))
	}
	b, torn := v.env.hide(b, rest > 0)
	text, cut := cutChars(b, maxLineChars)
	if !utf8.Valid(text) {
		v.invalid++
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	mark := ""
	if n := int64(cut+torn) + rest; n > 0 {
		mark = fmt.Sprintf("… [line cut: %d more bytes]", n)
	}
	if v.out.Len()+len(text) > maxReadText && v.out.Len() > 0 {
		v.full = true
		return
	}
	fmt.Fprintf(&v.out, "%6d\t%s%s\n", v.lines, text, mark)
	v.last = v.lines
}

// hide replaces known secrets in a text before it is shortened. Of one that is cut already, what may be the beginning of
// a secret is left out too; torn is how many bytes that were.
func (env Env) hide(b []byte, cut bool) (shown []byte, torn int) {
	if env.Replace == nil {
		return b, 0
	}
	if cut && env.Partial != nil {
		torn = env.Partial(b)
	}
	return env.Replace(b[:len(b)-torn]), torn
}

// cutChars gives at most n characters of b and how many bytes are left out.
func cutChars(b []byte, n int) (kept []byte, cut int) {
	i := 0
	for range n {
		if i >= len(b) {
			break
		}
		_, w := utf8.DecodeRune(b[i:])
		i += w
	}
	return b[:i], len(b) - i
}

// byteOrderMark starts some UTF-8 files; models are not shown it, and edits keep it.
const byteOrderMark = "\xef\xbb\xbf"

// result is the shown text with what is to be known about it.
func (v *view) result(path string) Result {
	switch {
	case v.size == 0 && !v.partial:
		return success("(%s is empty)", path)
	case v.last == 0:
		return failure("%s has %d lines; offset %d is past its end", path, v.lines, v.first)
	}
	text := strings.TrimSuffix(v.out.String(), "\n")
	if v.invalid > 0 {
		what := "lines are"
		if v.invalid == 1 {
			what = "line is"
		}
		text += fmt.Sprintf("\n[%d %s not valid UTF-8; what is not is shown as \uFFFD]", v.invalid, what)
	}
	switch {
	case v.partial:
		text += fmt.Sprintf("\n[lines %d to %d; the file is too large to be looked at whole, so it can't be edited]", v.first, v.last)
	case v.last < v.lines:
		text += fmt.Sprintf("\n[lines %d to %d of %d; continue with offset %d]", v.first, v.last, v.lines, v.last+1)
	}
	return success("%s", text)
}
