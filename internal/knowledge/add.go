package knowledge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Addition is what a person notes.
type Addition struct {
	Text  string
	Topic string // empty: User in the user's memory, Projects in a project's
	Key   string // empty: made of the text
}

// Add notes a text: its first line is the entry's, the whole of it is in the entry's file. What is there already is
// refused, with the entry that says it. A change that was made before for by.Key is not made again.
func (s *Scope) Add(ctx context.Context, a Addition, by By) (Entry, error) {
	e, err := s.entry(a)
	if err != nil {
		return e, err
	}
	text := strings.TrimSpace(a.Text)
	if err := s.known(text); err != nil {
		return e, err
	}
	done, err := s.change(ctx, by, func(d *draft) (string, string, error) {
		e, err = d.add(e, text)
		return "add " + e.Key, "", err
	})
	if err == nil && e.Key == "" {
		e.Key = strings.TrimPrefix(done.What, "add ")
		e.File = e.Key + ".md"
	}
	return e, err
}

// entry is the line of what is to be added, as far as it is known.
func (s *Scope) entry(a Addition) (Entry, error) {
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
	return e, nil
}

// add puts an entry into a draft, with its file.
func (d *draft) add(e Entry, text string) (Entry, error) {
	text = strings.TrimSpace(text)
	x, err := d.index()
	if err != nil {
		return e, err
	}
	if same := d.same(x, text); same != nil {
		return e, refuse("%s says that already: %s", same.Key, clip(same.Summary))
	}
	if e.Key == "" {
		e.Key = freeKey(x, slug(text))
	}
	if err := checkKey(x, e.Key); err != nil {
		return e, err
	}
	e.File = e.Key + ".md"
	if b, err := d.get(e.File); err != nil || b != nil {
		return e, errors.Join(err, refuse("there is a file %s already: choose another key, or put its line into the index", d.s.shown(e.File)))
	}
	d.set(e.File, []byte("# "+e.Key+"\n\n"+text+"\n"))
	x.add(e)
	d.set(indexName, []byte(x.text()))
	return e, nil
}

// same is the entry that says a text already, or nil. Its reason, in its file, does not matter.
func (d *draft) same(x *index, text string) *Entry {
	want := norm(text)
	for i, e := range x.entries {
		if norm(e.Summary) == want {
			return &x.entries[i]
		}
		if checkName(e.File) != nil {
			continue
		}
		b, err := d.read(e.File)
		if err != nil || b == nil {
			continue
		}
		body, _, _ := strings.Cut(strings.TrimPrefix(string(b), "# "+e.Key+"\n"), "\n\nReason: ")
		if norm(body) == want || norm(string(b)) == norm("# "+e.Key+"\n"+text) {
			return &x.entries[i]
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
