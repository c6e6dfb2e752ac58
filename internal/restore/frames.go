//go:build unix

package restore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// A journal is a file of frames, of which each is a line `perdure-restore VERSION LENGTH DIGEST` and that many bytes of
// JSON with a newline. The first is the plan; what follows tells what was decided since. A frame that is not whole is
// the end: it was never acted on.
const (
	frameMagic   = "perdure-restore"
	frameVersion = 1
	maxJournal   = 1 << 30 // bytes
)

// ErrJournal is wrapped by errors about a journal that cannot be read: nothing is done by it.
var ErrJournal = errors.New("the journal of a restore is not readable")

// frame is one fact of a journal; one field is set.
type frame struct {
	Plan *record      `json:"plan,omitempty"`
	Turn *turn        `json:"turn,omitempty"` // the direction from here on
	Copy *besideFrame `json:"copy,omitempty"` // about to be written beside a path that stays
	Done *doneRecord  `json:"done,omitempty"`
}

type turn struct {
	Undo bool `json:"undo"`
}

// besideFrame is a path that is left to somebody, with the version that is put beside it, if one is. Paths are bytes,
// which JSON strings are not.
type besideFrame struct {
	Path, Copy []byte
	Theirs     bool `json:",omitempty"` // somebody's edit, not the wanted version: it is never taken away again
}

// record is a plan with the directory that it is for.
type record struct {
	Root              []byte
	Dev, Ino          uint64
	RootMode          uint32
	Base, Now, Target store.Digest
	Kept              []keptRecord
	Need              int64
	Ops               []opRecord
}

type keptRecord struct {
	Path, With, Copy []byte
	Why              Reason
	Late             bool `json:",omitempty"`
}

// doneRecord is a report.
type doneRecord struct {
	Undone                   bool
	Added, Modified, Deleted int
	Kept                     []keptRecord
}

func (d *doneRecord) report() Report {
	return Report{Undone: d.Undone, Added: d.Added, Modified: d.Modified, Deleted: d.Deleted, Kept: readKept(d.Kept)}
}

func (r *Report) record() *doneRecord {
	return &doneRecord{Undone: r.Undone, Added: r.Added, Modified: r.Modified, Deleted: r.Deleted, Kept: recordKept(r.Kept)}
}

func recordKept(all []Kept) (out []keptRecord) {
	for _, k := range all {
		out = append(out, keptRecord{Path: []byte(k.Path), With: []byte(k.With), Copy: []byte(k.Copy), Why: k.Why, Late: k.Late})
	}
	return out
}

func readKept(all []keptRecord) (out []Kept) {
	for _, k := range all {
		out = append(out, Kept{Path: string(k.Path), With: string(k.With), Copy: string(k.Copy), Why: k.Why, Late: k.Late})
	}
	return out
}

type opRecord struct {
	Path       []byte
	From, To   []byte // an object with the one entry
	Copy, Open bool
	Joined     bool `json:",omitempty"` // To's content is in no tree
}

func encodeFrame(f frame) ([]byte, error) {
	body, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	body = append(body, '\n')
	head := fmt.Sprintf("%s %d %d %s\n", frameMagic, frameVersion, len(body), store.Sum(body))
	return append([]byte(head), body...), nil
}

// readFrames gives the whole frames of a journal and the offset at which they end.
func readFrames(f *os.File) (frames []frame, end int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxJournal {
		return nil, 0, fmt.Errorf("%s is no file of a journal's size: %w", f.Name(), ErrJournal)
	}
	b, err := io.ReadAll(io.NewSectionReader(f, 0, info.Size()))
	if err != nil {
		return nil, 0, err
	}
	for rest := b; ; {
		fr, n, err := nextFrame(rest)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", f.Name(), err)
		}
		if n == 0 {
			break
		}
		frames, rest, end = append(frames, fr), rest[n:], end+int64(n)
	}
	if len(frames) == 0 && cutShort(b) {
		return nil, 0, fmt.Errorf("%s: %w: %w", f.Name(), ErrJournal, errTorn)
	}
	if len(frames) == 0 || frames[0].Plan == nil {
		return nil, 0, fmt.Errorf("%s has no plan: %w", f.Name(), ErrJournal)
	}
	return frames, end, nil
}

// errTorn says that a journal ends within its first frame, before which nothing is done.
var errTorn = errors.New("it was never wholly written")

// cutShort reports a file that is the beginning of a first frame.
func cutShort(b []byte) bool {
	line, rest, ok := bytes.Cut(b, []byte("\n"))
	if !ok {
		head := []byte(frameMagic + " ")
		return len(b) < 200 && bytes.HasPrefix(append(bytes.Clone(b), head[min(len(b), len(head)):]...), head)
	}
	words := strings.Fields(string(line[:min(len(line), 200)]))
	if len(words) != 4 || words[0] != frameMagic || words[1] != strconv.Itoa(frameVersion) {
		return false
	}
	size, err := strconv.Atoi(words[2])
	return err == nil && len(rest) < size
}

// nextFrame reads one frame; a length of 0 is the end.
func nextFrame(b []byte) (fr frame, n int, err error) {
	line, rest, ok := bytes.Cut(b, []byte("\n"))
	words := strings.Fields(string(line[:min(len(line), 200)]))
	if !ok || len(words) != 4 || words[0] != frameMagic {
		return fr, 0, nil
	}
	if words[1] != strconv.Itoa(frameVersion) {
		return fr, 0, fmt.Errorf("version %s is not known: %w", words[1], ErrJournal)
	}
	size, err := strconv.Atoi(words[2])
	if err != nil || size < 0 || size > len(rest) || store.Sum(rest[:size]).String() != words[3] {
		return fr, 0, nil //nolint:nilerr // a frame that is not whole ends the journal
	}
	if err := json.Unmarshal(rest[:size], &fr); err != nil {
		return fr, 0, fmt.Errorf("%w: %w", ErrJournal, err)
	}
	return fr, len(line) + 1 + size, nil
}

func (p *Plan) record(root string, at seen) (*record, error) {
	r := &record{Root: []byte(root), Dev: at.dev, Ino: at.ino, RootMode: at.mode, Base: p.Base, Now: p.Now, Target: p.Target, Need: p.Need}
	r.Kept = recordKept(p.Kept)
	for i := range p.ops {
		o := &p.ops[i]
		from, err := encodeEntry(o.From)
		if err != nil {
			return nil, err
		}
		to, err := encodeEntry(o.To)
		if err != nil {
			return nil, err
		}
		r.Ops = append(r.Ops, opRecord{Path: []byte(o.Path), From: from, To: to, Copy: o.Copy, Open: o.Open, Joined: o.joined})
	}
	return r, nil
}

func (r *record) plan() (*Plan, error) {
	p := &Plan{Base: r.Base, Now: r.Now, Target: r.Target, Need: r.Need, Kept: readKept(r.Kept)}
	for _, o := range r.Ops {
		from, err := decodeEntry(o.From)
		if err != nil {
			return nil, err
		}
		to, err := decodeEntry(o.To)
		if err != nil {
			return nil, err
		}
		if why := offLimits(string(o.Path)); why != "" {
			return nil, fmt.Errorf("%.200q: %s: %w", o.Path, why, ErrJournal)
		}
		n := op{Path: string(o.Path), From: from, To: to, Copy: o.Copy, Open: o.Open, joined: o.Joined}
		p.ops = append(p.ops, n)
		if !n.Copy && !sameRestored(from, to) {
			p.Changes = append(p.Changes, Change{Path: n.Path, Before: from, After: to, Joined: n.joined})
		}
	}
	return p, nil
}

func encodeEntry(e *tree.Entry) ([]byte, error) {
	if e == nil {
		return nil, nil
	}
	return tree.Encode([]tree.Entry{*e})
}

func decodeEntry(b []byte) (*tree.Entry, error) {
	if len(b) == 0 {
		return nil, nil //nolint:nilnil // no entry
	}
	entries, err := tree.Decode(b)
	if err != nil || len(entries) != 1 {
		return nil, errors.Join(err, ErrJournal)
	}
	return &entries[0], nil
}
