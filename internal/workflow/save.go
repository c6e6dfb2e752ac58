package workflow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// MainFile is the name of a project's state file.
const MainFile = "state.json"

// SideFile is the name of the file of a session that may not write the main one.
func SideFile(id string) string { return "state-" + id + ".json" }

// KeptError says that the main file stayed as it is, and where the session's document lies instead.
type KeptError struct {
	File   string // the main file
	Beside string // where this session's document is now; empty: nowhere
	Why    string
}

func (e *KeptError) Error() string {
	if e.Beside == "" {
		return fmt.Sprintf("%s stays as it is: %s", e.File, e.Why)
	}
	return fmt.Sprintf("%s stays as it is: %s; this session's plan is in %s", e.File, e.Why, e.Beside)
}

// Save writes a session's document to the state file of its project, and reports whether the file was written. One that
// says the same already is left alone, and so is everything while the session has neither a plan nor facts.
//
// A [KeptError] is no failure: the file was changed by a person and not judged yet, or it is of a session that was opened
// later and is not done. Then the document lies beside it. The document of another session whose place is taken is kept
// beside, if it is not done.
func Save(cfg knowledge.Config, st *session.State) (written bool, err error) {
	k, err := knowledge.Open(cfg)
	if err != nil {
		return false, err
	}
	d := New(st)
	if d.Empty() { // nothing to write, unless the plan was taken out of a file of this session
		if now, _, err := k.Project.Look(MainFile); err != nil || now == nil {
			return false, err
		}
	}
	desk, err := k.Project.Desk(context.Background())
	if err != nil {
		return false, err
	}
	defer desk.Close()
	s := saving{desk: desk, dir: k.Project.Dir(), doc: d}
	return s.save()
}

// saving is one document on its way to the disk, under the lock.
type saving struct {
	desk *knowledge.Desk
	dir  string
	doc  *Document
}

func (s *saving) save() (bool, error) {
	now, last, err := s.desk.Read(MainFile)
	if err != nil {
		return false, err
	}
	if now == nil {
		return s.main(nil, nil, false)
	}
	if last == nil || !bytes.Equal(now, last) {
		return false, s.beside("it was changed by hand: perdure plan diff shows how, perdure plan accept or refuse decides", "")
	}
	old, err := ParseJSON(now)
	if err != nil {
		return false, s.beside("it cannot be read: "+err.Error(), "")
	}
	same := old.Session == s.doc.Session || old.Session == "" // one of nobody was judged, and is the session's from here on
	switch {
	case old.Session == s.doc.Session && old.Seq > s.doc.Seq:
		return false, nil // an older state of the session is no news
	case same:
		return s.main(now, old, true)
	case s.doc.Empty():
		return false, nil
	case !store.ValidID(old.Session):
		return false, s.beside("what it names as its session is none", "")
	case old.Status != wordDone && later(old, s.doc):
		return false, s.beside("it is of session "+old.Session+", which was opened later", old.Session)
	case old.Status != wordDone && !old.Empty():
		if err := s.moveAway(old, now); err != nil {
			return false, err
		}
	}
	return s.main(now, old, false)
}

// later reports whether a document's session was opened after another one's.
func later(a, b *Document) bool {
	if a.Created.Equal(b.Created) {
		return a.Session > b.Session
	}
	return a.Created.After(b.Created)
}

// main writes the main file, and takes away what lies beside it of this session.
func (s *saving) main(now []byte, old *Document, same bool) (bool, error) {
	if s.doc.Empty() && !same {
		return false, nil
	}
	written, err := s.put(MainFile, now, old, same)
	if err != nil {
		return written, err
	}
	if err := s.desk.Drop(SideFile(s.doc.Session)); err != nil && !errors.Is(err, knowledge.ErrChanged) {
		return written, err
	}
	return written, nil
}

// put writes one file, over an older document.
func (s *saving) put(name string, now []byte, old *Document, same bool) (bool, error) {
	if old != nil {
		s.doc.over(old, same)
		if same && s.doc.alike(old, now) {
			return false, nil
		}
	}
	b, ok := s.doc.Fit()
	if !ok {
		return false, &KeptError{File: filepath.Join(s.dir, name), Why: "what others keep in it leaves no room for the plan"}
	}
	err := s.desk.Put(name, now, b)
	if errors.Is(err, knowledge.ErrChanged) { // somebody wrote it just now
		return false, &KeptError{File: filepath.Join(s.dir, name), Why: "it was changed just now"}
	}
	return err == nil, err
}

// beside writes the document next to the main file. What a person changed there stays too.
func (s *saving) beside(why, other string) error {
	kept := &KeptError{File: filepath.Join(s.dir, MainFile), Why: why}
	if s.doc.Empty() {
		return kept
	}
	name := SideFile(s.doc.Session)
	now, last, err := s.desk.Read(name)
	if err != nil {
		return err
	}
	if now != nil && (last == nil || !bytes.Equal(now, last)) {
		kept.Why += "; " + filepath.Join(s.dir, name) + " was changed by hand too"
		return kept
	}
	var old *Document
	if now != nil {
		if old, err = ParseJSON(now); err != nil {
			old = nil
		}
	}
	s.doc.Other = other
	if _, err := s.put(name, now, old, old != nil); err != nil {
		return err
	}
	kept.Beside = filepath.Join(s.dir, name)
	return kept
}

// moveAway keeps the document of a session that is not done, before its place is taken.
func (s *saving) moveAway(old *Document, now []byte) error {
	name := SideFile(old.Session)
	there, last, err := s.desk.Read(name)
	if err != nil || there != nil && (last == nil || !bytes.Equal(there, last)) {
		return err // what a person wrote there says more
	}
	return s.desk.Put(name, there, now)
}

// alike reports whether a document would say the same as the one that is there, but for when it was written.
func (d *Document) alike(old *Document, now []byte) bool {
	probe := *d
	probe.Seq, probe.Updated = old.Seq, old.Updated
	b, _ := probe.Fit()
	return bytes.Equal(b, now)
}
