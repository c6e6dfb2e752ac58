package search

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func wordsOf(text string) string {
	var out []string
	for _, w := range Words(text) {
		out = append(out, w.Text)
	}
	return strings.Join(out, "|")
}

// Goal: words are words whatever their script, case and accents, and however a text composes its characters.
func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"Hello, World!":                         "hello|world",
		"foo_bar/baz.go:12":                     "foo|bar|baz|go|12",
		"Äpfel Größe naïve":                     "apfel|grosse|naive",
		"CAFÉ cafe\u0301":                       "cafe|cafe",
		"ΣΟΦΟΣ σοφος":                           "σοφοσ|σοφοσ",
		"Łódź Øre straße STRASSE":               "lodz|ore|strasse|strasse",
		"İstanbul ıstanbul":                     "istanbul|istanbul",
		"漢字かな":                                  "漢|字|か|な",
		"が か":                                   "か\u3099|か",
		"한국어":                                   norm.NFD.String("한국어"),
		"สวัสดี":                                "ส|วั|ส|ดี",
		"ﬁle x² ½":                              "file|x2|1|2",
		"so\u00adft zero\u200bwidth zwj\u200dx": "soft|zero|width|zwjx",
		"fix 🎉 done🎉🎉":                          "fix|🎉|done|🎉|🎉",
		"a\xffb \x00 c":                         "a|b|c",
		"हिन्दी":                                "हिन्दी",
		"":                                      "",
		" \n\t":                                 "",
		strings.Repeat("x", 100):                strings.Repeat("x", maxWord),
	} {
		if got := wordsOf(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if got := wordsOf(norm.NFD.String(text)); got != wordsOf(norm.NFC.String(text)) {
			t.Errorf("%q: composed and decomposed give other words: %q", text, got)
		}
	}
	for _, w := range Words("één, TWO") {
		if at := "één, TWO"[w.From:w.To]; w.Text == "een" && at != "één" || w.Text == "two" && at != "TWO" {
			t.Errorf("%q stands at %q", w.Text, at)
		}
	}
}

// Goal: a word is found by itself: what was folded stays as it is when it is folded again.
func TestWordsAreStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		for _, w := range Words(text) {
			if got := wordsOf(w.Text); got != w.Text {
				t.Fatalf("%q becomes %q", w.Text, got)
			}
			if w.From < 0 || w.To > len(text) || w.From >= w.To || len(w.Text) > maxWord {
				t.Fatalf("%+v", w)
			}
		}
	})
}

// Goal: what a person writes is read as meant, and nothing that can be written is an error of syntax.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"hello":                 `"hello" *`,
		"hello world":           `"hello" AND "world" *`,
		`"hello world"`:         `"hello world"`,
		`say "hello world"`:     `"say" AND "hello world"`,
		`"hello world" again`:   `"hello world" AND "again" *`,
		`“hello world” x`:       `"hello world" AND "x"`,
		`unclosed "hello world`: `"unclosed" AND "hello" AND "world" *`,
		"foo_bar":               `"foo bar" *`,
		"go":                    `"go"`,
		"AND OR NOT NEAR(a b)":  `"and" AND "or" AND "not" AND "near a" AND "b"`,
		"col:x* ^y -z":          `"col x" AND "y" AND "z"`,
		"same same":             `"same" AND "same" *`,
		"漢字":                    `"漢 字"`,
	} {
		q, err := Parse(text)
		if err != nil || q.match() != want {
			t.Errorf("%q: %s, %v; want %s", text, q.match(), err, want)
		}
	}
	for text, want := range map[string]error{
		"": ErrNoWords, `"" -- !`: ErrNoWords, strings.Repeat("a ", 65): ErrTooLong, strings.Repeat("a", maxQuery+1): ErrTooLong,
	} {
		if _, err := Parse(text); !errors.Is(err, want) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// Goal: a snippet has the words that were looked for, marked, on one line of bounded length.
func TestSnippet(t *testing.T) {
	long := strings.Repeat("filler words here ", 100)
	for _, c := range []struct{ text, query, want string }{
		{"the Größe of it", "grosse", "the [Größe] of it"},
		{"one\n\n two\tthree", "two", "one [two] three"},
		{long + "needle in it " + long, "needle", "[needle]"},
		{"alpha " + long + " beta alpha beta", `alpha beta`, "[beta] [alpha] [beta]"},
		{"no more", `"no more"`, "[no] [more]"},
		{"漢字かな", "字か", "漢[字][か]な"},
	} {
		q, err := Parse(c.query)
		if err != nil {
			t.Fatal(err)
		}
		s := q.snippet(c.text)
		shown, at := "", 0
		for _, m := range s.Marks {
			shown += s.Text[at:m[0]] + "[" + s.Text[m[0]:m[1]] + "]"
			at = m[1]
		}
		if shown += s.Text[at:]; !strings.Contains(shown, c.want) || len(s.Text) > 2*snippetSize || strings.Contains(shown, "\n") {
			t.Errorf("%.20q, %s: %q", c.text, c.query, shown)
		}
	}
}

// FuzzParse: no query crashes, each one that is read is one that SQLite reads, and a text finds itself.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"hello", `"a b" c`, "AND", `"`, "a*", "x:y", "(", "🎉漢字", "\xff", "NEAR(a b, 2)", "{a b} : c", "ß \u0301"} {
		f.Add(s)
	}
	d, err := openDB(inMemory)
	if err != nil || d.create() != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = d.close() })
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(text)
		if err != nil {
			if !errors.Is(err, ErrNoWords) && !errors.Is(err, ErrTooLong) {
				t.Fatal(err)
			}
			return
		}
		if _, err := d.number("SELECT count(*) FROM word WHERE word MATCH ?1", q.match()); err != nil {
			t.Fatalf("%q as %s: %v", text, q.match(), err)
		}
		if !q.In(strings.ToValidUTF8(strings.Map(quote, text), " ")) {
			t.Fatalf("%q does not find itself", text)
		}
		s := q.snippet(text)
		for i, m := range s.Marks {
			if m[0] >= m[1] || m[1] > len(s.Text) || i > 0 && m[0] < s.Marks[i-1][1] {
				t.Fatalf("%q: marks %v", text, s.Marks)
			}
		}
	})
}

// Goal: what a plain reading of the texts finds, the index finds, and nothing else.
func TestIndexFindsWhatReadingFinds(t *testing.T) {
	alphabet := []string{"alpha", "Alphabet", "bêta", "BETA", "g-d", "漢字", "が", "foo_bar", "x", "🎉", "ß", "ss", "\"", "12", "1200", "한국", "\n", "a.b.c"}
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 8), 1, 12).Draw(t, "texts")
		query := strings.Join(rapid.SliceOfN(rapid.SampledFrom(alphabet), 1, 3).Draw(t, "query"), " ")
		q, err := Parse(query)
		if err != nil {
			return
		}
		d, err := openDB(inMemory)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = d.close() }()
		if err := d.create(); err != nil {
			t.Fatal(err)
		}
		var want []int
		for i, words := range texts {
			text := strings.Join(words, " ")
			if err := d.exec("INSERT INTO word (rowid, text) VALUES (?1, ?2)", i+1, folded(text)); err != nil {
				t.Fatal(err)
			}
			if q.In(text) {
				want = append(want, i+1)
			}
		}
		var got []int
		for i := range texts {
			n, err := d.number("SELECT count(*) FROM word WHERE word MATCH ?1 AND rowid = ?2", q.match(), i+1)
			if err != nil {
				t.Fatal(err)
			}
			if n > 0 {
				got = append(got, i+1)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s finds %v, reading %v", q.match(), got, want)
		}
	})
}
