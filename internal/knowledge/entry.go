package knowledge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// ErrNoEntry says that no entry has this key.
var ErrNoEntry = errors.New("no such entry")

// Listed is an entry with its mark.
type Listed struct {
	Entry
	Scope   string `json:"scope"`
	Mark    Mark   `json:"mark"`
	Missing bool   `json:"missing,omitempty"` // its file is not there
	Body    string `json:"body,omitempty"`    // the file's text, where it was asked for
}

// List gives the entries of a scope in the order of its index.
func (s *Scope) List() ([]Listed, error) {
	f, err := s.look()
	if err != nil {
		return nil, err
	}
	defer f.close()
	d, err := f.draft()
	if err != nil {
		return nil, err
	}
	x, err := d.index()
	var out []Listed
	for _, e := range x.entries {
		l := Listed{Entry: e, Scope: s.Name, Mark: d.meta.Entries[e.Key]}
		if checkName(e.File) != nil {
			l.Missing = true
		} else if b, err := f.read(e.File); err != nil || b == nil {
			l.Missing = true
		} else {
			l.Body = string(b)
		}
		out = append(out, l)
	}
	return out, err
}

// Show gives one entry with its text.
func (s *Scope) Show(key string) (Listed, error) {
	list, err := s.List()
	if err != nil {
		return Listed{}, err
	}
	for _, l := range list {
		if l.Key == key {
			return l, nil
		}
	}
	return Listed{}, fmt.Errorf("%q: %w", key, ErrNoEntry)
}

// Addition is what a person notes.
type Addition struct {
	Text  string
	Topic string // empty: User in the user's memory, Projects in a project's
	Key   string // empty: made of the text
}

// Add notes a text: its first line is the entry's, the whole of it is in the entry's file. What is there already is
// refused, with the entry that says it.
func (s *Scope) Add(ctx context.Context, a Addition, by By) (Entry, error) {
	text := strings.TrimSpace(a.Text)
	e := Entry{Key: strings.TrimSpace(a.Key), Topic: strings.TrimSpace(a.Topic), Summary: summary(text)}
	if norm(text) == "" {
		return e, refuse("there is nothing to note")
	}
	if e.Topic == "" {
		e.Topic = map[bool]string{true: "User", false: "Projects"}[s.Name == userDir]
	}
	if strings.ContainsAny(e.Topic, "\n\r#") {
		return e, refuse("a topic is one line")
	}
	if err := s.known(text); err != nil {
		return e, err
	}
	_, err := s.change(ctx, by, func(d *draft) (string, string, error) {
		x, err := d.index()
		if err != nil {
			return "", "", err
		}
		if err := d.said(x, text); err != nil {
			return "", "", err
		}
		if e.Key == "" {
			e.Key = freeKey(x, slug(text))
		}
		if err := checkKey(x, e.Key); err != nil {
			return "", "", err
		}
		e.File = e.Key + ".md"
		if b, err := d.get(e.File); err != nil || b != nil {
			return "", "", errors.Join(err, refuse("there is a file %s already: choose another key, or put its line into the index", s.shown(e.File)))
		}
		d.set(e.File, []byte("# "+e.Key+"\n\n"+text+"\n"))
		x.add(e)
		d.set(indexName, []byte(x.text()))
		return "add " + e.Key, "", nil
	})
	return e, err
}

// said refuses a text that an entry says already.
func (d *draft) said(x *index, text string) error {
	for _, e := range x.entries {
		same := norm(e.Summary) == norm(text)
		if !same && checkName(e.File) == nil {
			b, err := d.read(e.File)
			body := strings.TrimPrefix(string(b), "# "+e.Key+"\n")
			same = err == nil && b != nil && norm(body) == norm(text)
		}
		if same {
			return refuse("%s says that already: %s", e.Key, clip(e.Summary))
		}
	}
	return nil
}

// known refuses a line that the project's instructions for agents say already.
func (s *Scope) known(text string) error {
	if s.root == "" {
		return nil
	}
	for _, name := range []string{"AGENTS.md", "CLAUDE.md", "GEMINI.md"} {
		info, err := os.Lstat(filepath.Join(s.root, name))
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxRead {
			continue
		}
		b, err := fs.ReadFile(os.DirFS(s.root), name)
		if err != nil {
			continue
		}
		for i, l := range lines(string(b)) {
			if norm(l) != "" && norm(l) == norm(text) {
				return refuse("line %d of %s says that already, and is read by every session", i+1, name)
			}
		}
	}
	return nil
}

// summary is the line of a text in the index.
func summary(text string) string {
	line, rest, _ := strings.Cut(text, "\n")
	line = strings.Join(strings.Fields(line), " ")
	const mark = "…"
	if len(line) > maxSummary {
		cut := maxSummary - len(mark)
		for !utf8.RuneStart(line[cut]) {
			cut--
		}
		return line[:cut] + mark
	}
	if strings.TrimSpace(rest) != "" && len(line)+len(mark) < maxSummary {
		line += " " + mark
	}
	return line
}

// Bounds of a key that is made of a text.
const (
	slugWords = 4
	slugBytes = 40
)

func slug(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') })
	key := strings.Join(words[:min(len(words), slugWords)], "-")
	if len(key) > slugBytes {
		key = strings.Trim(key[:slugBytes], "-")
	}
	if key == "" {
		return "entry"
	}
	return key
}

func freeKey(x *index, key string) string {
	for n := 2; ; n++ {
		if try := fmt.Sprintf("%s-%d", key, n); x.find(key) != nil && x.find(try) == nil {
			return try
		} else if x.find(key) == nil {
			return key
		}
	}
}

func checkKey(x *index, key string) error {
	ok := !strings.ContainsFunc(key, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r))
	})
	switch {
	case key == "" || !ok || len(key) > 64 || checkName(key+".md") != nil:
		return refuse("a key has letters, digits, -, _ and ., up to 64: %q", clip(key))
	case x.find(key) != nil:
		return refuse("there is an entry %s already: %s", key, clip(x.find(key).Summary))
	}
	return nil
}

// Revision is a change of an entry: what is nil stays.
type Revision struct {
	Summary *string
	Body    *string // of the file
}

// Edit changes an entry's line or its file. With neither it says that the entry still holds.
func (s *Scope) Edit(ctx context.Context, key string, r Revision, by By) error {
	return s.onEntry(ctx, by, "edit "+key, key, func(d *draft, x *index, e Entry) error {
		old, err := d.get(e.File)
		if err != nil {
			return err
		}
		if r.Body != nil {
			if err := guardShrink(s.shown(e.File), old, []byte(*r.Body)); err != nil {
				return err
			}
			d.set(e.File, []byte(*r.Body))
		}
		if r.Summary != nil {
			sum := summary(strings.TrimSpace(*r.Summary))
			x.change(func(o Entry) bool { return o.Key == key }, func(o Entry) Entry { o.Summary = sum; return o })
			d.set(indexName, []byte(x.text()))
		}
		if r.Body == nil && r.Summary == nil {
			d.meta.Entries[key] = d.meta.Entries[key].next(by, d.now())
			b, err := d.meta.bytes()
			if err != nil {
				return err
			}
			d.set(metaName, b)
		}
		return nil
	})
}

// Forget takes an entry out, and its file if no other entry leads to it.
func (s *Scope) Forget(ctx context.Context, key string, by By) error {
	return s.onEntry(ctx, by, "forget "+key, key, func(d *draft, x *index, e Entry) error {
		x.drop(func(o Entry) bool { return o.Key == key })
		d.set(indexName, []byte(x.text()))
		if slices.ContainsFunc(x.entries, func(o Entry) bool { return o.File == e.File }) {
			return nil
		}
		if b, err := d.get(e.File); err != nil || b == nil {
			return err
		}
		d.set(e.File, nil)
		return nil
	})
}

func (s *Scope) onEntry(ctx context.Context, by By, what, key string, do func(d *draft, x *index, e Entry) error) error {
	if _, err := s.Show(key); err != nil {
		return err
	}
	_, err := s.change(ctx, by, func(d *draft) (string, string, error) {
		x, err := d.index()
		if err != nil {
			return "", "", err
		}
		e := x.find(key)
		if e == nil {
			return "", "", fmt.Errorf("%q: %w", key, ErrNoEntry)
		}
		if err := checkName(e.File); err != nil || e.File == indexName {
			return "", "", refuse("%s leads to %q, which is no file of this memory: edit %s by hand", key, clip(e.File), s.IndexFile())
		}
		return what, "", do(d, x, *e)
	})
	return err
}
