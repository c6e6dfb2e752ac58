package permission

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

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
	for st, err := range parser.StmtsSeq(strings.NewReader(text)) {
		if err != nil {
			return file, err
		}
		file.Stmts = append(file.Stmts, st)
	}
	return file, nil
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
