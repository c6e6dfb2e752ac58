// Package forge makes what no program of ours writes: bundles whose digests, hashes and counts are all right and whose
// words are an attacker's. Tests show with them that what is well formed is not trusted.
package forge

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/bundle"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Bundle is what a bundle is to hold.
type Bundle struct {
	ID     string        // of the session; "s" if empty
	Past   []store.Event // of a real log, which the bodies follow
	Bodies []session.Body
	Files  map[bundle.File]string
	Trees  [][]byte
	Blobs  [][]byte
	Large  []Large
	Alter  func(*bundle.Header) // what the header says besides its counts
}

// Large is a blob that is not held: its content is read when it is written.
type Large struct {
	Digest store.Digest
	Size   int64
	Open   func() io.Reader
}

// Opened is the beginning of a log.
func Opened(id string) *session.Opened {
	return &session.Opened{ID: id, Cwd: "/w", Config: session.Config{Root: "/w"}, Agent: session.Agent{Provider: "scripted", Model: "m"}}
}

// Captured says that a tree is what the session's files are.
func Captured(root store.Digest) *session.FilesCaptured {
	return &session.FilesCaptured{Why: session.CaptureNamed, Dir: "/w", Tree: root, Rung: session.RungWalk}
}

// OfTrees is a session whose newest tree is the last of some objects.
func OfTrees(blobs [][]byte, objects ...[]byte) Bundle {
	root := store.Sum(objects[len(objects)-1])
	return Bundle{Bodies: []session.Body{Opened("s"), Captured(root)}, Trees: objects, Blobs: blobs}
}

// Bytes writes it.
func (b Bundle) Bytes(t testing.TB) []byte {
	t.Helper()
	out, err := b.bytes()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Bent writes it as far as the writer lets it: what the header says may be what the writer finds not to be so.
func (b Bundle) Bent(t testing.TB) []byte {
	t.Helper()
	out, err := b.bytes()
	if len(out) == 0 {
		t.Fatal(err)
	}
	return out
}

func (b Bundle) bytes() ([]byte, error) {
	if b.ID == "" {
		b.ID = "s"
	}
	chain, l := session.Chain{Session: b.ID}, bundle.Log{Session: b.ID}
	log := slices.Clone(b.Past)
	for _, e := range log {
		chain.Head, l.Bytes = store.Head{Seq: e.Seq, Hash: e.Hash}, l.Bytes+int64(len(e.Body))
	}
	for _, body := range b.Bodies {
		e, err := chain.Event(store.Actor{Type: store.ActorUser}, 1000, body)
		if err != nil {
			return nil, err
		}
		log, l.Bytes = append(log, e), l.Bytes+int64(len(e.Body))
	}
	l.Head = chain.Head
	var out bytes.Buffer
	w, err := bundle.NewWriter(&out, b.header(l, len(log)))
	if err != nil {
		return nil, err
	}
	err = w.Log(l, func(yield func(store.Event, error) bool) {
		for _, e := range log {
			if !yield(e, nil) {
				return
			}
		}
	})
	err = errors.Join(err, b.rest(w), w.Close())
	return out.Bytes(), err
}

func (b Bundle) header(l bundle.Log, events int) bundle.Header {
	h := bundle.Header{Session: l.Session, Head: l.Head, Root: "/w", Cwd: "/w"}
	h.Counts = bundle.Counts{
		Logs: 1, Events: int64(events), EventBytes: l.Bytes, Files: int64(len(b.Files)),
		Trees: int64(len(b.Trees)), Blobs: int64(len(b.Blobs) + len(b.Large)),
	}
	for _, text := range b.Files {
		h.FileBytes += int64(len(text))
	}
	for _, object := range b.Trees {
		h.TreeBytes += int64(len(object))
	}
	for _, blob := range b.Blobs {
		h.BlobBytes += int64(len(blob))
	}
	for _, large := range b.Large {
		h.BlobBytes += large.Size
	}
	if b.Alter != nil {
		b.Alter(&h)
	}
	return h
}

// rest writes what follows the log.
func (b Bundle) rest(w *bundle.Writer) (err error) {
	for f, text := range b.Files {
		f.Size, f.Digest = int64(len(text)), store.Sum([]byte(text))
		err = errors.Join(err, w.File(f, strings.NewReader(text)))
	}
	for _, object := range b.Trees {
		err = errors.Join(err, w.Tree(store.Sum(object), object))
	}
	for _, blob := range b.Blobs {
		err = errors.Join(err, w.Blob(bundle.Blob{Digest: store.Sum(blob), Size: int64(len(blob))}, bytes.NewReader(blob)))
	}
	for _, large := range b.Large {
		err = errors.Join(err, w.Blob(bundle.Blob{Digest: large.Digest, Size: large.Size}, large.Open()))
	}
	return err
}
