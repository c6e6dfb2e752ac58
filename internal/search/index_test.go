package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/sqlite3"
)

// shelf is a library of texts in memory.
type shelf struct {
	items []*item
	// read counts the texts that were asked for.
	read   int
	broken map[string]int64 // the seq from which on a source cannot be read
	failed error            // the next listing ends with it
}

type item struct {
	Source
	texts []string // seq from 1
	life  int      // a source that was made anew has another one
}

func (s *shelf) add(kind, name, cwd string, texts ...string) *item {
	it := &item{Source: Source{Kind: kind, Name: name, Cwd: cwd, Title: "title of " + name}, texts: texts}
	s.items = append(s.items, it)
	return it
}

func (s *shelf) remove(name string) {
	s.items = slices.DeleteFunc(s.items, func(it *item) bool { return it.Name == name })
}

func (it *item) hash(seq int64) string {
	if it.Kind != Sessions {
		return fmt.Sprint(it.texts)
	}
	return fmt.Sprintf("%d/%d", it.life, seq)
}

func (s *shelf) Sources(context.Context) iter.Seq2[Source, error] {
	return func(yield func(Source, error) bool) {
		for _, it := range s.items {
			src := it.Source
			src.Seq = int64(len(it.texts))
			src.Hash = it.hash(src.Seq)
			if !yield(src, nil) {
				return
			}
		}
		if err := s.failed; err != nil {
			s.failed = nil
			yield(Source{}, err)
		}
	}
}

func (s *shelf) find(name string) *item {
	for _, it := range s.items {
		if it.Name == name {
			return it
		}
	}
	return nil
}

func (s *shelf) Texts(_ context.Context, src Source, after Mark) iter.Seq2[MarkedText, error] {
	return func(yield func(MarkedText, error) bool) {
		it := s.find(src.Name)
		if it == nil {
			yield(MarkedText{}, ErrGone)
			return
		}
		for i := after.Seq; i < int64(len(it.texts)); i++ {
			if bad := s.broken[src.Name]; bad > 0 && i+1 >= bad {
				yield(MarkedText{}, fmt.Errorf("%s: text %d is damaged", src.Name, i+1))
				return
			}
			s.read++
			m := MarkedText{Text: Text{Seq: i + 1, Hash: it.hash(i + 1), Time: 1000 + i, Turn: after.State + 1, Place: "message", Text: it.texts[i]}, State: i + 1}
			if !yield(m, nil) {
				return
			}
		}
	}
}

func (s *shelf) HashAt(_ context.Context, src Source, seq int64) (string, error) {
	it := s.find(src.Name)
	if it == nil || seq > int64(len(it.texts)) {
		return "", ErrGone
	}
	return it.hash(seq), nil
}

// ask searches a home and gives the hits as kind/name/seq, sorted.
func ask(t testing.TB, lib Library, cfg Config, query string, f Filter) []string {
	t.Helper()
	q, err := Parse(query)
	if err != nil {
		t.Fatal(err)
	}
	if f.Limit == 0 {
		f.Limit = MaxHits
	}
	found, err := Search(t.Context(), lib, cfg, q, f)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, h := range found.Hits {
		out = append(out, fmt.Sprintf("%s/%s/%d", h.Kind, h.Name, h.Text.Seq))
	}
	slices.Sort(out)
	return out
}

func wants(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// Goal: what is new is found, what is gone is not, what did not change is not read again.
func TestIndexFollows(t *testing.T) {
	home, s := t.TempDir(), &shelf{}
	one := s.add(Sessions, "one", "/p", "the needle", "", "hay")
	s.add(Sessions, "two", "/p/sub", "hay needle")
	note := s.add(Memory, "/m", "/p", "a needle noted")
	cfg := Config{Home: home}
	wants(t, ask(t, s, cfg, "needle", Filter{}), "memory//m/1", "sessions/one/1", "sessions/two/1")
	wants(t, ask(t, s, cfg, "needle", Filter{Kinds: []string{Memory, Journal}}), "memory//m/1")
	wants(t, ask(t, s, cfg, "needle", Filter{Cwd: "/p/sub"}), "sessions/two/1")
	wants(t, ask(t, s, cfg, "needle", Filter{Cwd: "/p/sub", Root: "/p"}), "memory//m/1", "sessions/two/1")
	wants(t, ask(t, s, cfg, "needle", Filter{Cwd: "/p/s"}))
	wants(t, ask(t, s, cfg, "title one", Filter{}), "sessions/one/0")
	s.read = 0
	if ask(t, s, cfg, "nothinglikethis", Filter{}); s.read != 0 {
		t.Errorf("%d texts were read again", s.read)
	}
	one.texts = append(one.texts, "a second needle")
	one.Title = "renamed"
	note.texts = []string{"noted", "otherwise needle"}
	wants(t, ask(t, s, cfg, "needle", Filter{}), "memory//m/2", "sessions/one/1", "sessions/one/4", "sessions/two/1")
	wants(t, ask(t, s, cfg, "title", Filter{}), "sessions/two/0")
	wants(t, ask(t, s, cfg, "renamed", Filter{}), "sessions/one/0")
	s.remove("two")
	one.texts, one.life = []string{"hay", "hay", "another needle", "hay", "hay"}, 1 // deleted, and made again
	wants(t, ask(t, s, cfg, "needle", Filter{}), "memory//m/2", "sessions/one/3")
	one.texts = one.texts[:2]
	wants(t, ask(t, s, cfg, "needle", Filter{}), "memory//m/2")
}

// Goal: the best comes first, and of what is as good the newest.
func TestRanking(t *testing.T) {
	s := &shelf{}
	s.add(Sessions, "a", "", "needle of old, in hay", "needle of new, in hay", "needle needle needle", "hay without", "much hay without")
	q, _ := Parse("needle")
	found, err := Search(t.Context(), s, Config{}, q, Filter{})
	hits := found.Hits
	if err != nil || len(hits) != 3 || hits[0].Text.Seq != 3 || hits[1].Text.Seq != 2 || hits[2].Text.Seq != 1 {
		t.Errorf("%+v, %v", hits, err)
	}
}

// Goal: of words that very many texts have the newest are found, on disk and in memory, and filters hold.
func TestCommonWords(t *testing.T) {
	s := &shelf{}
	for i := range 30 {
		texts := slices.Repeat([]string{"common"}, 100)
		s.add(Sessions, fmt.Sprintf("s%02d", i), fmt.Sprintf("/p%d", i), texts...)
	}
	q, _ := Parse("common")
	for name, cfg := range map[string]Config{"disk": {Home: t.TempDir()}, "memory": {}} {
		found, err := Search(t.Context(), s, cfg, q, Filter{Limit: 30})
		if err != nil || len(found.Hits) != 30 {
			t.Fatalf("%d hits, %v", len(found.Hits), err)
		}
		for _, h := range found.Hits {
			if h.Text.Time < 1097 || h.Name > "s09" { // the newest of those that changed last
				t.Errorf("%s: %s/%d of %d is among the newest", name, h.Name, h.Text.Seq, h.Text.Time)
			}
		}
		if found, err = Search(t.Context(), s, cfg, q, Filter{Cwd: "/p29", Limit: 1000}); err != nil || len(found.Hits) != 100 {
			t.Errorf("%s: %d hits of one directory, %v", name, len(found.Hits), err)
		}
	}
}

// Goal: an index that is damaged, of another version, cut, or of another program is made anew without a word; nothing but
// its owner may read it.
func TestDamagedIndexIsMadeAnew(t *testing.T) {
	s := &shelf{}
	for i := range 50 {
		s.add(Sessions, fmt.Sprintf("s%02d", i), "", "needle "+fmt.Sprint(i), strings.Repeat("hay ", i))
	}
	sql := func(text string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			d, err := openDB(fileURI(path, ""))
			if err == nil {
				err = errors.Join(d.script(text), d.close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	write := func(b []byte) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, damage := range map[string]func(*testing.T, string){
		"no database":      write([]byte("this is no database at all, but a text of some length")),
		"empty":            write(nil),
		"zeros":            write(make([]byte, 8192)),
		"another version":  sql("PRAGMA user_version = 99"),
		"another program":  sql("PRAGMA application_id = 7"),
		"a table is gone":  sql("DROP TABLE doc"),
		"words are gone":   sql("DROP TABLE word"),
		"a shadow is gone": sql("DELETE FROM word_data"),
		"cut": func(t *testing.T, path string) {
			if err := os.Truncate(path, 8192); err != nil {
				t.Fatal(err)
			}
		},
		"missing": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
		"garbage within": func(t *testing.T, path string) {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i := 4096; i < len(b); i++ {
				b[i] ^= 0x5a
			}
			write(b)(t, path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			want := ask(t, s, Config{Home: home}, "needle", Filter{})
			if len(want) != 50 {
				t.Fatalf("%d hits", len(want))
			}
			path := filepath.Join(home, Dir, indexName)
			damage(t, path)
			wants(t, ask(t, s, Config{Home: home}, "needle", Filter{}), want...)
			wants(t, ask(t, s, Config{Home: home, Rebuild: true}, "needle", Filter{}), want...)
			if x, err := Search(t.Context(), s, Config{Home: home}, Query{}, Filter{}); err != nil || x.Why != nil {
				t.Errorf("it is not kept: %+v, %v", x, err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info, err)
			}
			if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%v, %v", info, err)
			}
		})
	}
}

// Goal: a session that was taken out leaves no byte of its words in the file. Control: the same file had them, and a mere
// deletion of the rows leaves them.
func TestForgetLeavesNothing(t *testing.T) {
	home, s := t.TempDir(), &shelf{}
	for i := range 40 {
		s.add(Sessions, fmt.Sprintf("s%02d", i), "/p", "hay of all kinds", fmt.Sprintf("number %d has zanzibar%d", i, i))
	}
	s.add(Sessions, "gone", "/quux", "the xylophonist plays", "hay xylophonist")
	cfg := Config{Home: home}
	wants(t, ask(t, s, cfg, "xylophonist", Filter{}), "sessions/gone/1", "sessions/gone/2")
	if !holds(t, home, "xylophonist") || !holds(t, home, "/quux") {
		t.Fatal("the file never had it")
	}
	sweepOnly(t, home, "gone")
	if !holds(t, home, "xylophonist") {
		t.Fatal("deleted rows leave nothing: this test could not fail")
	}
	for range 2 {
		if err := Forget(t.Context(), home, []string{"gone", "never"}, true, nil); err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"xylophonist", "/quux", "title of gone"} {
			if holds(t, home, word) {
				t.Errorf("%q is left", word)
			}
		}
	}
	s.remove("gone")
	wants(t, ask(t, s, cfg, "xylophonist", Filter{}))
	wants(t, ask(t, s, cfg, "zanzibar7", Filter{}), "sessions/s07/2")
	if err := Forget(t.Context(), t.TempDir(), []string{"gone"}, true, nil); err != nil {
		t.Errorf("without an index: %v", err)
	}
}

// sweepOnly takes a session's rows out as SQL alone does.
func sweepOnly(t *testing.T, home, name string) {
	t.Helper()
	d, err := openDB(fileURI(filepath.Join(home, Dir, indexName), ""))
	if err != nil {
		t.Fatal(err)
	}
	no, err := d.number("SELECT no FROM source WHERE name = ?1", name)
	if err == nil {
		err = d.script(fmt.Sprintf("BEGIN; DELETE FROM word WHERE rowid IN (SELECT id FROM doc WHERE no = %d); COMMIT", no))
	}
	if err = errors.Join(err, d.close()); err != nil {
		t.Fatal(err)
	}
}

// holds reports whether any file of a home has a text.
func holds(t testing.TB, home, text string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		found = found || bytes.Contains(b, []byte(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Goal: an index that cannot be made anew in place, because what should be a file is none, is one in memory; so is that of
// a home that cannot be written. What there is no room for is counted.
func TestIndexInMemory(t *testing.T) {
	s := &shelf{}
	s.add(Sessions, "new", "", strings.Repeat("needle ", 100))
	s.add(Sessions, "old", "", "needle")
	open := func(cfg Config) Found {
		t.Helper()
		x, err := Search(t.Context(), s, cfg, Query{}, Filter{})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	home := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(home, Dir)); err != nil {
		t.Fatal(err)
	}
	if x := open(Config{Home: home}); x.Why == nil || x.Left != 0 {
		t.Errorf("%+v", x)
	}
	if x := open(Config{Room: 100}); x.Why != nil || x.Left != 1 {
		t.Errorf("%+v", x)
	}
	wants(t, ask(t, s, Config{Home: home}, "needle", Filter{}), "sessions/new/1", "sessions/old/1")
	home = filepath.Join(t.TempDir(), "none")
	wants(t, ask(t, &shelf{}, Config{Home: home}, "needle", Filter{}))
	if _, err := os.Lstat(home); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a search in a home that is not there made it")
	}
}

// Goal: a search that is interrupted keeps what it has read, and the next one goes on there.
func TestInterruptedKeeps(t *testing.T) {
	home, s := t.TempDir(), &shelf{}
	for i := range 10 {
		var texts []string
		for j := range 20 {
			texts = append(texts, fmt.Sprintf("needle %d %d", i, j))
		}
		s.add(Sessions, fmt.Sprintf("s%d", i), "", texts...)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	_, err := Search(ctx, s, Config{Home: home, Fault: func(string) {
		if n++; n == 150 {
			cancel()
		}
	}}, Query{}, Filter{})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	s.read = 0
	if got := ask(t, s, Config{Home: home}, "needle", Filter{}); len(got) != 200 {
		t.Errorf("%d hits", len(got))
	}
	if s.read-200 > 80 { // 200 of them were read for their snippets
		t.Errorf("%d texts were read again", s.read-200)
	}
}

// Goal: what is wrong with the library is no damage of the index, which stays as it is.
func TestDamagedLibrary(t *testing.T) {
	home, s := t.TempDir(), crashShelf()
	want := ask(t, s, Config{Home: home}, "needle", Filter{})
	for _, code := range []int{codeCorrupt, codeNotADB, codeError, codeFull, codeReadOnly} {
		failed := fmt.Errorf("list: %w", &sqlite3.Error{Code: code, Text: "of the sessions"})
		s.failed, s.read = failed, 0
		if _, err := Search(t.Context(), s, Config{Home: home}, Query{}, Filter{}); !errors.Is(err, failed) || s.read > 0 {
			t.Errorf("%d: %v, %d texts were read", code, err, s.read)
		}
	}
	if _, err := Search(t.Context(), s, Config{Home: home}, Query{}, Filter{}); err != nil || s.read > 0 {
		t.Errorf("%d texts were read again, %v", s.read, err)
	}
	wants(t, ask(t, s, Config{Home: home}, "needle", Filter{}), want...)
}

// Goal: a source that cannot be read to its end is searched as far as it can, and said; the others are not concerned.
func TestUnreadableSource(t *testing.T) {
	home, s := t.TempDir(), &shelf{broken: map[string]int64{"bad": 2}}
	s.add(Sessions, "bad", "", "needle one", "needle two")
	s.add(Sessions, "good", "", "needle three")
	for range 2 {
		x, err := Search(t.Context(), s, Config{Home: home}, Query{}, Filter{})
		if err != nil || len(x.Unread) != 1 {
			t.Fatalf("%+v, %v", x, err)
		}
		wants(t, ask(t, s, Config{Home: home}, "needle", Filter{}), "sessions/bad/1", "sessions/good/1")
	}
	s.broken = nil
	wants(t, ask(t, s, Config{Home: home}, "needle", Filter{}), "sessions/bad/1", "sessions/bad/2", "sessions/good/1")
}
