package homes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// said reports whether the session's tools have told of a difference since the tree before, and completes what they said.
func (f *fileFold) said(path string, t FileTouch) bool {
	s := f.stories[path]
	if s == nil {
		return false
	}
	for i := len(s.Touches) - 1; i >= 0 && s.Touches[i].Seq > f.known.seq; i-- {
		if o := &s.Touches[i]; o.Did != string(session.FileRead) && !t.Digest.IsZero() && o.Digest == t.Digest {
			if o.Before.IsZero() && i == firstSince(s.Touches, f.known.seq) {
				o.Before = t.Before
			}
			return true
		}
	}
	return false
}

// firstSince is the index of the first change after an event.
func firstSince(touches []FileTouch, seq int64) int {
	return slices.IndexFunc(touches, func(t FileTouch) bool { return t.Seq > seq && t.Did != string(session.FileRead) })
}

// touchOf words one difference between trees; directories alone and what no capture keeps are none.
func touchOf(c tree.Change, who FileTouch) (FileTouch, bool) {
	file := func(e *tree.Entry) *tree.Entry {
		if e == nil || e.Kind == tree.Dir || e.Flags.Has(tree.Skipped) {
			return nil
		}
		return e
	}
	before, after := file(c.Before), file(c.After)
	t := who
	if before != nil {
		t.Before = before.Digest
	}
	if after != nil {
		t.Digest, t.Size = after.Digest, after.Size
	}
	switch {
	case before == nil && after == nil:
		return t, false
	case c.After != nil && after == nil && c.After.Kind != tree.Dir: // it is there, and not kept
		return t, false
	case before == nil && c.Before != nil && c.Before.Kind != tree.Dir: // it was there, and not kept
		t.Did = string(session.FileModified)
	case before == nil:
		t.Did = string(session.FileCreated)
	case after == nil:
		t.Did = didDelete
	case before.Kind == after.Kind && before.Digest == after.Digest && before.Target == after.Target:
		t.Did = "mode"
	default:
		t.Did = string(session.FileModified)
	}
	return t, true
}

// What became of a file, beside what a tool says of one.
const (
	didDelete    = "deleted"
	didTemporary = "temporary"
)

// skipped notes what a capture did not keep.
func (f *fileFold) skipped(ev store.Event, b *session.FilesCaptured) {
	note := func(s session.Skipped) {
		n := f.notKept[s.Path]
		if n == nil {
			if len(f.notKept) >= maxNotKept {
				f.out.LeftOut++
				return
			}
			n = &NotKept{Path: s.Path, First: ev.Seq}
			f.notKept[s.Path] = n
		}
		n.Why, n.Files, n.Bytes, n.Last = s.Why, s.Files, s.Bytes, ev.Seq
	}
	for _, s := range b.Skipped {
		note(s)
	}
	for _, path := range b.Torn {
		note(session.Skipped{Path: path, Why: "it changed while it was read"})
	}
}

// finish sums up.
func (f *fileFold) finish() *FileHistory {
	f.settle("", store.Actor{})
	out := f.out
	out.Dir = filesDir(f.st)
	if !out.Captured && out.Why == "" {
		out.Why = "none was made"
	}
	out.Files = []FileStory{}
	for _, s := range f.stories {
		if s.Did = did(s.Touches); s.Did == "" {
			out.Outside++
			continue
		}
		out.Files = append(out.Files, *s)
	}
	slices.SortFunc(out.Files, func(a, b FileStory) int { return strings.Compare(a.Path, b.Path) })
	out.NotKept = []NotKept{}
	for _, n := range f.notKept {
		out.NotKept = append(out.NotKept, *n)
	}
	slices.SortFunc(out.NotKept, func(a, b NotKept) int { return strings.Compare(a.Path, b.Path) })
	out.Failures = append([]NotCaptured{}, out.Failures...)
	out.keeps(&f.st.Workspace)
	return out
}

// keeps takes what is kept as long as the session.
func (out *FileHistory) keeps(w *session.Workspace) {
	out.Points, out.Checkpoints, out.Artifacts = []KeptTree{}, []KeptTree{}, []KeptArtifact{}
	for _, p := range w.Points {
		moment := fmt.Sprintf("turn %d", p.Turn)
		if p.Turn == 0 {
			moment = "before a restore"
		}
		out.Points = append(out.Points, KeptTree{moment, p.Turn, p.Seq, view.Stamp(p.Time), p.Tree})
	}
	for _, c := range w.Checkpoints {
		out.Checkpoints = append(out.Checkpoints, KeptTree{c.Name, 0, c.Seq, view.Stamp(c.Time), c.Tree})
	}
	for _, a := range w.Artifacts {
		out.Artifacts = append(out.Artifacts, KeptArtifact{a.Name, a.Size, a.Digest, a.Act, a.Seq, view.Stamp(a.Time)})
	}
}

// Newest is the newest thing that the session itself did with a file, what it changed before what it read.
func (s *FileStory) Newest() FileTouch {
	for i := range slices.Backward(s.Touches) {
		if t := s.Touches[i]; t.By != byOutside && t.Did != string(session.FileRead) {
			return t
		}
	}
	for i := range slices.Backward(s.Touches) {
		if s.Touches[i].By != byOutside {
			return s.Touches[i]
		}
	}
	return s.Touches[len(s.Touches)-1]
}

// Read reports whether a tool read it.
func (s *FileStory) Read() bool {
	return slices.ContainsFunc(s.Touches, func(t FileTouch) bool { return t.Did == string(session.FileRead) })
}

// Left reports whether others changed it after the session did last.
func (s *FileStory) Left() bool { return s.Touches[len(s.Touches)-1].By == byOutside }

// did sums up what the session itself did with a file; empty: nothing.
func did(touches []FileTouch) string {
	var own []FileTouch
	read := false
	for _, t := range touches {
		switch {
		case t.Did == string(session.FileRead):
			read = true
		case t.By != byOutside:
			own = append(own, t)
		}
	}
	if len(own) == 0 {
		if read {
			return string(session.FileRead)
		}
		return ""
	}
	created := own[0].Did == string(session.FileCreated)
	deleted := own[len(own)-1].Did == didDelete
	switch {
	case created && deleted:
		return didTemporary
	case deleted:
		return didDelete
	case created:
		return string(session.FileCreated)
	}
	return string(session.FileModified)
}
