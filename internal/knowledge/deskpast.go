package knowledge

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Bounds of the history.
const (
	keptHandoffs = 10
	maxSameTime  = 1000 // handoffs of one minute
)

// pastName is a name in the history: the minute, in UTC, in which it was moved there, and its number in it.
var pastName = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2}-\d{4})(?:-(\d{1,4}))?\.md$`)

// pastNames lists the history, the newest first.
func (d *desk) pastNames() []string {
	if d.base == nil {
		return nil
	}
	dir, err := enter(d.base, handoffHistory, false, 0)
	if err != nil {
		return nil
	}
	defer dir.Close()
	f, err := dir.Open(".")
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxListed)
	names = slices.DeleteFunc(names, func(n string) bool { return !pastName.MatchString(n) })
	slices.SortFunc(names, func(a, b string) int {
		x, y := pastName.FindStringSubmatch(a), pastName.FindStringSubmatch(b)
		i, _ := strconv.Atoi(x[2])
		j, _ := strconv.Atoi(y[2])
		return cmp.Or(strings.Compare(y[1], x[1]), cmp.Compare(j, i))
	})
	return names
}

// past reads the history, the newest first.
func (d *desk) past() ([]HandoffFile, error) {
	var out []HandoffFile
	var errs error
	for _, name := range d.pastNames() {
		if len(out) >= maxHandoffs {
			break
		}
		at := path.Join(handoffHistory, name)
		b, f, err := readHandoff(d.base, at, filepath.Join(d.s.Dir(), at))
		if errs = errors.Join(errs, err); f == nil || len(b) == 0 {
			continue
		}
		f.Known = true
		out = append(out, *f)
	}
	return out, errs
}

// inPast is where a text lies in the history; empty: nowhere.
func (d *desk) inPast(digest string) string {
	past, _ := d.past() // what cannot be read there is none that we know
	for _, f := range past {
		if f.Digest == digest {
			return f.Path
		}
	}
	return ""
}

// archive moves a handoff to the history, or copies it there, and gives its path in it; empty: it is gone.
func (d *desk) archive(f HandoffFile) (string, error) {
	p, err := d.spotOf(f)
	if err != nil {
		return "", err
	}
	now, err := readSpot(p)
	switch {
	case err != nil:
		return "", err
	case now == nil:
		return d.inPast(f.Digest), nil
	case now.Digest != f.Digest:
		return "", fmt.Errorf("%s: %w", f.Path, ErrChanged)
	}
	if p.root == d.project && !p.foreign && p.name == handoffName {
		if err := d.markRoot(); err != nil {
			return "", err
		}
	}
	if known := d.inPast(f.Digest); known != "" {
		return known, d.takeAway(p, *now)
	}
	name, err := d.reserve()
	if err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Join(d.s.Dir(), handoffHistory), err)
	}
	at := path.Join(handoffHistory, name)
	if err := d.s.step("handoff reserved"); err != nil {
		return "", err
	}
	if p.foreign {
		_, perm := d.s.modes()
		err = d.put(d.base, at, now.Text, perm)
	} else {
		err = d.move(p, at, *now)
	}
	if err != nil {
		return "", fmt.Errorf("handoff %s: %w", f.Path, err)
	}
	return filepath.Join(d.s.Dir(), at), d.prunePast(name)
}

// spotOf finds the place of a handoff that was read.
func (d *desk) spotOf(f HandoffFile) (spot, error) {
	dir, name := filepath.Split(f.Path)
	dir = filepath.Clean(dir)
	if name == handoffName || handoffNames.MatchString(name) {
		switch {
		case dir == d.s.Dir():
			return spot{root: d.base, dir: dir, name: name}, nil
		case dir == d.s.root && d.project != nil:
			return spot{root: d.project, dir: dir, name: name, foreign: !d.s.shared}, nil
		case dir == filepath.Join(d.s.root, agentDir) && d.agent != nil:
			return spot{root: d.agent, dir: dir, name: name, foreign: true}, nil
		}
	}
	return spot{}, fmt.Errorf("%s is no handoff of this project: %w", f.Path, fs.ErrNotExist)
}

// reserve takes a name in the history that nothing has, by an empty file.
func (d *desk) reserve() (string, error) {
	perm, file := d.s.modes()
	dir, err := enter(d.base, handoffHistory, true, perm)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	stamp := d.s.cfg.Now().UTC().Format("2006-01-02-1504")
	n := 1
	for _, name := range d.pastNames() { // the newest of this minute is the first of it
		if m := pastName.FindStringSubmatch(name); m[1] == stamp {
			last, _ := strconv.Atoi(m[2])
			n = max(last, 1) + 1
			break
		}
	}
	for ; n <= maxSameTime; n++ {
		name := stamp + ".md"
		if n > 1 {
			name = fmt.Sprintf("%s-%d.md", stamp, n)
		}
		f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, file)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		return name, f.Close()
	}
	return "", fmt.Errorf("there are %d of %s", maxSameTime, stamp)
}

// move renames a handoff onto its reserved place: it is in one of both at any time. Where the history is on another file
// system it is copied and then taken away.
func (d *desk) move(p spot, at string, f HandoffFile) error {
	to := at
	if p.root == d.project {
		to = path.Join(agentDir, at)
	}
	err := p.root.Rename(p.name, to)
	if errors.Is(err, syscall.EXDEV) {
		_, perm := d.s.modes()
		if err := d.put(d.base, at, f.Text, perm); err != nil {
			return err
		}
		return d.takeAway(p, f)
	}
	if err != nil {
		return err
	}
	if err := d.s.step("handoff moved"); err != nil {
		return err
	}
	return errors.Join(syncDir(d.base, handoffHistory), syncDir(p.root, "."))
}

// takeAway removes a handoff whose text is in the history, unless it changed.
func (d *desk) takeAway(p spot, f HandoffFile) error {
	if p.foreign {
		return nil
	}
	now, err := readSpot(p)
	switch {
	case err != nil || now == nil:
		return err
	case now.Digest != f.Digest:
		return fmt.Errorf("%s: %w", f.Path, ErrChanged)
	}
	if err := d.s.step("handoff take away"); err != nil {
		return err
	}
	if err := p.root.Remove(p.name); err != nil {
		return err
	}
	return syncDir(p.root, ".")
}

// prunePast takes the oldest out of the history until the kept ones are left; never the one that has just come.
func (d *desk) prunePast(just string) error {
	names := d.pastNames()
	for _, name := range names[min(len(names), keptHandoffs):] {
		if name == just {
			continue
		}
		if err := d.s.step("handoff prune"); err != nil {
			return err
		}
		if err := d.base.Remove(path.Join(handoffHistory, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
