package handoff

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Stale is what of a document is no longer so.
type Stale struct {
	Age    string  `json:"age"` // in words, "2 days old"; empty: nobody knows
	Things []Thing `json:"stale"`
}

// Thing is a file or a commit that a document names and that is gone, or changed since.
type Thing struct {
	Name   string `json:"name"` // as the document names it
	Kind   string `json:"kind"` // file, commit
	Change string `json:"change"`
}

// What a thing is, and what can have become of it.
const (
	KindFile   = "file"
	KindCommit = "commit"
	Gone       = "gone"
	Changed    = "changed since"
)

// maxMentions bounds the files, and the commits, of a document that are looked at.
const maxMentions = 512

// mention is a file or a commit as a text names it.
type mention struct {
	name, path string // path: absolute; empty for a commit
	sure       bool   // it is a file whatever the machine has
}

// Check tells what is gone or changed of what a document names. look tells of an absolute path whether it exists and
// whether it changed since the document was written, which a directory does not; commit reports whether the repository has
// one, which it should say where nobody knows. Either may be nil. At most 512 files and 512 commits are looked at.
func Check(d Document, look func(path string) (exists, changed bool), commit func(hash string) bool, now time.Time) Stale {
	s := Stale{Age: age(d.Written, now), Things: []Thing{}}
	paths, commits := mentions(d)
	rooted := map[string]bool{}
	for _, m := range paths {
		if look == nil {
			break
		}
		exists, changed := look(m.path)
		switch {
		case exists && changed:
			s.Things = append(s.Things, Thing{m.name, KindFile, Changed})
		case !exists && (m.sure || underKnown(m.path, look, rooted)):
			s.Things = append(s.Things, Thing{m.name, KindFile, Gone})
		}
	}
	for _, name := range commits {
		if commit != nil && !commit(name) {
			s.Things = append(s.Things, Thing{name, KindCommit, Gone})
		}
	}
	return s
}

// underKnown reports whether the first directory of a path exists: else what looks like one may be the address of a
// service.
func underKnown(path string, look func(string) (bool, bool), seen map[string]bool) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if there, known := seen[first]; known {
		return there
	}
	seen[first], _ = look("/" + first)
	return seen[first]
}

// Named lists what a document names: files, as absolute paths, and commits, at most 512 of each.
func Named(d Document) (paths, commits []string) {
	files, commits := mentions(d)
	for _, m := range files {
		paths = append(paths, m.path)
	}
	return paths, commits
}

// mentions are the files and the commits that a document names, each once.
func mentions(d Document) (files []mention, commits []string) {
	file := func(m mention) {
		if len(files) < maxMentions && !slices.ContainsFunc(files, func(f mention) bool { return f.name == m.name }) {
			files = append(files, m)
		}
	}
	hash := func(h string) {
		if len(commits) < maxMentions && h != "" && !slices.Contains(commits, h) {
			commits = append(commits, h)
		}
	}
	if d.Directory != "" {
		file(mention{d.Directory, d.Directory, true})
	}
	hash(d.Commit)
	for _, path := range slices.Concat(d.State.Created, d.State.Changed) {
		if filepath.IsAbs(path) {
			file(mention{quotedPath(path), path, true})
		}
	}
	for _, text := range d.texts() {
		before := ""
		for _, w := range wordsOf(text) {
			if m, ok := fileNamed(w.text, d.Directory); ok {
				file(m)
			} else if commitNamed(w.text, before) && w.text != d.Session {
				hash(w.text)
			}
			before = w.text
		}
	}
	return files, commits
}

// texts are all texts of a document in which something can be named.
func (d Document) texts() []string {
	s := d.State
	out := slices.Concat([]string{d.Goal, d.NextStep, s.LastReply}, d.Done, d.NotWorking, d.FailedApproaches, d.Decisions,
		s.InProgress, s.Found, s.Running, s.Ended)
	for _, c := range s.Commits {
		out = append(out, "commit "+c)
	}
	for _, o := range d.Other {
		out = append(out, o.Name, o.Text)
	}
	return out
}

var (
	extension = regexp.MustCompile(`^[^.].*\.[A-Za-z][A-Za-z0-9]{0,9}$|^\.[A-Za-z]`)
	notAPath  = regexp.MustCompile(`[*?$\\@]|//|\.\.\.`)
)

// fileNamed reads a word that names a file. A relative one does if it has a directory and ends like a file: and/or does
// not.
func fileNamed(name, dir string) (mention, bool) {
	base := filepath.Base(name)
	switch first, rest, below := strings.Cut(name, "/"); {
	case !below || notAPath.MatchString(name) || len(name) > 4096:
		return mention{}, false
	case first == "":
		return mention{name, filepath.Clean(name), extension.MatchString(base)}, rest != ""
	case dir == "" || !filepath.IsLocal(name) || !extension.MatchString(base) || strings.Contains(strings.TrimPrefix(first, "."), "."):
		return mention{}, false
	}
	return mention{name, filepath.Join(dir, name), true}, true
}

var (
	someHash  = regexp.MustCompile(`^(?:[0-9a-f]{7,10}|[0-9a-f]{40})$`)
	anyLetter = regexp.MustCompile(`[a-f]`)
	anyDigit  = regexp.MustCompile(`[0-9]`)
)

// commitNamed reports whether a word is a commit: one that could be a number or a word is one only behind that word.
func commitNamed(word, before string) bool {
	if !someHash.MatchString(word) {
		return false
	}
	before = strings.ToLower(before)
	return before == "commit" || before == "commits" || anyLetter.MatchString(word) && anyDigit.MatchString(word)
}

// age words how long ago something was written.
func age(written, now time.Time) string {
	if written.IsZero() {
		return ""
	}
	d := now.Sub(written)
	count := func(n int, unit string) string {
		if n == 1 {
			return "1 " + unit + " old"
		}
		return fmt.Sprintf("%d %ss old", n, unit)
	}
	switch {
	case d < -time.Minute:
		return "dated in the future"
	case d < time.Minute:
		return "just written"
	case d < time.Hour:
		return count(int(d.Minutes()), "minute")
	case d < 24*time.Hour:
		return count(int(d.Hours()), "hour")
	}
	return count(int(d.Hours()/24), "day")
}
