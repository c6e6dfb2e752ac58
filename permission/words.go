package permission

import "strings"

// addWords keeps words that may name a file. What a command only leaves out of
// its work is not named by it: --exclude-dir=.git, find -not -path './.git/*'.
func (s *script) addWords(argv []word) {
	looks := looksOnly(argv)
	for i, w := range argv {
		if len(s.words) >= maxWords {
			s.unknown = true
			return
		}
		if strings.HasPrefix(w.text, "--exclude") || strings.HasPrefix(w.text, "--ignore") || looks && strings.HasPrefix(w.text, "!") {
			continue
		}
		if i > 0 && (argv[i-1].text == "--exclude" || argv[i-1].text == "--exclude-dir") {
			continue
		}
		if i > 0 && looks && patternOption(argv[i-1].text) {
			continue
		}
		s.words = append(s.words, w)
	}
}

// looksOnly reports a find or search that neither runs nor writes anything, whose
// patterns therefore only select what is listed.
func looksOnly(argv []word) bool {
	if len(argv) == 0 || !argv[0].known {
		return false
	}
	switch argv[0].text {
	case "find":
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
	case "rg", "grep", "tree":
		return true
	}
	return false
}

func patternOption(opt string) bool {
	switch opt {
	case "-path", "-ipath", "-wholename", "-iwholename", "-name", "-iname", "-regex", "-iregex", "-I", "--glob", "--iglob", "-g":
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
		if len(s.words) >= maxWords {
			s.unknown = true
			return
		}
		if strings.ContainsAny(piece, "./~") {
			s.words = append(s.words, word{text: piece, raw: piece, known: true, plain: true})
		}
	}
}
