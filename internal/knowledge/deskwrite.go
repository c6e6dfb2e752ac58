package knowledge

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/perdure/perdure/internal/handoff"
)

// checkHandoff refuses what is no handoff of that session.
func checkHandoff(text []byte, by By) error {
	head, ok := handoff.HeaderOf(text)
	switch {
	case !ok || head.Session != by.Session || head.Seq != by.Seq:
		return fmt.Errorf("handoff: the text is not that of session %s at %d", by.Session, by.Seq)
	case !head.Intact:
		return errors.New("handoff: the text was changed after it was made")
	case len(text) > handoff.MaxBytes:
		return fmt.Errorf("handoff: it has %d bytes, at most %d are allowed", len(text), handoff.MaxBytes)
	case !handoffNames.MatchString(besideName(by.Session)):
		return fmt.Errorf("handoff: %q cannot be a part of a file's name", by.Session)
	}
	return nil
}

// besideName is the name of a session's handoff beside another's: with the end of a UUID, whose beginning sessions of one
// minute share.
func besideName(session string) string {
	const whole, end = 36, 8
	if len(session) == whole {
		session = session[whole-end:]
	}
	return "HANDOFF-" + session + ".md"
}

// write finds the place, makes room there, and puts the text down.
func (d *desk) write(text []byte, over string, by By) (w WrittenHandoff, err error) {
	text = handoff.Naming(text, nil)
	if known := d.inPast(digest(text)); known != "" { // it was read meanwhile
		return WrittenHandoff{Path: known, Digest: digest(text)}, nil
	}
	slot := d.slot()
	places := []spot{slot}
	for _, name := range slices.Compact([]string{besideName(by.Session), "HANDOFF-" + by.Session + ".md"}) {
		places = append(places, spot{root: slot.root, dir: slot.dir, name: name})
	}
	at := -1
	var archived []string
	for i, p := range places {
		room, moved, err := d.room(p, over, by)
		if moved != "" {
			archived = append(archived, moved)
		}
		if err != nil {
			return WrittenHandoff{Archived: archived}, err
		}
		if room {
			at = i
			break
		}
	}
	if at < 0 {
		return w, fmt.Errorf("%s: it belongs to somebody else, and so does every other name", slot.path())
	}
	p := places[at]
	if err := d.replace(p, text); err != nil {
		return WrittenHandoff{Archived: archived}, fmt.Errorf("handoff %s: %w", p.path(), err)
	}
	w = WrittenHandoff{Path: p.path(), Digest: digest(text), Archived: archived}
	for _, old := range places[at+1:] {
		moved, err := d.dropOwn(old, by)
		if moved != "" {
			w.Archived = append(w.Archived, moved)
		}
		if err != nil {
			return w, err
		}
	}
	if err := d.name(); err != nil {
		return w, err
	}
	rest, _ := d.all() // what cannot be read is nobody's who waits to be read
	for _, f := range rest {
		if f.Path != w.Path && !f.Known {
			w.Beside = append(w.Beside, f.Path)
		}
	}
	return w, nil
}

// room reports whether a session may write in a place, after what lay there was moved to the history if it must not be
// lost. What cannot be read is somebody else's.
func (d *desk) room(p spot, over string, by By) (ok bool, moved string, err error) {
	if info, err := p.root.Lstat(p.name); errors.Is(err, fs.ErrNotExist) {
		return true, "", nil
	} else if err != nil {
		return false, "", err
	} else if !info.Mode().IsRegular() {
		return false, "", nil
	}
	f, readErr := readSpot(p)
	switch {
	case readErr != nil:
		return false, "", nil //nolint:nilerr // it is not ours, whatever it is
	case f == nil:
		return true, "", nil
	case f.Session == by.Session && f.Intact && f.Seq > by.Seq:
		return false, "", fmt.Errorf("%s is of event %d: %w", f.Path, f.Seq, ErrChanged)
	case f.Session == by.Session && f.Intact:
		return true, "", nil
	case f.Session == by.Session, over != "" && f.Digest == over, d.inPast(f.Digest) != "":
		moved, err = d.archive(*f)
		return err == nil, moved, err
	}
	return false, "", nil
}

// dropOwn takes away an earlier handoff of the session in another place; one that somebody changed goes to the history.
func (d *desk) dropOwn(p spot, by By) (moved string, err error) {
	f, err := readSpot(p)
	switch {
	case err != nil || f == nil || f.Session != by.Session:
		return "", nil //nolint:nilerr // it is not ours
	case !f.Intact:
		return d.archive(*f)
	case f.Seq > by.Seq:
		return "", nil
	}
	if err := d.s.step("handoff drop"); err != nil {
		return "", err
	}
	if err := p.root.Remove(p.name); err != nil {
		return "", err
	}
	return "", syncDir(p.root, ".")
}

// replace puts a text in a place, unless it lies there already.
func (d *desk) replace(p spot, text []byte) error {
	if now, _, err := readHandoff(p.root, p.name, p.path()); err == nil && bytes.Equal(now, text) {
		return nil
	}
	if err := d.s.step("handoff write"); err != nil {
		return err
	}
	_, perm := d.s.modes()
	return d.put(p.root, p.name, text, perm)
}

// name makes each handoff that a session wrote name the others beside it. One that changes meanwhile stays as it is.
func (d *desk) name() error {
	all, _ := d.all()
	var errs error
	for _, p := range d.spots() {
		if p.foreign {
			continue
		}
		f, err := readSpot(p)
		if err != nil || f == nil || !f.Ours() {
			continue
		}
		var others []string
		for _, o := range all {
			if o.Path == f.Path || o.Known {
				continue
			}
			name := o.Path
			if filepath.Dir(o.Path) == filepath.Dir(f.Path) {
				name = filepath.Base(o.Path)
			}
			others = append(others, name)
		}
		if text := handoff.Naming(f.Text, others); !bytes.Equal(text, f.Text) {
			errs = errors.Join(errs, d.replace(p, text))
		}
	}
	return errs
}
