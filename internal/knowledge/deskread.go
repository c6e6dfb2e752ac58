package knowledge

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/handoff"
)

// handoffNames finds the handoffs that lie beside the newest one.
var handoffNames = regexp.MustCompile(`^HANDOFF-[A-Za-z0-9][A-Za-z0-9._-]{0,127}\.md$`)

// maxHandoffs bounds the handoffs of one directory that are looked at.
const maxHandoffs = 64

// spots are the places where something lies that may be a handoff.
func (d *desk) spots() (out []spot) {
	in := func(root *os.Root, dir string, foreign bool) {
		if root == nil {
			return
		}
		p := spot{root: root, dir: dir, name: handoffName, foreign: foreign}
		if _, err := root.Lstat(p.name); err == nil {
			out = append(out, p)
		}
		if foreign {
			return
		}
		f, err := root.Open(".")
		if err != nil {
			return
		}
		defer f.Close()
		names, _ := f.Readdirnames(maxListed)
		slices.Sort(names)
		for _, name := range names {
			if handoffNames.MatchString(name) && len(out) < maxHandoffs {
				p.name = name
				out = append(out, p)
			}
		}
	}
	in(d.base, d.s.Dir(), false)
	in(d.project, d.s.root, !d.s.shared)
	in(d.agent, filepath.Join(d.s.root, agentDir), true)
	return out
}

// readSpot reads what lies in a place; nil: nothing does, or a file without a word in it.
func readSpot(p spot) (*HandoffFile, error) {
	b, f, err := readHandoff(p.root, p.name, p.path())
	if err != nil || f == nil || strings.TrimSpace(string(b)) == "" {
		return nil, err
	}
	f.Foreign = p.foreign
	return f, nil
}

func readHandoff(root *os.Root, rel, shown string) ([]byte, *HandoffFile, error) {
	if root == nil {
		return nil, nil, nil
	}
	file, err := openFile(root, rel, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", shown, err)
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, handoff.MaxRead+1))
	if err == nil && len(b) > handoff.MaxRead {
		err = fmt.Errorf("over %d bytes: this is no handoff", handoff.MaxRead)
	}
	info, statErr := file.Stat()
	if err = errors.Join(err, statErr); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", shown, err)
	}
	f := &HandoffFile{Text: b, Path: shown, Digest: digest(handoff.Naming(b, nil)), Written: info.ModTime()}
	if head, ok := handoff.HeaderOf(b); ok {
		f.Session, f.Seq, f.Intact = head.Session, head.Seq, head.Intact
		if !head.Written.IsZero() {
			f.Written = head.Written
		}
	}
	return b, f, nil
}

// all reads every handoff that lies there. In the project's root, a file of that name beside HANDOFF.md may be anybody's:
// it is one only if a session wrote it. What is no text at all is in the error.
func (d *desk) all() ([]HandoffFile, error) {
	past, err := d.past()
	known := map[string]bool{}
	for _, f := range past {
		known[f.Digest] = true
	}
	var out []HandoffFile
	for _, p := range d.spots() {
		f, readErr := readSpot(p)
		if f == nil || p.root == d.project && p.name != handoffName && !f.Ours() {
			if p.root != d.project || p.name == handoffName {
				err = errors.Join(err, readErr)
			}
			continue
		}
		if _, parseErr := handoff.Parse(f.Text); parseErr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", f.Path, parseErr))
			continue
		}
		f.Known = known[f.Digest]
		out = append(out, *f)
	}
	slices.SortStableFunc(out, newestFirst)
	return out, err
}
