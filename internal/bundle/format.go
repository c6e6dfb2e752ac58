package bundle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/perdure/perdure/store"
)

// Version is the number of the format that this version writes, and the newest that it reads.
const Version = 1

// Format is the name that the header has.
const Format = "perdure.bundle"

// preface begins every bundle: a name for people and file(1), then the version as one byte.
const preface = "perdure-bundle\n"

// The types of frames, in the order in which they may come.
const (
	typeHeader = 1
	typeLog    = 2
	typeEvents = 3
	typeFile   = 4
	typeData   = 5 // of the file or the blob before it
	typeTree   = 6
	typeBlob   = 7
	typeEnd    = 8
)

// How a frame's payload is stored.
const (
	storedRaw  = 0
	storedZstd = 1
)

// Sizes of frames, in bytes.
const (
	headerSize = 16        // of a frame: type, encoding, two zeros, raw length, stored length, checksum
	frameSize  = 1 << 20   // of raw bytes, as the writer aims at
	maxFrame   = 128 << 20 // of raw bytes: one event, or one tree object, is never parted
	largeFrame = 16 << 20  // of raw bytes: memory is tidied before one
	maxJSON    = 1 << 20   // of the frames that are JSON
	endSize    = 8 + 32    // frames before it, digest of all bytes before it
)

var (
	// ErrFormat tells that something is no bundle, or not one any more: it was cut, changed or put together wrongly.
	ErrFormat = errors.New("not a sound bundle")
	// ErrNewer tells that a bundle was written by a newer version.
	ErrNewer = errors.New("bundle was written by a newer version")
	// ErrTooLarge tells that a bundle holds more than the reader takes.
	ErrTooLarge = errors.New("bundle holds more than is taken")
)

func unsound(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

// castagnoli is the table of the frames' checksums. It is made when the first one is needed.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// Header says what a bundle holds. All numbers are exact, and checked.
type Header struct {
	Format  string     `json:"format"`
	Version int        `json:"version"`
	Program string     `json:"program,omitempty"` // that wrote it
	Written int64      `json:"written"`           // ms UTC
	Session string     `json:"session"`
	Head    store.Head `json:"head"`  // of the session's log
	Epoch   int64      `json:"epoch"` // of its newest holder
	Title   string     `json:"title,omitempty"`
	// Root is the directory that the session belonged to, Cwd where its commands ran.
	Root string `json:"root,omitempty"`
	Cwd  string `json:"cwd,omitempty"`
	// Rewritten: secrets were replaced in its events, whose hashes are therefore others than the original's.
	Rewritten bool `json:"rewritten,omitempty"`
	// Ignored: files that git ignores are in it like others; else only their names are.
	Ignored bool `json:"ignored,omitempty"`
	// Move is the word of the move that it was written for: the home that has this word is the one that it comes from.
	Move string `json:"move,omitempty"`
	Counts
}

// Counts are what a bundle holds, in numbers and bytes.
type Counts struct {
	Logs       int64 `json:"logs"`
	Events     int64 `json:"events"`
	EventBytes int64 `json:"event_bytes"` // of their bodies
	Files      int64 `json:"files"`
	FileBytes  int64 `json:"file_bytes"`
	Trees      int64 `json:"trees"`
	TreeBytes  int64 `json:"tree_bytes"`
	Blobs      int64 `json:"blobs"`
	BlobBytes  int64 `json:"blob_bytes"`
}

// Bytes are all of them.
func (c Counts) Bytes() int64 { return c.EventBytes + c.FileBytes + c.TreeBytes + c.BlobBytes }

// Log is one session's log, or what of it a fork inherits.
type Log struct {
	Session string          `json:"session"`
	Parent  *store.Position `json:"parent,omitempty"` // where it was forked: the end of the log before it
	Head    store.Head      `json:"head"`             // its last event here
	Bytes   int64           `json:"bytes"`            // of its events' bodies
}

// Base is the hash that the first event follows.
func (l Log) Base() store.Digest {
	if l.Parent == nil {
		return store.Digest{}
	}
	return l.Parent.Hash
}

// File is one that a home keeps for a session.
type File struct {
	Session string       `json:"session"`
	Kind    FileKind     `json:"kind"`
	Name    string       `json:"name"`             // one element of a path; of a task: the act
	Offset  int64        `json:"offset,omitempty"` // of a task's output: position of the first byte
	Size    int64        `json:"size"`
	Digest  store.Digest `json:"digest"`
}

// FileKind says what a file is.
type FileKind string

// The kinds of files.
const (
	FileOutput FileKind = "output" // an output that a tool result only quotes
	FileTask   FileKind = "task"   // the end of a task's output
)

// Blob is content of any size.
type Blob struct {
	Digest store.Digest
	Size   int64
}

// appendEventHead encodes an event but for its body, which follows: its length, then its fields.
func appendEventHead(b []byte, e store.Event) []byte {
	var f []byte
	text := func(s string) {
		f = binary.AppendUvarint(f, uint64(len(s)))
		f = append(f, s...)
	}
	f = binary.AppendUvarint(f, uint64(e.Seq))
	text(string(e.Kind))
	f = binary.AppendVarint(f, e.Time)
	f = append(f, byte(e.Flags), e.Codec)
	text(string(e.Actor.Type))
	text(e.Actor.ID)
	f = append(f, e.Digest[:]...)
	f = append(f, e.Hash[:]...)
	if e.Body == nil {
		f = append(f, 0)
	} else {
		f = append(f, 1)
	}
	b = binary.AppendUvarint(b, uint64(len(f)+len(e.Body)))
	return append(b, f...)
}

// fields reads what appendEvent wrote. After a fault it gives zeros and is bad.
type fields struct {
	rest []byte
	bad  bool
}

func (r *fields) take(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.bad, n = true, 0
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

func (r *fields) byte() byte {
	if b := r.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (r *fields) unsigned() uint64 {
	n, w := binary.Uvarint(r.rest)
	if w <= 0 {
		r.bad, w, n = true, 0, 0
	}
	r.rest = r.rest[w:]
	return n
}

func (r *fields) signed() int64 {
	n, w := binary.Varint(r.rest)
	if w <= 0 {
		r.bad, w, n = true, 0, 0
	}
	r.rest = r.rest[w:]
	return n
}

func (r *fields) digest() (d store.Digest) {
	copy(d[:], r.take(uint64(len(d))))
	return d
}

// event takes one event. Its body is a part of the bytes that it was read from.
func (r *fields) event() (e store.Event, ok bool) {
	f := fields{rest: r.take(r.unsigned())}
	if r.bad {
		return e, false
	}
	e.Seq = int64(f.unsigned())
	e.Kind = store.Kind(f.take(f.unsigned()))
	e.Time = f.signed()
	e.Flags = store.Flags(f.byte())
	e.Codec = f.byte()
	e.Actor.Type = store.ActorType(f.take(f.unsigned()))
	e.Actor.ID = string(f.take(f.unsigned()))
	e.Digest, e.Hash = f.digest(), f.digest()
	switch f.byte() {
	case 0:
		f.bad = f.bad || len(f.rest) > 0
	case 1:
		e.Body = f.rest
	default:
		f.bad = true
	}
	return e, !f.bad
}
