package permission

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of a command that is taken apart for people.
const (
	maxSteps     = 100 // simple commands; of more the rest is not listed
	maxStepDepth = 8   // text inside of text
)

// Step is one simple command of a command's text, for a person who has to judge it.
type Step struct {
	Text   string   // as it is written, without its redirections
	Depth  int      // 0: at the top; more: in a body or a substitution, or run by the one above
	Writes []string // files of its redirections, as they are written
	Reads  []string
	Piped  bool // what the one before prints is its input
}

// Steps takes a command apart as bash reads it: its simple commands in order, those in bodies and substitutions and those
// that others run included. why says what of it is not plainly understood; empty: nothing. whole is false where not every
// command is listed, because the text does not parse or has more than 100.
func Steps(command string) (steps []Step, why string, whole bool) {
	s := &stepper{}
	s.text(command, 0)
	return s.steps, analyse(Request{Tool: toolBash, Command: command, Cwd: "/"}).why, !s.broken && !s.more
}

type stepper struct {
	steps  []Step
	broken bool
	more   bool
}

func (s *stepper) text(src string, depth int) {
	if depth > maxStepDepth {
		s.more = true
		return
	}
	file, err := parseShell(src)
	s.broken = s.broken || err != nil
	s.stmts(src, file.Stmts, depth, false)
}

func (s *stepper) stmts(src string, list []*syntax.Stmt, depth int, piped bool) {
	for _, st := range list {
		s.stmt(src, st, depth, piped)
	}
}

func (s *stepper) stmt(src string, st *syntax.Stmt, depth int, piped bool) {
	if st == nil {
		return
	}
	from := len(s.steps)
	switch c := st.Cmd.(type) {
	case *syntax.BinaryCmd:
		s.stmt(src, c.X, depth, piped)
		s.stmt(src, c.Y, depth, c.Op == syntax.Pipe || c.Op == syntax.PipeAll)
	case *syntax.CallExpr:
		s.call(src, c, depth, piped)
	case nil:
		s.add(Step{Text: strings.TrimSpace(cutSource(src, st)), Depth: depth, Piped: piped})
	case *syntax.DeclClause, *syntax.LetClause, *syntax.TestClause, *syntax.ArithmCmd:
		s.add(Step{Text: cutSource(src, c), Depth: depth, Piped: piped})
		s.nested(src, c, depth+1)
	default:
		s.nested(src, c, depth)
	}
	for _, r := range st.Redirs {
		s.redirect(src, r, from, depth)
	}
}

// nested takes the statements that a node holds, wherever they stand in it.
func (s *stepper) nested(src string, root syntax.Node, depth int) {
	if depth > maxStepDepth {
		s.more = true
		return
	}
	syntax.Walk(root, func(n syntax.Node) bool {
		if st, ok := n.(*syntax.Stmt); ok {
			s.stmt(src, st, depth, false)
			return false
		}
		return true
	})
}

// call adds a simple command, then what stands in its words, and what it runs in turn.
func (s *stepper) call(src string, c *syntax.CallExpr, depth int, piped bool) {
	s.add(Step{Text: cutSource(src, c), Depth: depth, Piped: piped})
	s.nested(src, c, depth+1)
	argv := make([]word, len(c.Args))
	for i, a := range c.Args {
		argv[i] = unquote(src, a)
	}
	s.inner(argv, depth+1)
}

// inner adds what a command runs in turn.
func (s *stepper) inner(argv []word, depth int) {
	if len(argv) == 0 || !argv[0].known {
		return
	}
	if depth > maxStepDepth {
		s.more = true
		return
	}
	in := unwrap(path.Base(argv[0].text), argv)
	for _, words := range in.commands {
		if len(words) == 0 {
			continue
		}
		texts := make([]string, len(words))
		for i, w := range words {
			if texts[i] = w.raw; texts[i] == "" {
				texts[i] = strings.ReplaceAll(w.text, "\x00", "…")
			}
		}
		if text := strings.TrimSpace(strings.Join(texts, " ")); text != "" {
			s.add(Step{Text: text, Depth: depth})
			s.inner(words, depth+1)
		}
	}
	for _, text := range in.texts {
		s.text(text, depth)
	}
}

// redirect adds a redirection's file to the steps since from: those whose output or input it is.
func (s *stepper) redirect(src string, r *syntax.Redirect, from, depth int) {
	if r.Word == nil {
		return
	}
	s.nested(src, r.Word, depth+1)
	name := cutSource(src, r.Word)
	for i := from; i < len(s.steps); i++ {
		st := &s.steps[i]
		if st.Depth > depth {
			continue
		}
		switch r.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
			st.Writes = append(st.Writes, name)
		case syntax.RdrInOut:
			st.Writes, st.Reads = append(st.Writes, name), append(st.Reads, name)
		case syntax.RdrIn:
			st.Reads = append(st.Reads, name)
		default: // of descriptors, and texts that stand here
		}
	}
}

func (s *stepper) add(st Step) {
	switch {
	case st.Text == "":
	case len(s.steps) >= maxSteps:
		s.more = true
	default:
		s.steps = append(s.steps, st)
	}
}

// cutSource is the text of a node as it is written.
func cutSource(src string, n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset()) //nolint:gosec // offsets in a text of 16 KiB
	if from < 0 || to > len(src) || from > to {
		return ""
	}
	return src[from:to]
}
