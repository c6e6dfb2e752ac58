package permission

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// plainStmts collects simple commands, and notes the first thing outside the
// list of what is plainly understood.
func (s *script) plainStmts(src string, stmts []*syntax.Stmt) {
	for _, st := range stmts {
		s.plainStmt(src, st, false)
	}
}

func (s *script) plainStmt(src string, st *syntax.Stmt, piped bool) {
	switch {
	case st.Negated:
		s.odd("it negates a command with !")
	case st.Background || st.Coprocess || st.Disown:
		s.odd("it starts a command in the background with &")
	}
	for _, r := range st.Redirs {
		if !plainRedirect(src, r) {
			s.odd("it redirects %s", r.Op)
		}
	}
	switch cmd := st.Cmd.(type) {
	case *syntax.CallExpr:
		s.plainCall(src, cmd, piped)
	case *syntax.BinaryCmd:
		switch cmd.Op {
		case syntax.AndStmt, syntax.OrStmt, syntax.Pipe:
		default:
			s.odd("it joins commands with %s", cmd.Op)
		}
		s.plainStmt(src, cmd.X, piped)
		s.plainStmt(src, cmd.Y, piped || cmd.Op == syntax.Pipe)
	case nil:
		s.odd("it redirects without a command")
	default:
		s.odd("it uses shell syntax beyond simple commands (%s)", nodeName(cmd))
	}
}

func (s *script) plainCall(src string, call *syntax.CallExpr, piped bool) {
	if len(call.Assigns) > 0 {
		s.odd("it sets a variable for the command")
	}
	c := command{argv: make([]word, 0, len(call.Args)), piped: piped}
	for i, arg := range call.Args {
		w := unquote(src, arg)
		switch {
		case i == 0 && !(w.plain && w.known):
			s.odd("the name of the command is not literal")
		case !w.plain:
			s.odd("the word %s is expanded by the shell", clip(w.raw))
		}
		c.argv = append(c.argv, w)
	}
	if len(c.argv) == 0 {
		s.odd("it sets a variable")
		return
	}
	s.top = append(s.top, c)
}

// plainRedirect accepts descriptor duplication and the null device.
func plainRedirect(src string, r *syntax.Redirect) bool {
	if r.N != nil && !digits(r.N.Value, 2) || r.Hdoc != nil {
		return false
	}
	w := unquote(src, r.Word)
	if !w.known || !w.plain {
		return false
	}
	switch r.Op {
	case syntax.DplIn, syntax.DplOut:
		// Of >&-'' bash makes a redirect and an empty argument.
		return w.raw == w.text && (w.text == "-" || digits(w.text, 2))
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn, syntax.RdrAll, syntax.AppAll:
		return w.text == "/dev/null"
	}
	return false
}

func digits(s string, most int) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != "" && len(s) <= most
}

func nodeName(n syntax.Node) string {
	return strings.TrimPrefix(fmt.Sprintf("%T", n), "*syntax.")
}
