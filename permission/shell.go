package permission

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of one analysis. What lies beyond them is not understood, and so asks.
const (
	maxNesting = 6    // shell text inside shell text
	maxViews   = 2048 // commands seen only inside other commands' words
	maxWords   = 8192
	maxBases   = 8 // directories that a cd may lead to
)

// script is what a Bash command text turned out to be.
type script struct {
	// top are the simple commands of a plainly understood text, in order.
	top []command
	// why says what is not plainly understood, "" when everything is.
	why string
	// broken: the text does not parse. all and words are then incomplete.
	broken bool
	// all are the simple commands found anywhere: at the top, in substitutions,
	// bodies and strings, and what wrappers run. Deny and ask rules, and
	// deciding commands, are looked for here.
	all []command
	// unknown: something runs whose program is not known from the text.
	unknown bool
	// words are the words that may name a file, from anywhere in the text.
	words []word
	// programs are words that hold a program, or data of unknown use.
	programs []string
	// bases are the directories relative words may be resolved against.
	bases []string
	text  string
	home  string // what ~ means, or ""
}

// command is one simple command as some shell would run it.
type command struct {
	argv []word
}

// name is the program's name without its directory; known is false when it is
// not in the text.
func (c command) name() (name string, known bool) {
	if len(c.argv) == 0 || !c.argv[0].known {
		return "", false
	}
	return path.Base(c.argv[0].text), true
}

func (s *script) odd(format string, args ...any) {
	if s.why == "" {
		s.why = fmt.Sprintf(format, args...)
	}
}

// analyse parses a command and collects what a decision needs. It looks at the
// text alone and never fails: what it cannot read is said in why.
func analyse(r Request) *script {
	text := r.Command
	s := &script{text: text, home: r.HomeDir, bases: []string{r.Cwd}}
	file, err := parseShell(text)
	if err != nil {
		s.broken, s.unknown = true, true
		s.odd("the command does not parse: %v", err)
		s.scan(text)
		s.collect(text, file, 0)
		s.ambiguous(text, 0)
		return s
	}
	s.plainStmts(text, file.Stmts)
	s.collect(text, file, 0)
	s.ambiguous(text, 0)
	if len(s.top) == 0 {
		s.odd("it runs no command")
	}
	return s
}

// parseShell parses as bash does. With an error the file holds the statements
// before it, which bash runs too. A panic of the parser is an error like any
// other, for the text comes from a model.
func parseShell(text string) (file *syntax.File, err error) {
	file = &syntax.File{}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("parser failed: %v", p)
		}
	}()
	if deepNesting(text) {
		return file, errors.New("too deeply nested")
	}
	parser := syntax.NewParser(syntax.Variant(syntax.LangBash))
	err = parser.Stmts(strings.NewReader(text), func(st *syntax.Stmt) bool {
		file.Stmts = append(file.Stmts, st)
		return true
	})
	return file, err
}

// ambiguous finds line continuations that bash and the parser read differently,
// which comparing the two brought to light: bash ends a comment at the newline
// whatever stands before it, and begins one after a continuation. Such a text is
// never plain, and is collected a second time with its lines apart.
func (s *script) ambiguous(text string, depth int) {
	start, found := 0, false
	for i := 0; i+1 < len(text) && !found; i++ {
		switch {
		case text[i] == '\\' && text[i+1] == '\n':
			found = hasComment(text[start:i]) || i+2 < len(text) && text[i+2] == '#'
		case text[i] == '\n':
			start = i + 1
		}
	}
	if !found {
		return
	}
	s.unknown = true
	s.odd("it continues a line next to a comment")
	apart := strings.ReplaceAll(text, "\\\n", "\n")
	file, _ := parseShell(apart)
	s.collect(apart, file, depth)
}

// hasComment reports a # that may begin a comment.
func hasComment(line string) bool {
	for i := range len(line) {
		if line[i] == '#' && (i == 0 || strings.IndexByte(" \t;|&()<>`\n{}", line[i-1]) >= 0) {
			return true
		}
	}
	return false
}

// deepNesting bounds the parser's recursion and backtracking before it starts.
func deepNesting(text string) bool {
	depth, deepest := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '{':
			depth++
			deepest = max(deepest, depth)
		case ')', '}':
			depth = max(0, depth-1)
		}
	}
	return deepest > 100
}

// plainStmts collects simple commands, and notes the first thing outside the
// list of what is plainly understood.
func (s *script) plainStmts(src string, stmts []*syntax.Stmt) {
	for _, st := range stmts {
		s.plainStmt(src, st)
	}
}

func (s *script) plainStmt(src string, st *syntax.Stmt) {
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
		s.plainCall(src, cmd)
	case *syntax.BinaryCmd:
		switch cmd.Op {
		case syntax.AndStmt, syntax.OrStmt, syntax.Pipe:
		default:
			s.odd("it joins commands with %s", cmd.Op)
		}
		s.plainStmt(src, cmd.X)
		s.plainStmt(src, cmd.Y)
	case nil:
		s.odd("it redirects without a command")
	default:
		s.odd("it uses shell syntax beyond simple commands (%s)", nodeName(cmd))
	}
}

func (s *script) plainCall(src string, call *syntax.CallExpr) {
	if len(call.Assigns) > 0 {
		s.odd("it sets a variable for the command")
	}
	c := command{argv: make([]word, 0, len(call.Args))}
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
		return w.text == "-" || digits(w.text, 2)
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

// oneCommand reads a rule's text as the words of one plain simple command.
func oneCommand(text string) ([]word, bool) {
	file, err := parseShell(text)
	if err != nil || len(file.Stmts) != 1 || len(file.Stmts[0].Redirs) > 0 {
		return nil, false
	}
	s := &script{}
	s.plainStmts(text, file.Stmts)
	if s.why != "" || len(s.top) != 1 {
		return nil, false
	}
	return s.top[0].argv, true
}
