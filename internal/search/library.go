package search

import (
	"context"
	"errors"
	"iter"
)

// What is searched.
const (
	Sessions = "sessions"
	Memory   = "memory"
	Journal  = "journal"
	Handoffs = "handoffs"
)

// Kinds are all of them.
func Kinds() []string { return []string{Sessions, Memory, Journal, Handoffs} }

// Source is something with texts in an order: a session's log, or a file.
type Source struct {
	Kind    string
	Name    string // a session's id, or the path of a file; one of its kind
	Title   string // what it is known by
	Cwd     string // the directory that it is about; empty: none
	Updated int64  // ms UTC
	Seq     int64  // of its newest text
	// Hash commits to all texts up to Seq. For a file it is a mark of what it holds.
	Hash string
}

// Text is one text of a source.
type Text struct {
	Seq   int64
	Hash  string // commits to all texts of its source up to this one; empty for files
	Turn  int64  // 0: none
	Place string // in a word: message, reply, result, entry, day …
	Title string // what it is known by, where that is not what its source is known by
	Time  int64  // ms UTC
	Text  string // empty: there are no words here
}

// Mark is how far a source has been read. State is the library's own.
type Mark struct{ Seq, State int64 }

// ErrGone says that a source, or a text of it, is not there any more.
var ErrGone = errors.New("it is not there any more")

// Library gives what there is to search. What it gives is bounded: a text has at most a few hundred kilobytes.
type Library interface {
	// Sources are all that there are, those that changed last first.
	Sources(ctx context.Context) iter.Seq2[Source, error]
	// Texts are those of a source after a mark, in order, with the marks after each. It ends with its first error.
	Texts(ctx context.Context, s Source, after Mark) iter.Seq2[MarkedText, error]
	// HashAt is the hash of a session's text at a seq. Errors: ErrGone.
	HashAt(ctx context.Context, s Source, seq int64) (string, error)
}

// MarkedText is a text, and the mark after it.
type MarkedText struct {
	Text
	State int64
}
