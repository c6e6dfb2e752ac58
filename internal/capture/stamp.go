//go:build unix

package capture

import (
	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// stamp is what a file system says of a file and changes with its content. The time of the last change (ctime) is set
// by the kernel alone; the time of the content (mtime) anybody may set, so that it is kept but proves nothing.
type stamp struct {
	ino          uint64
	size         int64
	mtime, ctime int64 // ns
	mode         uint32
}

func (d *Dir) stamp(st *unix.Stat_t) stamp {
	s := stampOf(st)
	if d.coarse > 0 {
		s.mtime, s.ctime = s.mtime/d.coarse*d.coarse, s.ctime/d.coarse*d.coarse
	}
	return s
}

func stampOf(st *unix.Stat_t) stamp {
	return stamp{ino: st.Ino, size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(), mode: uint32(st.Mode)} //nolint:unconvert // its type differs by system
}

// kind is what the file is.
func (s stamp) kind() tree.Kind {
	switch s.mode & unix.S_IFMT {
	case unix.S_IFREG:
		return tree.File
	case unix.S_IFDIR:
		return tree.Dir
	case unix.S_IFLNK:
		return tree.Link
	default:
		return tree.Other
	}
}

// file is an entry of a directory as it was found last. There may be hundreds of thousands: each byte counts.
type file struct {
	stamp
	name   string
	said   *string // of a link where it leads, of what is skipped why; nil: nothing
	digest store.Digest
	kind   tree.Kind
	flags  tree.Flags
	racy   bool // it may have changed after it was read without another stamp
}

// target is where a link leads.
func (f *file) target() string {
	if f.said == nil || f.kind != tree.Link {
		return ""
	}
	return *f.said
}

// why is why an entry is skipped.
func (f *file) why() Why {
	if f.said == nil || f.kind == tree.Link {
		return ""
	}
	return Why(*f.said)
}

// because is what an entry is said that is skipped: the same for all of one reason.
func because(why Why) *string {
	if why == "" {
		return nil
	}
	for i := range reasons {
		if reasons[i] == string(why) {
			return &reasons[i]
		}
	}
	other := string(why)
	return &other
}

var reasons = [...]string{
	string(WhyRebuildable), string(WhyMount), string(WhyUnreadable), string(WhyLarge), string(WhyIgnored), string(WhyOwn), string(WhyRepository),
	string(WhySpecial), string(WhyDeep),
}

// directory is one as it was found last. It is never changed: a look that finds another makes another.
type directory struct {
	stamp
	path   string
	racy   bool // its names may have changed after they were read without another stamp
	files  []file
	rules  uint64       // the sum of those that hold in it
	count  int64        // files in it that are captured
	bytes  int64        // of them
	object store.Digest // of its tree object
	same   bool         // as object has it
}

func (d *directory) find(name string) *file {
	lo, hi := 0, len(d.files)
	for lo < hi {
		if mid := (lo + hi) / 2; d.files[mid].name < name {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(d.files) && d.files[lo].name == name {
		return &d.files[lo]
	}
	return nil
}

// sum counts what is captured of a directory's own files.
func (d *directory) sum() {
	for i := range d.files {
		if f := &d.files[i]; f.kind != tree.Dir && f.flags&tree.Skipped == 0 {
			d.count, d.bytes = d.count+1, d.bytes+f.size
		}
	}
}
