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
			s.addCommand(argv, depth, false)
		case *syntax.DeclClause:
			s.addCommand(declaration(src, n), depth, false)
		case *syntax.Redirect:
			s.addWords([]word{unquote(src, n.Word)})
			if n.Hdoc != nil {
				// The body may be a program for whoever reads it.
				s.bodies = append(s.bodies, unquote(src, n.Hdoc).text)
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
			s.addCommand([]word{literal("time")}, depth, false)
		case *syntax.LetClause:
			s.addCommand([]word{literal("let")}, depth, false)
		case *syntax.CoprocClause:
			s.addCommand([]word{literal("coproc")}, depth, false)
			if n.Name != nil {
				// Bash takes the word for a command where the parser sees a name.
				s.addCommand([]word{unquote(src, n.Name), {}}, depth, false)
			}
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
// scanned: its words are the tail of a command whose words were scanned.
func (s *script) addCommand(argv []word, depth int, scanned bool) {
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
		s.addCommand(inner, depth+1, scanned || in.program)
	}
	for _, text := range in.texts {
		s.addText(text, depth+1)
	}
	if in.program && !scanned {
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
