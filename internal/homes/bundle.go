package homes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/zeebo/blake3"

	"github.com/perdure/perdure/internal/bundle"
	"github.com/perdure/perdure/internal/progress"
	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// BundleOptions say how a session is written down for another home.
type BundleOptions struct {
	Program string // that the bundle says it was written by
	// Redact replaces secrets in all events and outputs. The events' hashes are others then: it is another log.
	Redact bool
	// Ignored takes the content of files that git ignores, too.
	Ignored bool

	move *Move // that it is written for; nil: it is a copy
}

// Bundled is what was written, and what was not.
type Bundled struct {
	bundle.Header
	Secrets int   // that were found: replaced, or in it
	Private int   // files and directories that git ignores and that are in it
	Pending int64 // items of the inbox, which are not in it
	Running int   // tasks that run on here
}

// Bundle writes a session as a bundle: its log and those it inherits from, outputs that its results quote, the last output
// of its ended tasks. It may run meanwhile: the bundle ends where its log ended. The reader of to is told that it has
// all by the bundle's end. Errors: store.ErrNotFound, *store.CorruptError, bundle.ErrTooLarge.
func (h *Home) Bundle(ctx context.Context, id string, to io.Writer, o BundleOptions) (Bundled, error) {
	b := &bundling{h: h, ctx: ctx, BundleOptions: o}
	if err := b.survey(id); err != nil {
		return b.out, fmt.Errorf("bundle session %s: %w", id, err)
	}
	if err := b.write(to); err != nil {
		return b.out, fmt.Errorf("bundle session %s: %w", id, err)
	}
	return b.out, nil
}

// bundling writes one bundle: it looks at everything first, since the header says what follows.
type bundling struct {
	BundleOptions
	h     *Home
	ctx   context.Context //nolint:containedctx // of one call
	out   Bundled
	logs  []bundle.Log // as they are written
	own   []bundle.Log // as they are here
	files []bundle.File
	trees []store.Digest
	blobs []bundle.Blob
	work  *progress.Work // with the events
}

func (b *bundling) survey(id string) error {
	info, err := b.h.store.Get(b.ctx, id)
	if err != nil {
		return err
	}
	b.out.Pending = info.Pending
	own := bundle.Log{Session: id, Parent: info.Parent, Head: info.Head}
	if m := b.move; m != nil {
		if info.Head != m.head {
			return fmt.Errorf("it went on meanwhile: %w", store.ErrConflict)
		}
		own.Head = store.Head{Seq: m.closing.Seq, Hash: m.closing.Hash}
	}
	for ; ; own = (bundle.Log{Session: info.ID, Parent: info.Parent, Head: own.Head}) {
		b.own = append(b.own, own)
		p := own.Parent
		if p == nil {
			break
		}
		if info, err = b.h.store.Get(b.ctx, p.Session); err != nil {
			return err
		}
		own.Head = store.Head{Seq: p.Seq, Hash: p.Hash}
	}
	slices.Reverse(b.own)
	var st *session.State
	defer b.reading("reading events").End()
	for i := range b.own {
		if err := b.measure(i); err != nil {
			return err
		}
		if st, err = b.h.eng.LoadAt(b.ctx, b.own[i].Session, b.kept(b.own[i]), false); err != nil {
			return err
		}
		if err := b.findFiles(st); err != nil {
			return err
		}
	}
	if err := b.findCaptured(st); err != nil {
		return err
	}
	for _, t := range st.Tasks {
		if t.Session == "" && t.Live() {
			b.out.Running++
		}
	}
	hd := &b.out.Header
	hd.Program, hd.Written, hd.Session, hd.Head = b.Program, b.h.cfg.Now().UnixMilli(), id, b.logs[len(b.logs)-1].Head
	hd.Epoch, hd.Root, hd.Cwd, hd.Rewritten = st.Epoch, st.Config.Root, st.Cwd, b.Redact
	hd.Ignored = b.Ignored
	if b.move != nil {
		hd.Move = b.move.word
	}
	hd.Title, _ = b.h.Redact(st.Title)
	hd.Logs, hd.Files = int64(len(b.logs)), int64(len(b.files))
	for _, f := range b.files {
		hd.FileBytes += f.Size
	}
	return nil
}

// reading begins to go through all events.
func (b *bundling) reading(what string) *progress.Work {
	total := int64(0)
	for _, l := range b.own {
		total += l.Head.Seq
	}
	b.work = b.h.Progress().Begin(what, "")
	b.work.Set(0, total)
	return b.work
}

// measure reads a log once: how many bytes it has, where it ends as it will be written, and which secrets are in it.
func (b *bundling) measure(i int) error {
	l := b.own[i]
	if l.Parent != nil {
		last := b.logs[i-1]
		l.Parent = &store.Position{Session: last.Session, Seq: last.Head.Seq, Hash: last.Head.Hash}
	}
	head := store.Head{Hash: l.Base()}
	for e, err := range b.events(l) {
		if err != nil {
			return err
		}
		head = store.Head{Seq: e.Seq, Hash: e.Hash}
		l.Bytes += int64(len(e.Body))
		b.out.Events++
	}
	if want := b.own[i].Head; head.Seq != want.Seq || !b.Redact && head.Hash != want.Hash {
		return &store.CorruptError{Session: l.Session, Seq: want.Seq, Cause: errors.New("it is not where its session says")}
	}
	l.Head = head
	b.out.EventBytes += l.Bytes
	b.logs = append(b.logs, l)
	return nil
}

// events are a log's events as they are written, and counts the secrets in them.
func (b *bundling) events(l bundle.Log) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		if l.Head.Seq == 0 {
			return
		}
		prev := l.Base()
		for e, err := range b.log(l) {
			switch {
			case err != nil:
			case b.Redact:
				e, err = b.clean(l.Session, prev, e)
			case b.measuring():
				_, n := b.h.redactBytes(e.Body)
				b.out.Secrets += n
			}
			prev = e.Hash
			b.work.Add(1, int64(len(e.Body)))
			if !yield(e, err) || err != nil {
				return
			}
			if len(e.Body) > largeEvent {
				runtime.GC() // else the next one of its kind takes as much once more
			}
		}
	}
}

// kept is the seq of a log's last event that is in the store.
func (b *bundling) kept(l bundle.Log) int64 {
	if b.move != nil && l.Session == b.move.id {
		return b.move.head.Seq
	}
	return l.Head.Seq
}

// log are a log's events as they are here, and the one that is to close a session that moves.
func (b *bundling) log(l bundle.Log) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		last := b.kept(l)
		if last > 0 {
			for e, err := range b.h.store.Read(b.ctx, l.Session, 1, last) {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
		if last < l.Head.Seq {
			_ = yield(b.move.closing, nil)
		}
	}
}

// largeEvent is how many bytes an event has after which memory is tidied.
const largeEvent = 16 << 20

// measuring reports whether this is the first reading of the logs: the second one meets everything again.
func (b *bundling) measuring() bool { return len(b.logs) < len(b.own) }

// clean is an event with its secrets replaced, and the hash that follows from that.
func (b *bundling) clean(id string, prev store.Digest, e store.Event) (store.Event, error) {
	body, err := session.RedactRaw(e, func(text []byte) []byte {
		clean, n := b.h.redactBytes(text)
		if b.measuring() {
			b.out.Secrets += n
		}
		if n == 0 {
			return text
		}
		return clean
	})
	if err != nil {
		return e, err
	}
	if !bytes.Equal(body, e.Body) {
		e.Body, e.Digest = body, store.Sum(body)
	}
	e.Hash = store.Hash(prev, id, e)
	return e, nil
}

func (b *bundling) write(to io.Writer) error {
	w, err := bundle.NewWriter(to, b.out.Header)
	if err != nil {
		return err
	}
	defer b.reading("writing events").End()
	for _, l := range b.logs {
		if err := w.Log(l, b.events(l)); err != nil {
			return err
		}
	}
	for _, f := range b.files {
		content, err := b.open(f)
		if err == nil {
			err = errors.Join(w.File(f, content), content.Close())
		}
		if err != nil {
			return fmt.Errorf("output %s: %w", f.Name, err)
		}
	}
	if err := b.writeCaptured(w); err != nil {
		return err
	}
	return w.Close()
}

// maxTail bounds what is taken along of a task's output, in bytes: the last ones.
const maxTail = 1 << 20

// maxClean bounds an output that secrets are replaced in, in bytes: it is held in memory.
const maxClean = 256 << 20

// findFiles lists what the home keeps for a session and can be read; what cannot is left out.
func (b *bundling) findFiles(st *session.State) error {
	names, err := b.outputs(st.ID)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := b.add(bundle.File{Session: st.ID, Kind: bundle.FileOutput, Name: name}); err != nil {
			return err
		}
	}
	for _, t := range st.Tasks {
		if t.Session == "" && !t.Live() && bundle.PlainName(t.Act) && b.h.actKept(st.ID, t.Act) {
			if err := b.add(bundle.File{Session: st.ID, Kind: bundle.FileTask, Name: t.Act}); err != nil {
				return err
			}
		}
	}
	return nil
}

// actKept reports whether there is a directory of an act.
func (h *Home) actKept(id, act string) bool {
	root, err := realdir.Open(h.dir, "acts", id, act)
	return err == nil && root.Close() == nil
}

func (b *bundling) outputs(id string) (names []string, err error) {
	if !plainID(id) {
		return nil, nil
	}
	root, err := realdir.Open(b.h.dir, "outputs", id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // It was only read.
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		if e.Type().IsRegular() && bundle.PlainName(e.Name()) && !strings.HasSuffix(e.Name(), ".tmp") {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// add measures a file, and announces it.
func (b *bundling) add(f bundle.File) error {
	if f.Kind == bundle.FileTask {
		tail, from, err := b.tail(f)
		if err != nil {
			return err
		}
		f.Offset, f.Size, f.Digest = from, int64(len(tail)), store.Sum(tail)
		b.files = append(b.files, f)
		return nil
	}
	content, err := b.open(f)
	if err != nil {
		return err
	}
	sum := blake3.New()
	f.Size, err = io.Copy(sum, content)
	sum.Sum(f.Digest[:0])
	b.files = append(b.files, f)
	return errors.Join(err, content.Close())
}

// open opens what a file is written from.
func (b *bundling) open(f bundle.File) (io.ReadCloser, error) {
	if f.Kind == bundle.FileTask {
		tail, _, err := b.tail(f)
		return io.NopCloser(bytes.NewReader(tail)), err
	}
	root, err := realdir.Open(b.h.dir, "outputs", f.Session)
	if err != nil {
		return nil, err
	}
	in, err := root.OpenFile(f.Name, os.O_RDONLY|noFollow, 0)
	if err = errors.Join(err, root.Close()); err != nil || !b.Redact {
		return in, err
	}
	text, err := io.ReadAll(io.LimitReader(in, maxClean+1))
	if err == nil && len(text) > maxClean {
		err = fmt.Errorf("it is larger than %d bytes, so that secrets cannot be replaced in it: %w", maxClean, bundle.ErrTooLarge)
	}
	clean, _ := b.h.Redact(string(text))
	return io.NopCloser(strings.NewReader(clean)), errors.Join(err, in.Close())
}

// tail reads the last output of a task that is kept, without a gap in it.
func (b *bundling) tail(f bundle.File) (tail []byte, from int64, err error) {
	state, err := b.h.commands().State(f.Session, f.Name)
	if err != nil {
		return nil, 0, err
	}
	from = max(0, state.Output-maxTail)
	for at := from; ; {
		part, next, gap, err := b.h.commands().Read(f.Session, f.Name, at, maxTail)
		if err != nil {
			return nil, 0, err
		}
		if gap > 0 {
			tail, from = nil, at+gap
		}
		tail = append(tail, part...)
		if next <= at || len(tail) > 2*maxTail {
			break
		}
		at = next
	}
	if b.Redact {
		clean, _ := b.h.Redact(string(tail))
		tail = []byte(clean)
	}
	return tail, from, nil
}
