// Package sse reads server-sent events, as model APIs stream their replies.
//
// A [Reader] gives one event after the other. Comments, ids and retry hints are skipped; an event without data is
// skipped too. Lines end with LF, CR LF or CR. An event that the stream's end leaves without its blank line is still
// given when its last line was complete, because some servers forget the blank line after the last event; a line
// that was cut is never given.
//
// A line and an event are bounded by [MaxEvent] bytes, so that a broken server can't fill the memory.
package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxEvent bounds a line, and the data of one event, in bytes.
const MaxEvent = 32 << 20

const firstBuffer = 16 << 10

// ErrTooLong says that a line or an event is longer than the bound.
var ErrTooLong = errors.New("event is too long")

// Event is one event of a stream.
type Event struct {
	Name string // the event field, often empty
	Data []byte // the data fields joined by LF; the caller's to keep
}

// Reader reads events from a stream. It is not safe for concurrent use.
type Reader struct {
	src    io.Reader
	max    int
	buf    []byte
	start  int // of the unread bytes in buf
	end    int
	skipLF bool // the last line ended with CR: a LF that follows belongs to it
	begun  bool // a line was read: no byte order mark any more
	err    error
}

// NewReader reads from src.
func NewReader(src io.Reader) *Reader { return &Reader{src: src, max: MaxEvent} }

// Next returns the next event. The end of the stream is io.EOF; a stream that ends within a line is
// io.ErrUnexpectedEOF; a bound exceeded is ErrTooLong; other errors are the source's.
func (r *Reader) Next() (Event, error) {
	var e Event
	has := false
	for {
		line, err := r.line()
		if errors.Is(err, io.EOF) && has {
			return e, nil
		}
		if err != nil {
			return Event{}, err
		}
		if len(line) == 0 {
			if has {
				return e, nil
			}
			e.Name = ""
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			e.Name = string(value)
		case "data":
			if has {
				e.Data = append(e.Data, '\n')
			}
			if len(e.Data)+len(value) > r.max {
				return Event{}, fmt.Errorf("read event: %w", ErrTooLong)
			}
			e.Data = append(e.Data, value...)
			has = true
		}
	}
}

// line returns the next line without its end; it is valid until the next call.
func (r *Reader) line() ([]byte, error) {
	scanned := 0
	for {
		if r.skipLF && r.start < r.end {
			if r.buf[r.start] == '\n' {
				r.start++
			}
			r.skipLF = false
		}
		if i := bytes.IndexAny(r.buf[r.start+scanned:r.end], "\r\n"); i >= 0 {
			end := r.start + scanned + i
			line := r.buf[r.start:end]
			r.skipLF = r.buf[end] == '\r'
			r.start = end + 1
			if !r.begun {
				r.begun = true
				line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
			}
			return line, nil
		}
		scanned = r.end - r.start
		if scanned > r.max {
			return nil, fmt.Errorf("read line: %w", ErrTooLong)
		}
		if r.err != nil {
			if errors.Is(r.err, io.EOF) && scanned > 0 {
				return nil, io.ErrUnexpectedEOF
			}
			return nil, r.err
		}
		r.fill()
	}
}

// fill reads once more, moving or growing the buffer when it is full.
func (r *Reader) fill() {
	if r.end == len(r.buf) {
		if r.start > 0 {
			r.end = copy(r.buf, r.buf[r.start:r.end])
			r.start = 0
		}
		if r.end == len(r.buf) {
			grown := make([]byte, max(firstBuffer, 2*len(r.buf)))
			copy(grown, r.buf)
			r.buf = grown
		}
	}
	// A source may return nothing without an error, but not for ever.
	for range 100 {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		r.err = err
		if n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}
