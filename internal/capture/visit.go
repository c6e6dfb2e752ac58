//go:build unix

package capture

import (
	"errors"
	"io/fs"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/tree"
)

// list puts the directory's names, sorted, into v.names: those that are known, if its stamp says that they are the same.
func (v *visit) list(s stamp) error {
	v.names = v.names[:0]
	if v.old != nil && !v.old.racy && v.old.stamp == s {
		for i := range v.old.files {
			v.names = append(v.names, v.old.files[i].name)
		}
		return nil
	}
	names, err := readNames(v.dir, v.buf, v.names)
	if err != nil {
		return &fs.PathError{Op: "read directory", Path: v.here.path, Err: err}
	}
	if own := v.d.cfg.Own; own != nil {
		names = slices.DeleteFunc(names, own)
	}
	v.names = names
	slices.Sort(v.names)
	return nil
}

// entries looks at every name. What is as it was stays as it is known; v.out is made with the first that is not.
func (v *visit) entries() (changed int64, err error) {
	v.out = nil
	var known []file
	reclass := v.old == nil || v.old.rules != v.here.rules.sum
	if v.old != nil {
		known = v.old.files
	} else {
		v.out = v.room()
	}
	i := 0 // the place in known
	for _, name := range v.names {
		for i < len(known) && known[i].name < name {
			v.differ(i)
			v.left(&known[i])
			changed++
			i++
		}
		var was *file
		if i < len(known) && known[i].name == name {
			was = &known[i]
		}
		now, there, err := v.entry(name, was, reclass)
		if err != nil {
			return changed, err
		}
		same := there && was != nil && now == *was
		if !same {
			v.differ(i)
			if was == nil || !there || !sameContent(&now, was) {
				changed++
			}
		}
		if there && v.out != nil {
			v.out = append(v.out, now)
		}
		if was != nil {
			i++
		}
	}
	for ; i < len(known); i++ {
		v.differ(i)
		v.left(&known[i])
		changed++
	}
	return changed, nil
}

// room is where the entries of a directory go: for good, or, if they are only counted, until the next one.
func (v *visit) room() []file {
	if !v.weigh {
		return make([]file, 0, len(v.names)+1)
	}
	if cap(v.counted) <= len(v.names) {
		v.counted = make([]file, 0, 2*len(v.names)+1)
	}
	return v.counted[:0]
}

// differ makes v.out, with what stands before the i-th known entry.
func (v *visit) differ(i int) {
	if v.out == nil {
		v.out = append(v.room(), v.old.files[:i]...)
	}
}

// left notes an entry that is gone.
func (v *visit) left(f *file) {
	if f.kind == tree.Dir {
		v.found.gone = append(v.found.gone, join(v.here.path, f.name))
	}
}

// sameContent reports whether a tree would say the same of both.
func sameContent(a, b *file) bool {
	return a.kind == b.kind && a.flags == b.flags && a.digest == b.digest && a.mode == b.mode && a.target() == b.target() &&
		(a.kind == tree.Dir || a.mtime == b.mtime && a.size == b.size)
}

// entry looks at one name. Not there: it went meanwhile.
func (v *visit) entry(name string, was *file, reclass bool) (f file, there bool, err error) {
	var st unix.Stat_t
	if err := unix.Fstatat(v.dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		if errors.Is(err, unix.ENOENT) {
			if was != nil {
				v.left(was)
			}
			return file{}, false, nil
		}
		return file{}, false, &fs.PathError{Op: "stat", Path: join(v.here.path, name), Err: err}
	}
	s := v.d.stamp(&st)
	kind := s.kind()
	if was != nil && was.kind == tree.Dir && (kind != tree.Dir || was.ino != s.ino) {
		v.left(was)
	}
	if kind == tree.Dir { // its own stamp is looked at in it
		s.size, s.mtime, s.ctime = 0, 0, 0
	}
	if was == nil || was.kind != kind || reclass || kind == tree.File && was.size != s.size || was.why() == WhyUnreadable || was.why() == WhySpecial {
		f = file{stamp: s, name: name, kind: kind}
		var why Why
		f.flags, why = v.class(name, s, kind)
		f.said = because(why)
	} else {
		f = *was
		f.stamp = s
	}
	if f.flags&tree.Skipped != 0 {
		if f.why() != WhyRepository {
			v.skips = append(v.skips, Skip{Path: join(v.here.path, name), Why: f.why(), Dir: kind == tree.Dir, Bytes: s.size})
		}
		return f, true, nil
	}
	if v.weigh && kind != tree.Dir {
		return f, true, nil
	}
	switch kind {
	case tree.Dir:
		v.enter(f, was)
	case tree.Link:
		if was == nil || was.stamp != s || was.racy {
			return v.link(f)
		}
	case tree.File:
		if was != nil {
			f.digest = was.digest // what it was, so that the new content is kept as what tells it from that
		}
		if was == nil || was.stamp != s || was.racy || was.flags&tree.Skipped != 0 || v.all || v.ask && !v.keep.Has(was.digest) {
			return v.content(f)
		}
		f.racy = was.racy
		f.flags |= was.flags & tree.Torn
	}
	return f, true, nil
}

// enter has a directory looked at: if all below is, or if it is new.
func (v *visit) enter(f file, was *file) {
	path := join(v.here.path, f.name)
	fresh := was == nil || was.kind != tree.Dir || was.ino != f.ino || was.flags != f.flags || v.d.dirs[path] == nil
	if v.here.whole || fresh {
		v.below = append(v.below, place{path: path, rules: v.here.rules, private: f.flags&tree.Private != 0, whole: true})
	}
}
