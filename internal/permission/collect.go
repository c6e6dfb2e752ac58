package permission

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// collect walks a whole tree, substitutions and bodies included, and keeps its
// commands and words. depth counts shell text inside shell text.
func (s *script) collect(src string, root syntax.Node, depth int) {
	syntax.Walk(root, func(n syntax.Node) bool {
		s.evaluating(src, n)
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
			s.mention(mention{word: unquote(src, n.Word), reads: n.Op == syntax.RdrIn})
			if n.Hdoc != nil {
				// The body may be a program for whoever reads it.
				s.bodies = append(s.bodies, unquote(src, n.Hdoc).text)
			}
		case *syntax.Assign:
			s.addAssign(src, n)
			s.runAssign(src, n, depth)
		case *syntax.ParamExp:
			if n.Exp != nil && n.Exp.Word != nil {
				s.addValue(unquote(src, n.Exp.Word))
			}
			if n.Repl != nil && n.Repl.With != nil {
				s.addValue(unquote(src, n.Repl.With))
			}
		case *syntax.ArrayElem:
			if n.Value != nil {
				s.addValue(unquote(src, n.Value))
			}
		case *syntax.WordIter:
			for _, item := range n.Items {
				w := unquote(src, item)
				s.addValue(w)
				s.assign(n.Name.Value, &w)
			}
			if len(n.Items) == 0 {
				s.assign(n.Name.Value, nil)
			}
		case *syntax.TimeClause:
			s.addCommand([]word{literal("time")}, depth, false)
		case *syntax.LetClause:
			s.addCommand([]word{literal("let")}, depth, false)
		case *syntax.CoprocClause:
			s.addCommand([]word{literal("coproc")}, depth, false)
			if n.Name != nil {
				// Bash takes the word for a command where the parser sees a name.
				s.addCommand([]word{unquote(src, n.Name), anyWord()}, depth, false)
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

func literal(s string) word {
	return word{text: s, raw: s, known: true, plain: true, form: formBytes(s)}
}

// anyWord stands for words that the text does not hold.
func anyWord() word { return word{form: "\x00"} }

// addValue keeps a word that becomes a value. What is not known of it names nothing until the value is used.
func (s *script) addValue(w word) {
	if w.form != "\x00" {
		s.mention(mention{word: w})
	}
}

// addAssign keeps what a variable is set to.
func (s *script) addAssign(src string, a *syntax.Assign) {
	var value *word
	if a.Value != nil {
		w := unquote(src, a.Value)
		s.addValue(w)
		value = &w
	}
	switch {
	case a.Name == nil || a.Naked:
		return
	case a.Append || a.Index != nil || a.Array != nil:
		value = nil
	case a.Value == nil:
		empty := literal("")
		value = &empty
	}
	s.assign(a.Name.Value, value)
	if a.Name.Value == "GLOBIGNORE" {
		s.wide = true
	}
}

// addUnknown keeps the words of a command inside another that are filled in when it runs.
func (s *script) addUnknown(wrapper string, inner []word) {
	switch wrapper {
	case "xargs", "find", "gfind", "parallel":
	default:
		return
	}
	for i := range inner {
		if w := &inner[i]; len(w.slots) == 0 && strings.IndexByte(w.form, markUnknown) >= 0 {
			s.mention(mention{word: word{form: w.form}, program: wrapper})
		}
	}
}

// widens follows the options of bash that make patterns match more.
func (s *script) widens(name string, argv []word) {
	switch name {
	case "shopt", "bash":
		for _, w := range argv[1:] {
			switch w.text {
			case "dotglob", "globstar", "nocaseglob", "extglob":
				s.wide = true
			}
			s.wide = s.wide || name == "shopt" && !w.known
		}
	}
}

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
	s.assigns(name, argv)
	s.widens(name, argv)
	s.evaluated(name, argv, depth)
	in := unwrap(name, argv)
	s.unknown = s.unknown || in.unknown
	for _, inner := range in.commands {
		s.addUnknown(name, inner)
		s.addCommand(inner, depth+1, scanned || in.program)
	}
	for _, text := range in.texts {
		s.addText(text, depth+1)
	}
	if in.program && !scanned {
		run := runWord(argv)
		for i, w := range argv[1:] {
			if !slices.Contains(run, i+1) || !simplePath(w.text) { // such a word is one path, and was kept as one
				s.scan(w.text)
			}
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
	if len(argv) == 1 {
		s.base(s.home)
	}
	for _, w := range argv[1:] {
		if strings.HasPrefix(w.text, "-") {
			if w.text == "-" {
				s.base("") // it is one of them, unless the variable OLDPWD says another
			}
			continue
		}
		for _, dir := range s.expand(w) {
			switch {
			case strings.HasPrefix(dir, "/"):
				s.base(dir)
				continue
			case strings.HasPrefix(dir, "~/"), strings.HasPrefix(dir, "\x07/"), dir == "\x07":
				s.base(s.home + dir[1:])
				continue
			case dir == "" || dir[0] == markUnknown || dir[0] == markTilde:
				s.base("")
				continue
			}
			for _, base := range s.bases[:len(s.bases):len(s.bases)] {
				if base != "" {
					s.base(base + "/" + dir)
				}
			}
		}
	}
}

// base adds a directory; "" is one that is not known.
func (s *script) base(dir string) {
	if strings.HasPrefix(dir, "/") {
		dir = cleanForm(dir)
	} else {
		dir = ""
	}
	if slices.Contains(s.bases, dir) {
		return
	}
	if len(s.bases) >= maxBases {
		if !slices.Contains(s.bases, "") {
			s.bases = append(s.bases, "")
		}
		return
	}
	s.bases = append(s.bases, dir)
}
