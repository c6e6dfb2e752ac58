package tree

import (
	"errors"
	"fmt"
	"strings"

	"github.com/perdure/perdure/store"
)

// Bounds of one tree. What is beyond them is refused when it is written and when it is read.
const (
	MaxEntries = 1_000_000 // entries of one directory
	MaxName    = 1024      // bytes of a name: 255 characters in UTF-8 on every system that counts characters
	MaxTarget  = 65_535    // bytes of a link's target
	MaxDepth   = 1000      // directories within each other
	MaxPath    = 32 << 10  // bytes of a path
	MaxMode    = 0o7777    // bits of a mode
)

// Kind says what an entry is.
type Kind uint8

// The kinds of entries.
const (
	File  Kind = 1
	Dir   Kind = 2
	Link  Kind = 3 // a symbolic link; it is never followed
	Other Kind = 4 // a fifo, a socket or a device: present, not captured
)

func (k Kind) String() string {
	switch k {
	case File:
		return "file"
	case Dir:
		return "directory"
	case Link:
		return "link"
	case Other:
		return "special file"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Flags say what holds of an entry besides.
type Flags uint8

// The flags of entries.
const (
	Private Flags = 1 << iota // git ignores it, and it is kept all the same; what leaves the machine leaves it out
	Torn                      // a file that changed while it was read: the content is one that it may never have had
	Skipped                   // present, its content is not kept; a file or a directory, without a digest

	allFlags = Private | Torn | Skipped
)

// Has reports whether all of the given flags are set.
func (f Flags) Has(flags Flags) bool { return f&flags == flags }

// Entry is one name in a directory.
type Entry struct {
	Name   string // the bytes that the file system gave; never "", ".", "..", and without "/" and NUL
	Kind   Kind
	Flags  Flags
	Mode   uint32       // permission bits, setuid, setgid and sticky, as stat has them: at most 0o7777
	Size   int64        // bytes of a file; of a skipped directory what is known of it; else 0 for directories
	MTime  int64        // nanoseconds since 1970; 0 for directories
	Digest store.Digest // of a file's content or of a directory's object; zero if skipped, and for links and others
	Target string       // of a link, as it is
}

// ErrInvalid is wrapped by errors about entries and objects that no capture writes.
var ErrInvalid = errors.New("not a valid tree")

// check says what an entry has that it may not have.
func (e *Entry) check() error {
	if why := e.flaw(); why != "" {
		return fmt.Errorf("entry %.200q: %s: %w", e.Name, why, ErrInvalid)
	}
	return nil
}

func (e *Entry) flaw() string {
	switch {
	case !ValidName(e.Name):
		return "no name of a directory's entry"
	case e.Kind < File || e.Kind > Other:
		return e.Kind.String() + " is unknown"
	case e.Flags&^allFlags != 0:
		return "a flag that is unknown"
	case e.Mode > MaxMode:
		return "mode with bits beyond 7777"
	case e.Size < 0:
		return "size below 0"
	}
	keeps := (e.Kind == File || e.Kind == Dir) && !e.Flags.Has(Skipped)
	switch {
	case keeps == e.Digest.IsZero():
		return "a digest belongs to files and directories whose content is kept, and to these alone"
	case (e.Kind == Link) != (e.Target != ""):
		return "a target belongs to links, and to these alone"
	case len(e.Target) > MaxTarget || strings.IndexByte(e.Target, 0) >= 0:
		return "target of a link that no system has"
	case e.Kind == Dir && (e.MTime != 0 || e.Size != 0 && !e.Flags.Has(Skipped)):
		return "size or time of a directory"
	case e.Flags.Has(Torn) && (e.Kind != File || e.Flags.Has(Skipped)):
		return "torn without content"
	case e.Flags.Has(Skipped) && e.Kind != File && e.Kind != Dir:
		return "skipped without content"
	}
	return ""
}

// ValidName reports whether a directory can have an entry of this name.
func ValidName(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= MaxName && !strings.ContainsAny(name, "/\x00")
}

// Same reports whether two entries of one path are alike in what a restore cares for: kind, mode, content, target. Of
// directories it compares themselves, not what is in them. Times count only where the content is not kept, since there
// is nothing else to tell by. Nil is no entry.
func Same(a, b *Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind != b.Kind || a.Flags&Skipped != b.Flags&Skipped {
		return false
	}
	switch a.Kind {
	case Link: // its mode is the system's
		return a.Target == b.Target
	case Dir:
		return a.Mode == b.Mode
	case File:
		if a.Flags.Has(Skipped) {
			return a.Mode == b.Mode && a.Size == b.Size && a.MTime == b.MTime
		}
		return a.Mode == b.Mode && a.Digest == b.Digest
	}
	return a.Mode == b.Mode
}
