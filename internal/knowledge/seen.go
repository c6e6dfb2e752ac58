package knowledge

import (
	"errors"
	"io/fs"
	"slices"
)

// Seen says up to which event a session was read for what it found out.
type Seen struct {
	Session string `json:"session"`
	Seq     int64  `json:"seq"`
}

// maxSeen bounds the sessions of which that is remembered. One that is forgotten is read anew from its beginning: what it
// proposes is known then.
const maxSeen = 200

// Seen is up to where a session was read; 0: it never was, or that is forgotten.
func (i Inbox) Seen(id string) (int64, error) {
	base, err := openAt(i.m.Project.cfg.Home, i.path(), false, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer base.Close()
	f, err := i.read(base)
	for _, s := range f.Seen {
		if s.Session == id && s.Seq > 0 {
			return s.Seq, err
		}
	}
	return 0, err
}

func (f *inboxFile) see(s Seen) {
	if s.Session == "" {
		return
	}
	f.Seen = append(slices.DeleteFunc(f.Seen, func(old Seen) bool { return old.Session == s.Session }), s)
	f.Seen = f.Seen[max(0, len(f.Seen)-maxSeen):]
}
