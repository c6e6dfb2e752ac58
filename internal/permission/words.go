package permission

import (
	"slices"
	"strings"
)

// mention is a word that may name a file.
type mention struct {
	word
	program string // whose word it is; "" if that is not known, or none
	// left: the word says what a search leaves out. It names no protected path then.
	left bool
	// reads: the command only reads what the word names.
	reads bool
	// runs: the word is run, or read as a program, and not written.
	runs bool
}

// addWords keeps words that may name a file.
func (s *script) addWords(argv []word) {
	program := ""
	if len(argv) > 0 {
		program, _ = command{argv: argv}.name()
	}
	ended, reads, run := false, readsWords(argv), runWord(argv)
	for i, w := range argv {
		s.mention(mention{word: w, program: program, reads: reads, runs: slices.Contains(run, i), left: !ended && i > 0 && leavesOut(program, argv, i)})
		ended = ended || i > 0 && w.text == "--"
	}
}

func (s *script) mention(m mention) {
	if len(s.words) >= maxWords {
		s.unknown, s.overflow = true, true
		return
	}
	s.words = append(s.words, m)
}

// leavesOut reports that the word at i only says what the program leaves out of its work or selects by name:
// --exclude-dir=.git, find -not -path './.git/*'. It is certain of it, or says no.
func leavesOut(program string, argv []word, i int) bool {
	w, before := argv[i].text, argv[i-1]
	switch program {
	case "find":
		return findLooks(argv) && findPattern(before.text)
	case "tree":
		return before.text == "-I" && before.known
	case "grep", "egrep", "fgrep", "zgrep", "rg", "tar", "gtar", "bsdtar", "du", "diff":
	default:
		return false
	}
	if strings.HasPrefix(w, "--exclude=") || strings.HasPrefix(w, "--exclude-dir=") {
		return true // whoever takes it for a path does not find the one that stands behind the =
	}
	if !strings.HasSuffix(program, "grep") || before.text != "--exclude" && before.text != "--exclude-dir" || !before.known {
		return false
	}
	// The option may itself be the value of the one before it, such as -e.
	return i < 2 || !strings.HasPrefix(argv[i-2].text, "-") && argv[i-2].known || bareGrepOptions(argv[i-2])
}

// bareGrepOptions reports short options of grep none of which takes a value.
func bareGrepOptions(w word) bool {
	return w.known && len(w.text) > 1 && strings.Trim(w.text[1:], "abcEFGhHiIlLnoqrRsTuUvVwxyzZP") == ""
}

// findLooks reports a find that neither runs nor writes anything.
func findLooks(argv []word) bool {
	for _, w := range argv[1:] {
		if !w.known && !w.glob {
			return false
		}
		for _, act := range []string{"-exec", "-ok", "-delete", "-fprint", "-fls", "-files0-from"} {
			if strings.HasPrefix(w.text, act) {
				return false
			}
		}
	}
	return true
}

func findPattern(opt string) bool {
	switch opt {
	case "-path", "-ipath", "-wholename", "-iwholename", "-name", "-iname", "-regex", "-iregex":
		return true
	}
	return false
}

// scan keeps the path-like pieces of text that is not shell, or not parsed.
func (s *script) scan(text string) {
	pieces := strings.FieldsFunc(text, func(c rune) bool {
		return !(c == '/' || c == '.' || c == '_' || c == '-' || c == '~' || c >= '0' && c <= '9' ||
			c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c > 0x7f)
	})
	for _, piece := range pieces {
		if strings.ContainsAny(piece, "./~") {
			s.mention(mention{word: literal(piece)})
		}
	}
}
