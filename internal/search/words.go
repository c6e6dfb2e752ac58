package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWord bounds a word in bytes, as it is kept. What is longer is known by its beginning.
const maxWord = 64

// Word is a word of a text: as it is kept, and where it stands.
type Word struct {
	Text     string
	From, To int // bytes of the text
}

// Words gives the words of a text in order.
func Words(text string) []Word {
	var out []Word
	each(text, func(w []byte, from, to int) { out = append(out, Word{string(w), from, to}) })
	return out
}

// folded is a text as the index reads it: its words with one blank between them.
func folded(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	each(text, func(w []byte, _, _ int) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.Write(w)
	})
	return b.String()
}

// splitter cuts a text into words.
type splitter struct {
	do       func(word []byte, from, to int)
	word     [maxWord]byte
	size     int
	cut      bool // the word is longer than what is kept of it
	from, to int
}

// each calls do for each word of a text. The bytes are only good until it returns.
func each(text string, do func(word []byte, from, to int)) {
	s := &splitter{do: do}
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			switch {
			case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
				s.add(rune(c), i, i+1)
			case c >= 'A' && c <= 'Z':
				s.add(rune(c|0x20), i, i+1)
			default:
				s.end()
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError {
			s.end()
		} else {
			s.other(r, i, i+n)
		}
		i += n
	}
	s.end()
}

// other takes a character that is not ASCII: the characters that it is made of, each by what it is.
func (s *splitter) other(r rune, from, to int) {
	var room [utf8.UTFMax]byte
	one := room[:utf8.EncodeRune(room[:], r)]
	parts := norm.NFKD.Properties(one).Decomposition()
	switch {
	case r >= 0xac00 && r <= 0xd7a3: // syllables of Hangul, which are computed
		parts = norm.NFKD.Append(nil, one...)
	case parts == nil:
		parts = one
	}
	for len(parts) > 0 {
		p, n := utf8.DecodeRune(parts)
		parts = parts[n:]
		s.part(p, from, to)
	}
}

func (s *splitter) part(r rune, from, to int) {
	switch {
	case r == '\u200b': // a blank without width
		s.end()
	case unicode.Is(unicode.Cf, r) || accent(r):
		if s.size > 0 {
			s.to = to
		}
	case unicode.IsMark(r):
		s.add(r, from, to)
	case alone(r):
		s.end()
		s.add(r, from, to)
	case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Co, r):
		r = unicode.ToLower(unicode.ToUpper(r))
		if as, ok := written[r]; ok {
			for _, c := range as {
				s.add(c, from, to)
			}
			return
		}
		s.add(r, from, to)
	default:
		s.end()
	}
}

// add puts a character at the end of the word.
func (s *splitter) add(r rune, from, to int) {
	if s.size > 0 && aloneBefore(s.word[:s.size]) && !unicode.IsMark(r) {
		s.end()
	}
	if s.size == 0 {
		s.from = from
	}
	s.to = to
	if n := utf8.RuneLen(r); s.cut || s.size+n > maxWord {
		s.cut = true
	} else {
		s.size += utf8.EncodeRune(s.word[s.size:], r)
	}
}

func (s *splitter) end() {
	if s.size > 0 {
		s.do(s.word[:s.size], s.from, s.to)
	}
	s.size, s.cut = 0, false
}

// aloneBefore reports whether a word begins with a character that is a word by itself.
func aloneBefore(word []byte) bool {
	if word[0] < utf8.RuneSelf {
		return false
	}
	r, _ := utf8.DecodeRune(word)
	return alone(r)
}

// alone tells of a character that is a word by itself: those of scripts without blanks between words, and pictures.
func alone(r rune) bool {
	return r > 0x7f && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) &&
		(unicode.IsLetter(r) || unicode.IsNumber(r)) || unicode.Is(unicode.So, r))
}

// accent tells of a mark that a word is the same word without.
func accent(r rune) bool {
	if !unicode.Is(unicode.Mn, r) || r == '\u3099' || r == '\u309a' { // the voicing of kana makes other letters
		return false
	}
	return unicode.In(r, unicode.Inherited, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic)
}

// written are letters that have no parts, as they are written without them. All are small ones.
var written = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ħ': "h", 'ŧ': "t", 'ı': "i",
}
