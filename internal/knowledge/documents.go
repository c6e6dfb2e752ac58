package knowledge

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Kinds of documents.
const (
	KindMemory  = "memory"
	KindJournal = "journal"
	KindHandoff = "handoff"
)

// maxDocuments bounds the files that [Documents] gives.
const maxDocuments = 20_000

// Document is a file of what is known, for those who read or search all of it.
type Document struct {
	Kind     string
	File     string // absolute
	Project  string // the directory that it is about; empty: the user's, or not known any more
	Size     int64
	Modified time.Time

	anchor string
	path   []string // of its directory, below the anchor
	name   string   // in it
}

// Documents are the files of all memories in a home, and with inProject those that lie in the projects of some directories.
// The directories also tell which projects the memories in the home are about. What cannot be looked at is left out: links
// and what is no file. At most 20,000 are given.
func Documents(home string, dirs []string, inProject bool) ([]Document, error) {
	var out []Document
	roots := map[string]string{}
	var order []string
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue
		}
		if root := Root(dir); roots[Key(root)] == "" {
			roots[Key(root)] = root
			order = append(order, root)
		}
	}
	at, err := openAt(home, []string{homeDir}, false, 0)
	if err == nil {
		var names []string
		if names, err = dirNames(at); err == nil {
			for _, name := range names {
				out = append(out, documentsOf(home, []string{homeDir, name}, roots[name])...)
			}
		}
		at.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrLink) {
		return nil, fmt.Errorf("knowledge: %w", err)
	}
	if inProject {
		for _, root := range order {
			out = append(out, documentsOf(root, []string{agentDir}, root)...)
			if d, ok := document(root, nil, indexName, KindMemory, root); ok {
				out = append(out, d)
			}
		}
	}
	return out[:min(len(out), maxDocuments)], nil
}

// dirNames are the names in a directory, in order.
func dirNames(at *os.Root) ([]string, error) {
	d, err := at.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(maxDocuments)
	slices.Sort(names)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

// documentsOf are those of one memory's directory.
func documentsOf(anchor string, path []string, project string) (out []Document) {
	add := func(dir []string, name, kind string) {
		if d, ok := document(anchor, append(slices.Clip(path), dir...), name, kind, project); ok {
			out = append(out, d)
		}
	}
	add(nil, indexName, KindMemory)
	add(nil, journalName, KindJournal)
	add(nil, handoffName, KindHandoff)
	f, err := (&Scope{anchor: anchor, path: path}).look()
	if err != nil {
		return out
	}
	defer f.close()
	kept, _ := f.list() // what cannot be listed is left out
	for _, k := range kept {
		parts := strings.Split(k.Name, "/")
		add(append([]string{detailDir}, parts[:len(parts)-1]...), parts[len(parts)-1], KindMemory)
	}
	if at, err := openAt(anchor, append(slices.Clip(path), handoffHistory), false, 0); err == nil {
		names, _ := dirNames(at)
		at.Close()
		for _, name := range names {
			if strings.HasSuffix(name, ".md") && !strings.HasPrefix(name, ".") {
				add([]string{handoffHistory}, name, KindHandoff)
			}
		}
	}
	return out
}

// document looks at a file; not ok: it is none, or a link leads to it.
func document(anchor string, path []string, name, kind, project string) (d Document, ok bool) {
	at, err := openAt(anchor, path, false, 0)
	if err != nil {
		return d, false
	}
	defer at.Close()
	info, err := at.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return d, false
	}
	return Document{
		Kind: kind, Project: project, Size: info.Size(), Modified: info.ModTime(), anchor: anchor, path: path, name: name,
		File: filepath.Join(append(append([]string{anchor}, path...), name)...),
	}, true
}

// Passage is a piece of a document that stands for itself.
type Passage struct {
	Title string // a key, a date, a heading; empty: it has none
	Time  time.Time
	Text  string
}

// Passages reads a document: the entries of an index, the days of a journal, a file otherwise. Of a long file the end is
// given, at most 1 MiB, and of a journal 64. Errors: fs.ErrNotExist, ErrLink.
func (d Document) Passages() ([]Passage, error) {
	at, err := openAt(d.anchor, d.path, false, 0)
	if err != nil {
		return nil, err
	}
	defer at.Close()
	file, err := openFile(at, d.name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	most := int64(maxRead)
	if d.Kind == KindJournal {
		most = maxJournal
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, info.Size()-most)
	b, err := io.ReadAll(io.NewSectionReader(file, from, most))
	if err != nil {
		return nil, err
	}
	text := strings.ToValidUTF8(string(b), "\uFFFD")
	if from > 0 {
		_, text, _ = strings.Cut(text, "\n")
	}
	switch {
	case d.Kind == KindJournal:
		return journalPassages(text, d.Modified), nil
	case d.Kind == KindMemory && d.name == indexName:
		return indexPassages(text, d.Modified), nil
	}
	title := d.name
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(strings.TrimLeft(l, "#")); l != "" {
			title = l
			break
		}
	}
	return []Passage{{Title: title, Time: d.Modified, Text: text}}, nil
}

func journalPassages(text string, modified time.Time) (out []Passage) {
	for _, day := range parseJournal(text) {
		at, err := time.Parse(time.DateOnly, day.Date)
		if err != nil {
			at = modified
		}
		out = append(out, Passage{Title: day.Date, Time: at, Text: strings.Join(day.Items, "\n")})
	}
	return out
}

// indexPassages are the lines of an index but its headings.
func indexPassages(text string, modified time.Time) (out []Passage) {
	x := parseIndex(text)
	entries := map[int]Entry{}
	for _, e := range x.entries {
		entries[e.line] = e
	}
	topic := ""
	for i, l := range x.lines {
		e, ok := entries[i]
		switch l = strings.TrimSpace(l); {
		case strings.HasPrefix(l, "#"):
			topic = strings.TrimSpace(strings.TrimLeft(l, "#"))
		case ok:
			out = append(out, Passage{Title: e.Key, Time: modified, Text: e.Key + " - " + e.Summary})
		case l != "":
			out = append(out, Passage{Title: topic, Time: modified, Text: l})
		}
	}
	return out
}
