package permission

import (
	"fmt"
	"path"
)

// Bounds of one analysis. What lies beyond them is not understood, and so asks.
const (
	maxNesting = 6    // shell text inside shell text
	maxViews   = 2048 // commands seen only inside other commands' words
	maxWords   = 8192
	maxBases   = 16 // directories that a cd may lead to
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
	words []mention
	// quoted are strings that would run something if bash evaluated them, and
	// evaluates says that it evaluates some strings.
	quoted    []string
	evaluates bool
	// overflow: it has more words, or they may name more paths, than are kept.
	overflow bool
	// wide: patterns match more than usual, by an option of bash.
	wide bool
	// env is what the command starts with, nil if that is not known. assigned are
	// the values that the text gives to variables; with anyVariable every variable
	// may have any value.
	env         map[string]string
	assigned    map[string][]word
	anyVariable bool
	// programs are words that hold a program, or data of unknown use.
	programs []string
	// bodies are here-documents. They count among the programs when something
	// runs that may read them so; otherwise they are text to be stored.
	bodies []string
	// bases are the directories relative words may be resolved against.
	bases []string
	text  string
	home  string // what ~ means, or ""
}

// command is one simple command as some shell would run it.
type command struct {
	argv []word
	// piped: it reads what the command before it prints.
	piped bool
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
	s := &script{text: r.Command, home: r.HomeDir, bases: []string{r.Cwd}, env: r.env}
	file, err := parseShell(s.text)
	if err != nil {
		s.broken, s.unknown = true, true
		s.odd("the command does not parse: %v", err)
		s.scan(s.text)
	}
	s.plainStmts(s.text, file.Stmts)
	s.collect(s.text, file, 0)
	s.ambiguous(s.text, 0)
	s.evaluate()
	s.charset()
	if len(s.top) == 0 {
		s.odd("it runs no command")
	}
	if len(s.programs) > 0 || s.unknown {
		for _, body := range s.bodies {
			s.scan(body)
		}
		s.programs = append(s.programs, s.bodies...)
	}
	return s
}
