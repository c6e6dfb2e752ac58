package bundle_test

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/blake3"

	"github.com/perdure/perdure/internal/bundle"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/store/storetest"
)

// sample is a bundle's content.
type sample struct {
	header bundle.Header
	logs   []bundle.Log
	events [][]store.Event
	files  []bundle.File
	texts  []string // of the files
	trees  [][]byte
	blobs  []string
}

// family is a session that was forked from another one, with a file of each kind, a tree and blobs.
func family() sample {
	parent := storetest.Events("parent", store.Head{}, 3)
	at := store.Position{Session: "parent", Seq: 3, Hash: parent[2].Hash}
	child := storetest.Events("child", store.Head{Hash: at.Hash}, 4)
	child[1].Body = nil // erased
	s := sample{
		logs: []bundle.Log{
			{Session: "parent", Head: store.Head{Seq: 3, Hash: at.Hash}, Bytes: size(parent)},
			{Session: "child", Parent: &at, Head: store.Head{Seq: 4, Hash: child[3].Hash}, Bytes: size(child)},
		},
		events: [][]store.Event{parent, child},
		texts:  []string{"what it printed\n", strings.Repeat("last words\n", 3), ""},
		trees:  [][]byte{[]byte("a tree object"), {}},
		blobs:  []string{"a blob", ""},
	}
	s.files = []bundle.File{
		{Session: "child", Kind: bundle.FileOutput, Name: "t1.s1.b1.a1.out"},
		{Session: "child", Kind: bundle.FileTask, Name: "t1.s1.b2.a1", Offset: 1 << 20},
		{Session: "parent", Kind: bundle.FileOutput, Name: "t1.s1.b1.a1.out"},
	}
	s.header = bundle.Header{
		Format: bundle.Format, Version: bundle.Version, Program: "perdure test", Written: 1764000000000, Session: "child",
		Head: s.logs[1].Head, Epoch: 2, Title: "a title", Root: "/w", Cwd: "/w/sub",
	}
	s.count()
	return s
}

func size(events []store.Event) (n int64) {
	for _, e := range events {
		n += int64(len(e.Body))
	}
	return n
}

// count sets what follows from the content.
func (s *sample) count() {
	c := &s.header.Counts
	*c = bundle.Counts{Logs: int64(len(s.logs)), Files: int64(len(s.files)), Trees: int64(len(s.trees)), Blobs: int64(len(s.blobs))}
	for _, l := range s.events {
		c.Events, c.EventBytes = c.Events+int64(len(l)), c.EventBytes+size(l)
	}
	for i, text := range s.texts {
		s.files[i].Size, s.files[i].Digest = int64(len(text)), store.Sum([]byte(text))
		c.FileBytes += int64(len(text))
	}
	for _, t := range s.trees {
		c.TreeBytes += int64(len(t))
	}
	for _, b := range s.blobs {
		c.BlobBytes += int64(len(b))
	}
}

func each(events []store.Event) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// write writes the content, or fails as the writer does.
func (s sample) write(to io.Writer) error {
	w, err := bundle.NewWriter(to, s.header)
	if err != nil {
		return err
	}
	var errs []error
	for i, l := range s.logs {
		errs = append(errs, w.Log(l, each(s.events[i])))
	}
	for i, f := range s.files {
		errs = append(errs, w.File(f, strings.NewReader(s.texts[i])))
	}
	for _, t := range s.trees {
		errs = append(errs, w.Tree(store.Sum(t), t))
	}
	for _, b := range s.blobs {
		errs = append(errs, w.Blob(bundle.Blob{Digest: store.Sum([]byte(b)), Size: int64(len(b))}, strings.NewReader(b)))
	}
	return errors.Join(append(errs, w.Close())...)
}

func (s sample) bytes(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := s.write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read collects what a bundle holds.
func read(b []byte, limits bundle.Limits) (s sample, err error) {
	s.header, err = bundle.Read(bytes.NewReader(b), limits, bundle.Sink{
		Log: func(l bundle.Log) error {
			s.logs, s.events = append(s.logs, l), append(s.events, nil)
			return nil
		},
		Event: func(e store.Event) error {
			last := len(s.events) - 1
			s.events[last] = append(s.events[last], e)
			return nil
		},
		File: func(f bundle.File, content io.Reader) error {
			b, err := io.ReadAll(content)
			s.files, s.texts = append(s.files, f), append(s.texts, string(b))
			return err
		},
		Tree: func(_ store.Digest, object []byte) error {
			s.trees = append(s.trees, object)
			return nil
		},
		Blob: func(_ bundle.Blob, content io.Reader) error {
			b, err := io.ReadAll(content)
			s.blobs = append(s.blobs, string(b))
			return err
		},
	})
	return s, err
}

// What was written comes back, all of it, the same.
func TestRoundTrip(t *testing.T) {
	want := family()
	got, err := read(want.bytes(t), bundle.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if again := want.bytes(t); !bytes.Equal(again, want.bytes(t)) {
		t.Error("the same content gives other bytes")
	}
}

// A large content, and one event larger than a frame, go through in pieces.
func TestLarge(t *testing.T) {
	s := family()
	s.blobs = []string{strings.Repeat("0123456789abcdef", 300_000), "small"}
	body := bytes.Repeat([]byte("large event "), 200_000)
	last := storetest.Seal("child", s.logs[1].Head, store.Event{Kind: "app", Body: body})
	s.events[1] = append(s.events[1], last)
	s.logs[1].Head, s.logs[1].Bytes = store.Head{Seq: 5, Hash: last.Hash}, size(s.events[1])
	s.header.Head = s.logs[1].Head
	s.count()
	got, err := read(s.bytes(t), bundle.Limits{})
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("it came back as something else: %v", err)
	}
}

// Goal: no bundle that was changed in any one byte, cut anywhere, lengthened or emptied is taken for sound.
func TestDamageIsFound(t *testing.T) {
	good := family().bytes(t)
	refused := func(what string, i int, b []byte) {
		t.Helper()
		if _, err := read(b, bundle.Limits{}); !errors.Is(err, bundle.ErrFormat) && !errors.Is(err, bundle.ErrNewer) {
			t.Fatalf("%s at %d of %d: %v", what, i, len(good), err)
		}
	}
	for i := range good {
		for _, flip := range []byte{1, 0x80, 0xff} {
			b := bytes.Clone(good)
			b[i] ^= flip
			refused("flipped", i, b)
		}
		refused("cut", i, good[:i])
	}
	refused("lengthened", len(good), append(bytes.Clone(good), 0))
	refused("doubled", len(good), append(bytes.Clone(good), good...))
	refused("another file", 0, []byte("PK\x03\x04 this is something else altogether"))
}

// What a sound bundle may not hold, or not in that place, is refused although every checksum is right: who makes a bundle
// can compute those.
func TestForgedIsRefused(t *testing.T) {
	for name, forge := range map[string]func(*sample){
		"another session last":  func(s *sample) { s.header.Session = "parent" },
		"a move without a word": func(s *sample) { s.header.Move = "../../../etc/passwd" },
		"a word too many":       func(s *sample) { s.header.Move = strings.Repeat("0f", 17) },
		"another head":          func(s *sample) { s.header.Head.Seq-- },
		"the parent is missing": func(s *sample) {
			s.logs, s.events, s.files, s.texts = s.logs[1:], s.events[1:], s.files[:2], s.texts[:2]
		},
		"forked elsewhere":       func(s *sample) { s.logs[1].Parent.Seq = 2 },
		"two logs of one":        func(s *sample) { s.logs[0].Session = "child" },
		"an id that is a path":   func(s *sample) { s.logs[0].Session = "../parent" },
		"hash of another":        func(s *sample) { s.events[1][2].Hash[0]++ },
		"body of another":        func(s *sample) { s.events[1][2].Body[0]++ },
		"kind of another":        func(s *sample) { s.events[1][0].Kind = "other" },
		"a file that climbs out": func(s *sample) { s.files[0].Name = "../../escaped" },
		"a file with a path":     func(s *sample) { s.files[0].Name = "a/b" },
		"an absolute file":       func(s *sample) { s.files[0].Name = "/etc/passwd" },
		"a hidden file":          func(s *sample) { s.files[0].Name = ".hidden" },
		"a flag of a file":       func(s *sample) { s.files[0].Name = "-rf" },
		"an odd beginning":       func(s *sample) { s.files[0].Name = "_a" },
		"a file with a NUL":      func(s *sample) { s.files[0].Name = "a\x00b" },
		"no name":                func(s *sample) { s.files[0].Name = "" },
		"a long name":            func(s *sample) { s.files[0].Name = strings.Repeat("a", 201) },
		"another kind of file":   func(s *sample) { s.files[0].Kind = "program" },
		"a stranger's file":      func(s *sample) { s.files[0].Session = "other" },
		"a file twice":           func(s *sample) { s.files[2], s.texts[2] = s.files[0], s.texts[0] },
		"an offset of an output": func(s *sample) { s.files[0].Offset = 1 },
		"a negative offset":      func(s *sample) { s.files[1].Offset = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			s := family()
			forge(&s)
			s.recount()
			var b bytes.Buffer
			if err := s.write(&b); err != nil {
				t.Fatal(err)
			}
			if got, err := read(b.Bytes(), bundle.Limits{}); !errors.Is(err, bundle.ErrFormat) {
				t.Errorf("%v: %+v", err, got)
			}
		})
	}
}

// recount sets the header's numbers to what the content says, whatever that is.
func (s *sample) recount() {
	c := s.header.Counts
	c.Logs, c.Files, c.Events, c.EventBytes, c.FileBytes = int64(len(s.logs)), int64(len(s.files)), 0, 0, 0
	for _, l := range s.events {
		c.Events, c.EventBytes = c.Events+int64(len(l)), c.EventBytes+size(l)
	}
	for _, f := range s.files {
		c.FileBytes += f.Size
	}
	s.header.Counts = c
}

// zeros is an endless content without a word in it.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// Goal: a small bundle that unfolds into much is stopped at the limit, before it is unpacked when it is honest about its
// size, and with flat memory when it is not.
func TestBombIsStopped(t *testing.T) {
	const large = 256 << 20
	s := family()
	s.blobs = nil
	s.count()
	s.header.Blobs, s.header.BlobBytes = 1, large
	var b bytes.Buffer
	w, err := bundle.NewWriter(&b, s.header)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range s.logs {
		err = errors.Join(err, w.Log(l, each(s.events[i])))
	}
	for i, f := range s.files {
		err = errors.Join(err, w.File(f, strings.NewReader(s.texts[i])))
	}
	for _, tree := range s.trees {
		err = errors.Join(err, w.Tree(store.Sum(tree), tree))
	}
	sum := blake3.New()
	_, _ = io.CopyN(sum, zeros{}, large)
	err = errors.Join(err, w.Blob(bundle.Blob{Digest: store.Digest(sum.Sum(nil)), Size: large}, zeros{}), w.Close())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes unfold into %d", b.Len(), large)
	if b.Len() > large/1000 {
		t.Fatalf("it is no bomb: %d bytes", b.Len())
	}
	if _, err := read(b.Bytes(), bundle.Limits{Bytes: 1 << 20}); !errors.Is(err, bundle.ErrTooLarge) {
		t.Errorf("over the limit: %v", err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	_, err = bundle.Read(bytes.NewReader(b.Bytes()), bundle.Limits{}, bundle.Sink{})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Errorf("within the limit: %v", err)
	}
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 64<<20 {
		t.Errorf("reading it took %d MiB", grown>>20)
	}
}

// A writer that is handed something else than it announced makes no bundle.
func TestWriterKeepsItsWord(t *testing.T) {
	for name, change := range map[string]func(*sample){
		"fewer events": func(s *sample) { s.events[1] = s.events[1][:3] },
		"a gap":        func(s *sample) { s.events[1] = slices.Delete(s.events[1], 1, 2) },
		"a short file": func(s *sample) { s.texts[0] = s.texts[0][:3] },
		"fewer trees":  func(s *sample) { s.trees = s.trees[1:] },
		"other words":  func(s *sample) { s.texts[0] = strings.ToUpper(s.texts[0]) },
		"another size": func(s *sample) { s.header.BlobBytes++ },
	} {
		s := family()
		change(&s)
		var b bytes.Buffer
		if err := s.write(&b); err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, err := read(b.Bytes(), bundle.Limits{}); err == nil {
			t.Errorf("%s: what was written is taken for sound", name)
		}
	}
}

// Bundles of every version are read for ever: this one was written by the first.
func TestFrozenBundle(t *testing.T) {
	path := filepath.Join("testdata", "v1.perdure")
	if *freeze {
		if err := os.WriteFile(path, family().bytes(t), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := read(b, bundle.Limits{})
	if err != nil || !reflect.DeepEqual(got, family()) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, family())
	}
}

func FuzzRead(f *testing.F) {
	f.Add(family().bytes(f))
	f.Add([]byte("perdure-bundle\n\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := read(b, bundle.Limits{Bytes: 1 << 20}); err == nil && len(b) == 0 {
			t.Error("nothing is a bundle")
		}
	})
}

// An event that no bundle takes is refused by name when it is written.
func TestAnEventThatIsTooLargeIsNamed(t *testing.T) {
	w, err := bundle.NewWriter(io.Discard, bundle.Header{Session: "s", Counts: bundle.Counts{Logs: 1, Events: 1}})
	if err != nil {
		t.Fatal(err)
	}
	err = w.Log(bundle.Log{Session: "s"}, func(yield func(store.Event, error) bool) {
		yield(store.Event{Seq: 1, Body: make([]byte, 128<<20)}, nil)
	})
	if !errors.Is(err, bundle.ErrTooLarge) || !strings.Contains(err.Error(), "event 1 of s") {
		t.Errorf("%v", err)
	}
	_ = w.Close()
}
