package bundle

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/blake3"

	"github.com/perdure/perdure/store"
)

// Sink takes what a bundle holds, in its order. An error ends the reading. What it is handed is unproven until Read has
// returned. A nil function takes nothing: what is for it is checked all the same.
type Sink struct {
	Header func(Header) error
	Log    func(Log) error
	Event  func(store.Event) error // of the newest log; chained and verified. Its body is the caller's
	File   func(f File, content io.Reader) error
	Tree   func(d store.Digest, object []byte) error
	Blob   func(b Blob, content io.Reader) error
}

// Limits bound what is taken, in bytes of content and in numbers. Zero fields are the usual bounds.
type Limits struct {
	Bytes int64 // 64 GiB
	Files int64 // 100,000; names are held
	Logs  int64 // 1,000
}

// Usual are the limits with the usual bounds in the place of zeros.
func (l Limits) Usual() Limits {
	for field, usual := range map[*int64]int64{&l.Bytes: 64 << 30, &l.Files: 100_000, &l.Logs: 1000} {
		if *field <= 0 {
			*field = usual
		}
	}
	return l
}

// Read reads a bundle to its end and checks all of it: every frame, every event's place in its chain, every content
// against its digest, every count. It returns the header. Errors: ErrFormat, ErrNewer, ErrTooLarge, those of the source and
// of the sink.
func Read(from io.Reader, limits Limits, to Sink) (Header, error) {
	zip, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxFrame), zstd.WithDecoderLowmem(true))
	if err != nil {
		return Header{}, err
	}
	defer zip.Close()
	r := &reader{from: from, sum: blake3.New(), zip: zip, limits: limits.Usual(), to: to, names: map[[3]string]bool{}}
	err = r.all()
	return r.header, err
}

// reader reads one bundle.
type reader struct {
	from   io.Reader
	sum    *blake3.Hasher // of all bytes so far, but for the end frame
	zip    *zstd.Decoder
	limits Limits
	to     Sink

	header Header
	have   Counts
	frames uint64
	stage  byte // type of the newest frame that is no data
	log    Log
	head   store.Head // of the newest log, as read
	bytes  int64      // of it
	ids    []string
	names  map[[3]string]bool
	stored []byte // of the newest frame
}

// frame is one, unpacked. Its bytes are good until the next.
type frame struct {
	typ byte
	raw []byte
}

func (r *reader) all() error {
	if err := r.begin(); err != nil {
		return err
	}
	for {
		f, err := r.next()
		if err != nil {
			return err
		}
		if f.typ < r.stage && !(f.typ == typeLog && r.stage == typeEvents) || f.typ == typeData {
			return unsound("a frame of type %d after one of type %d", f.typ, r.stage)
		}
		r.stage = f.typ
		if f.typ == typeEnd {
			return r.end(f)
		}
		if err := r.one(f); err != nil {
			return err
		}
	}
}

func (r *reader) one(f frame) error {
	if f.typ > typeEvents {
		if err := r.endLogs(); err != nil {
			return err
		}
	}
	switch f.typ {
	case typeLog:
		return r.beginLog(f)
	case typeEvents:
		return r.events(f)
	case typeFile:
		return r.file(f)
	case typeTree:
		return r.tree(f)
	case typeBlob:
		return r.blob(f)
	}
	return unsound("a second header")
}

// begin reads preface and header.
func (r *reader) begin() error {
	b := make([]byte, len(preface)+1)
	if _, err := io.ReadFull(r.from, b); err != nil {
		return cutOff(err)
	}
	if string(b[:len(preface)]) != preface {
		return unsound("it does not begin like one")
	}
	if v := b[len(preface)]; v != Version {
		return fmt.Errorf("%w: format %d, this version knows %d", ErrNewer, v, Version)
	}
	_, _ = r.sum.Write(b)
	f, err := r.next()
	if err != nil {
		return err
	}
	if f.typ != typeHeader {
		return unsound("no header")
	}
	r.stage = typeHeader
	if err := decode(f.raw, &r.header); err != nil {
		return err
	}
	if err := r.checkHeader(); err != nil || r.to.Header == nil {
		return err
	}
	return r.to.Header(r.header)
}

func (r *reader) checkHeader() error {
	h := r.header
	if h.Format != Format || h.Version != Version {
		return unsound("its header is of %q, version %d", h.Format, h.Version)
	}
	for _, n := range []int64{h.Events, h.EventBytes, h.FileBytes, h.Trees, h.TreeBytes, h.Blobs, h.BlobBytes, h.Files, h.Logs, h.Epoch} {
		if n < 0 || n > 1<<56 {
			return unsound("its header counts %d", n)
		}
	}
	if h.Move != "" && !Word(h.Move) {
		return unsound("the word %.64q of a move", h.Move)
	}
	if h.Bytes() > r.limits.Bytes || h.Files > r.limits.Files || h.Logs > r.limits.Logs {
		return fmt.Errorf("%w: %d bytes, %d files, %d logs; at most %d, %d, %d", ErrTooLarge, h.Bytes(), h.Files, h.Logs, r.limits.Bytes, r.limits.Files, r.limits.Logs)
	}
	return nil
}

// Word reports whether a text is the word of a move: 32 lower-case hexadecimal digits.
func Word(text string) bool {
	return len(text) == 32 && strings.Trim(text, "0123456789abcdef") == ""
}

// beginLog begins a log, where the one before it ends.
func (r *reader) beginLog(f frame) error {
	before := r.log
	if err := r.endLog(); err != nil {
		return err
	}
	r.log = Log{}
	if err := decode(f.raw, &r.log); err != nil {
		return err
	}
	l := r.log
	if store.CheckID(l.Session) != nil {
		return unsound("the session id %q", l.Session)
	}
	for _, id := range r.ids {
		if id == l.Session {
			return unsound("two logs of %s", id)
		}
	}
	follows := before.Session == "" && l.Parent == nil ||
		l.Parent != nil && *l.Parent == store.Position{Session: before.Session, Seq: before.Head.Seq, Hash: before.Head.Hash}
	if !follows {
		return unsound("the log of %s does not begin where that before it ends", l.Session)
	}
	r.ids = append(r.ids, l.Session)
	r.head, r.bytes = store.Head{Hash: l.Base()}, 0
	if r.have.Logs++; r.have.Logs > r.header.Logs {
		return unsound("more logs than announced")
	}
	if r.to.Log == nil {
		return nil
	}
	return r.to.Log(l)
}

// endLog checks that a log is whole.
func (r *reader) endLog() error {
	if r.log.Session != "" && (r.head != r.log.Head || r.bytes != r.log.Bytes) {
		return unsound("the log of %s does not end as announced", r.log.Session)
	}
	return nil
}

// endLogs checks that the last log is the session's.
func (r *reader) endLogs() error {
	if err := r.endLog(); err != nil {
		return err
	}
	if r.log.Session != r.header.Session || r.log.Head != r.header.Head {
		return unsound("the last log is not that of the session")
	}
	return nil
}

func (r *reader) events(f frame) error {
	if r.log.Session == "" {
		return unsound("events without a log")
	}
	raw := fields{rest: r.own(f)}
	for len(raw.rest) > 0 {
		e, ok := raw.event()
		if !ok {
			return unsound("an event after %d of %s cannot be read", r.head.Seq, r.log.Session)
		}
		if e.Seq != r.head.Seq+1 {
			return unsound("event %d of %s follows %d", e.Seq, r.log.Session, r.head.Seq)
		}
		if err := store.Verify(r.head.Hash, r.log.Session, e); err != nil {
			return unsound("%s: %s", r.log.Session, err)
		}
		r.head, r.bytes = store.Head{Seq: e.Seq, Hash: e.Hash}, r.bytes+int64(len(e.Body))
		r.have.Events++
		r.have.EventBytes += int64(len(e.Body))
		if r.have.Events > r.header.Events || r.have.EventBytes > r.header.EventBytes {
			return unsound("more events than announced")
		}
		if r.to.Event != nil {
			if err := r.to.Event(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *reader) file(f frame) error {
	var file File
	if err := decode(f.raw, &file); err != nil {
		return err
	}
	if err := r.checkFile(file); err != nil {
		return err
	}
	r.have.Files++
	r.have.FileBytes += file.Size
	if r.have.Files > r.header.Files || r.have.FileBytes > r.header.FileBytes {
		return unsound("more files than announced")
	}
	var take func(io.Reader) error
	if r.to.File != nil {
		take = func(content io.Reader) error { return r.to.File(file, content) }
	}
	return r.content(file.Name, file.Size, file.Digest, take)
}

func (r *reader) checkFile(f File) error {
	known := false
	for _, id := range r.ids {
		known = known || id == f.Session
	}
	key := [3]string{f.Session, string(f.Kind), f.Name}
	switch {
	case !known:
		return unsound("a file of %q, whose log is not in it", f.Session)
	case f.Kind != FileOutput && f.Kind != FileTask:
		return unsound("a file of kind %q", f.Kind)
	case !PlainName(f.Name):
		return unsound("a file named %q", f.Name)
	case f.Size < 0 || f.Offset < 0 || f.Offset > 0 && f.Kind != FileTask:
		return unsound("file %q has %d bytes from %d on", f.Name, f.Size, f.Offset)
	case r.names[key]:
		return unsound("two files named %q", f.Name)
	}
	r.names[key] = true
	return nil
}

// PlainName reports whether a name is one harmless element of a path on every system: at most 200 letters, digits, dots,
// dashes and underscores of ASCII, beginning with a letter or a digit.
func PlainName(name string) bool {
	if name == "" || len(name) > 200 || strings.ContainsRune("._-", rune(name[0])) {
		return false
	}
	return !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._-", c)
	})
}

func (r *reader) tree(f frame) error {
	if len(f.raw) < len(store.Digest{}) {
		return unsound("a tree of %d bytes", len(f.raw))
	}
	d := store.Digest(f.raw[:32])
	object := bytes.Clone(f.raw[32:])
	if store.Sum(object) != d {
		return unsound("a tree does not match its digest")
	}
	r.have.Trees++
	r.have.TreeBytes += int64(len(object))
	if r.have.Trees > r.header.Trees || r.have.TreeBytes > r.header.TreeBytes {
		return unsound("more trees than announced")
	}
	if r.to.Tree == nil {
		return nil
	}
	return r.to.Tree(d, object)
}

func (r *reader) blob(f frame) error {
	if len(f.raw) != 40 {
		return unsound("a blob's description of %d bytes", len(f.raw))
	}
	b := Blob{Digest: store.Digest(f.raw[:32]), Size: int64(binary.BigEndian.Uint64(f.raw[32:]))}
	r.have.Blobs++
	if b.Size < 0 || b.Size > r.header.BlobBytes-r.have.BlobBytes || r.have.Blobs > r.header.Blobs {
		return unsound("more blobs than announced")
	}
	r.have.BlobBytes += b.Size
	var take func(io.Reader) error
	if r.to.Blob != nil {
		take = func(content io.Reader) error { return r.to.Blob(b, content) }
	}
	return r.content("a blob", b.Size, b.Digest, take)
}

// end checks the end frame: it counts the frames before it and has the digest of all bytes before it.
func (r *reader) end(f frame) error {
	if err := r.endLogs(); err != nil {
		return err
	}
	if r.have != r.header.Counts {
		return unsound("it holds %+v: announced are %+v", r.have, r.header.Counts)
	}
	if len(f.raw) != endSize || binary.BigEndian.Uint64(f.raw) != r.frames-1 || !bytes.Equal(f.raw[8:], r.sum.Sum(nil)) {
		return unsound("its end does not match what is before it")
	}
	switch n, err := io.ReadFull(r.from, make([]byte, 1)); {
	case n > 0:
		return unsound("something follows its end")
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}

func decode(raw []byte, v any) error {
	if len(raw) > maxJSON {
		return unsound("a description of %d bytes", len(raw))
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return unsound("a description cannot be read: %s", err)
	}
	return nil
}

// cutOff is the error about a source that ended too early.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return unsound("it is cut off")
	}
	return err
}
