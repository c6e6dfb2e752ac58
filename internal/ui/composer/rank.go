package composer

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Rank gives up to n of the files whose paths have the letters of a word in their order, the best first: those with the
// letters in the name itself, at beginnings of words, beside each other; then the shorter ones. An empty word gives what
// lies at the top, by name, with hidden files behind it. Case counts only if the word has capitals.
func Rank(list []File, word string, n int) []File {
	type ranked struct {
		File
		score  int
		folded string
	}
	var best []ranked
	for _, f := range list {
		if s := score(f.Path, word); s > 0 {
			best = append(best, ranked{f, s, strings.ToLower(f.Path)})
		}
	}
	slices.SortFunc(best, func(a, b ranked) int {
		shorter := cmp.Compare(len(a.Path), len(b.Path))
		if word == "" {
			shorter = 0
		}
		return cmp.Or(cmp.Compare(b.score, a.score), shorter, cmp.Compare(a.folded, b.folded), cmp.Compare(a.Path, b.Path))
	})
	out := make([]File, 0, min(len(best), n))
	for _, r := range best[:min(len(best), n)] {
		out = append(out, r.File)
	}
	return out
}

// score says how much a path is like a word; 0: it is not.
func score(path, word string) int {
	const (
		base     = 1000
		adjacent = 8
		start    = 10 // of a part of the path, or of a word in it
		inName   = 12
		deep     = 5
		hidden   = 30
	)
	total := base - deep*strings.Count(strings.TrimSuffix(path, "/"), "/")
	if !strings.HasPrefix(word, ".") && (strings.HasPrefix(path, ".") || strings.Contains(path, "/.")) {
		total -= hidden
	}
	if word == "" {
		return max(total, 1)
	}
	fold := strings.ToLower(word) == word
	name := strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/') + 1
	// The letters are looked for in the name first, since that is what a person remembers.
	for _, from := range []int{name, 0} {
		points, last, at := 0, -2, from
		for i := 0; i < len(word); {
			r, n := utf8.DecodeRuneInString(word[i:])
			j := find(path[at:], r, word[i:i+n], fold)
			if j < 0 {
				points = -1
				break
			}
			j += at
			if j == last {
				points += adjacent
			}
			if j == 0 || strings.IndexByte("/_-. ", path[j-1]) >= 0 {
				points += start
			}
			if j >= name {
				points += inName
			}
			last, at = j+n, j+n
			i += n
		}
		if points >= 0 {
			if hasPrefix(path[name:], word, fold) {
				points += base
			}
			return max(total+points, 1)
		}
	}
	return 0
}

// find is where a character is in a text; -1: nowhere. Only letters of ASCII are folded.
func find(s string, r rune, char string, fold bool) int {
	if r < utf8.RuneSelf && fold && r >= 'a' && r <= 'z' {
		return strings.IndexFunc(s, func(x rune) bool { return x == r || x == r-'a'+'A' })
	}
	return strings.Index(s, char)
}

func hasPrefix(s, prefix string, fold bool) bool {
	return len(s) >= len(prefix) && (s[:len(prefix)] == prefix || fold && strings.EqualFold(s[:len(prefix)], prefix))
}
