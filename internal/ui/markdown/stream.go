package markdown

import "strings"

// Stream is a text that grows, as lines. It is used from one goroutine.
type Stream struct {
	r      *Renderer
	width  int
	source strings.Builder
	rest   reader
	m      machine
	lines  []string // those that are settled, and the others behind them
	stale  bool     // the others are not of now
	closed bool
}

// NewStream is a stream without text.
func NewStream(r *Renderer, width int) *Stream {
	s := &Stream{r: r, width: max(width, 1)}
	s.again()
	return s
}

// Add takes the next piece of the text. After Close it does nothing.
func (s *Stream) Add(text string) {
	if s.closed || text == "" {
		return
	}
	s.source.WriteString(text)
	s.take(text)
}

func (s *Stream) take(text string) {
	s.rest.add(text)
	for l, ok := s.rest.next(); ok; l, ok = s.rest.next() {
		s.m.feed(l)
	}
	s.settle()
	s.stale = true
}

// settle moves what the machine has let go of to the lines.
func (s *Stream) settle() {
	s.lines = append(s.lines[:s.m.before], s.m.out...)
	s.m.before += len(s.m.out)
	s.m.out = s.m.out[:0]
}

// SetWidth changes the width. All is drawn anew then, which takes time in proportion to the text.
func (s *Stream) SetWidth(width int) {
	if width = max(width, 1); width != s.width {
		s.width = width
		s.again()
	}
}

func (s *Stream) again() {
	s.m, s.rest, s.lines = machine{r: s.r, width: s.width}, reader{}, nil
	s.take(s.source.String())
	if s.closed {
		s.end()
	}
}

func (s *Stream) end() {
	s.m.end(s.rest.last())
	s.rest = reader{}
	s.settle()
	s.stale = false
}

// Lines are the lines of what has come. They hold until the next call of a method; whoever keeps them copies them.
func (s *Stream) Lines() []string {
	if s.stale {
		tail := s.m.clone()
		tail.end(s.rest.last())
		s.lines = append(s.lines[:s.m.before], tail.out...)
		s.stale = false
	}
	return s.lines
}

// Settled is how many of the lines stay as they are at this width, whatever follows.
func (s *Stream) Settled() int { return s.m.before }

// Text is all that has come, as it came.
func (s *Stream) Text() string { return s.source.String() }

// Close says that no more text comes. All lines are settled then. A second call does nothing.
func (s *Stream) Close() {
	if !s.closed {
		s.closed = true
		s.end()
	}
}
