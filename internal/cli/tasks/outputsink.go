package tasks

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/command"
	safe "github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/view"
)

// outputSink takes a task's output, in order.
type outputSink interface {
	write(b []byte, offset int64) error
	gap(n int64) error              // bytes that are no longer kept, in this place
	missing(st command.State) error // from some offset on output may be missing
	close() error
}

func newOutputSink(a *app.App, t view.Task, opt *outputOptions) outputSink {
	switch {
	case opt.json:
		return &jsonSink{app: a, task: t}
	case opt.raw:
		return &textSink{out: a.Stdout, gaps: a.Stderr, notes: a.Stderr}
	case a.Screen:
		w := safe.NewWriter(a.Stdout)
		return &textSink{out: w, gaps: w, notes: a.Stderr, done: w.Close}
	}
	return &textSink{out: a.Stdout, gaps: a.Stdout, notes: a.Stderr}
}

// textSink writes the bytes. Gaps are told in lines of their own.
type textSink struct {
	out, gaps, notes io.Writer
	done             func() error
	midline          bool // the byte written last was no newline
}

func (s *textSink) write(b []byte, _ int64) error {
	_, err := s.out.Write(b)
	s.midline = b[len(b)-1] != '\n'
	return err
}

func (s *textSink) gap(n int64) error {
	text := fmt.Sprintf("[%d bytes omitted]\n", n)
	if s.gaps == s.out && s.midline {
		text = "\n" + text
		s.midline = false
	}
	_, err := io.WriteString(s.gaps, text)
	return err
}

// missing is told beside the output, not in it: nobody knows where it would have been.
func (s *textSink) missing(st command.State) error {
	for _, text := range st.MissingText() {
		if _, err := fmt.Fprintf(s.notes, "perdure: %s\n", text); err != nil {
			return err
		}
	}
	return nil
}

func (s *textSink) close() error {
	if s.done == nil {
		return nil
	}
	return s.done()
}

// jsonSink writes a line for each piece.
type jsonSink struct {
	app     *app.App
	task    view.Task
	omitted int64
}

type outputLine struct {
	Session string  `json:"session_id"`
	Task    string  `json:"id"`
	Offset  int64   `json:"offset"`  // of the first byte
	Omitted int64   `json:"omitted"` // bytes before it that are no longer kept
	Text    *string `json:"text,omitempty"`
	Base64  []byte  `json:"base64,omitempty"`        // instead, where it is no UTF-8
	Missing *int64  `json:"missing_after,omitempty"` // from this offset on output may be missing; a line of its own
}

func (s *jsonSink) write(b []byte, offset int64) error {
	l := outputLine{Session: s.task.SessionID, Task: s.task.ID, Offset: offset, Omitted: s.omitted}
	s.omitted = 0
	if text := string(b); utf8.ValidString(text) {
		l.Text = &text
	} else {
		l.Base64 = b
	}
	return s.app.JSON(l)
}

func (s *jsonSink) gap(n int64) error {
	s.omitted += n
	return nil
}

func (s *jsonSink) missing(st command.State) error {
	return s.app.JSON(outputLine{Session: s.task.SessionID, Task: s.task.ID, Offset: st.Output, Missing: st.MissingAfter})
}

func (s *jsonSink) close() error {
	if s.omitted == 0 {
		return nil
	}
	empty := ""
	return s.app.JSON(outputLine{Session: s.task.SessionID, Task: s.task.ID, Offset: s.task.Output, Omitted: s.omitted, Text: &empty})
}

// maxFiltered bounds a line that is looked at as a whole, in bytes. Of a longer one the pieces are.
const maxFiltered = 1 << 20

// lineFilter hands on the lines that match. Gaps are handed on all.
type lineFilter struct {
	match *regexp.Regexp
	sink  outputSink
	carry []byte // a line whose end has not come
	at    int64  // its offset
}

func (f *lineFilter) write(b []byte, at, gap int64) error {
	if gap > 0 {
		if err := f.flush(); err != nil {
			return err
		}
		if err := f.sink.gap(gap); err != nil {
			return err
		}
	}
	if len(f.carry) == 0 {
		f.at = at
	}
	f.carry = append(f.carry, b...)
	rest := f.carry
	for {
		n := bytes.IndexByte(rest, '\n') + 1
		if n == 0 && len(rest) > maxFiltered {
			n = maxFiltered
		}
		if n == 0 {
			break
		}
		if err := f.line(rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	f.carry = append(f.carry[:0], rest...)
	return nil
}

func (f *lineFilter) line(b []byte) error {
	at := f.at
	f.at += int64(len(b))
	if !f.match.Match(bytes.TrimRight(b, "\r\n")) {
		return nil
	}
	return f.sink.write(b, at)
}

// flush takes what is left as a line.
func (f *lineFilter) flush() error {
	if len(f.carry) == 0 {
		return nil
	}
	err := f.line(f.carry)
	f.carry = f.carry[:0]
	return err
}
