package permission

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// collect walks a whole tree, substitutions and bodies included, and keeps its
// commands and words. depth counts shell text inside shell text.
func (s *script) collect(src string, root syntax.Node, depth int) {
	syntax.Walk(root, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			argv := make([]word, len(n.Args))
			for i, arg := range n.Args {
				argv[i] = unquote(src, arg)
			}
			s.addWords(argv)
			s.addCommand(argv, depth)
		case *syntax.DeclClause:
			s.addCommand(declaration(src, n), depth)
		case *syntax.Redirect:
			s.addWords([]word{unquote(src, n.Word)})
			if n.Hdoc != nil {
				// The body may be a program for whoever reads it.
				body := unquote(src, n.Hdoc).text
				s.scan(body)
				s.programs = append(s.programs, body)
			}
		case *syntax.Assign:
			if n.Value != nil {
				s.addWords([]word{unquote(src, n.Value)})
			}
		case *syntax.ArrayElem:
			if n.Value != nil {
				s.addWords([]word{unquote(src, n.Value)})
			}
		case *syntax.WordIter:
			for _, item := range n.Items {
				s.addWords([]word{unquote(src, item)})
			}
		case *syntax.TimeClause:
			s.addCommand([]word{literal("time")}, depth)
		case *syntax.LetClause:
			s.addCommand([]word{literal("let")}, depth)
		case *syntax.CoprocClause:
			s.addCommand([]word{literal("coproc")}, depth)
		}
		return true
	})
}

// declaration turns export, declare and the like into a command, so that a rule
// on the word matches.
func declaration(src string, d *syntax.DeclClause) []word {
	argv := []word{literal(d.Variant.Value)}
	for _, a := range d.Args {
		w := word{}
		if a.Naked && a.Value != nil {
			w = unquote(src, a.Value)
		} else if a.Naked && a.Name != nil {
			w = literal(a.Name.Value)
		}
		argv = append(argv, w)
	}
	return argv
}

func literal(s string) word { return word{text: s, raw: s, known: true, plain: true} }

// addCommand keeps a simple command, and everything that it would run in turn.
func (s *script) addCommand(argv []word, depth int) {
	if len(argv) == 0 {
		return
	}
	// What the text itself holds is bounded by its length and always judged; only
	// the views of it are counted.
	if depth > 0 && len(s.all) >= maxViews || depth > maxNesting {
		s.unknown = true
		s.odd("it runs more commands, or nests them deeper, than are understood")
		return
	}
	c := command{argv: argv}
	s.all = append(s.all, c)
	name, known := c.name()
	if !known {
		s.unknown = true
		return
	}
	if name == "cd" || name == "pushd" {
		s.addBase(argv)
	}
	in := unwrap(name, argv)
	s.unknown = s.unknown || in.unknown
	for _, inner := range in.commands {
		s.addCommand(inner, depth+1)
	}
	for _, text := range in.texts {
		s.addText(text, depth+1)
	}
	if in.program {
		for _, w := range argv[1:] {
			s.scan(w.text)
			s.programs = append(s.programs, w.text)
		}
	}
}

// addText keeps the commands of a string that a command runs as shell text.
func (s *script) addText(text string, depth int) {
	if depth > maxNesting {
		s.unknown = true
		s.odd("it nests shell text deeper than is understood")
		return
	}
	s.scan(text)
	file, err := parseShell(text)
	s.unknown = s.unknown || err != nil
	s.collect(text, file, depth)
	s.ambiguous(text, depth)
}

// addBase remembers where a cd leads, for the words that follow.
func (s *script) addBase(argv []word) {
	if len(argv) == 1 && s.home != "" && len(s.bases) < maxBases {
		s.bases = append(s.bases, s.home)
	}
	for _, w := range argv[1:] {
		dir, literal := w.text, w.known
		if w.tilde && s.home != "" && (dir == "~" || strings.HasPrefix(dir, "~/")) {
			dir, literal = s.home+dir[1:], true
		}
		if !literal || strings.HasPrefix(dir, "-") {
			continue
		}
		for _, base := range s.bases {
			if len(s.bases) >= maxBases {
				return
			}
			to := dir
			if !strings.HasPrefix(to, "/") {
				to = base + "/" + to
			}
			s.bases = append(s.bases, path.Clean(to))
		}
	}
}

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
