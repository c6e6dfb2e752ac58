package knowledge

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/plain"
)

// prefix is where models see the memory.
const prefix = "/memories"

// Bounds of a path, in bytes, and in names.
const (
	maxPath  = 1024
	maxName  = 200
	maxDepth = 8
)

// locate reads a path as a model writes it: the scope, and the name of the file or directory in it, empty for the
// scope's own directory. The errors say what is wrong with the path, without it.
func (m *Memory) locate(path string) (*Scope, string, error) {
	rest, ok := strings.CutPrefix(path, prefix)
	if !ok || rest != "" && rest[0] != '/' {
		return nil, "", errors.New("every path begins with " + prefix)
	}
	if len(path) > maxPath {
		return nil, "", errors.New("the path is too long")
	}
	rest = strings.TrimSuffix(strings.TrimPrefix(rest, "/"), "/")
	scope := m.Project
	if first, below, _ := strings.Cut(rest, "/"); first == userDir {
		scope, rest = m.User, below
	}
	if rest == "" {
		return scope, "", nil
	}
	return scope, rest, checkName(rest)
}

// checkName refuses a name that could mean anything but one file below the directory, on any file system.
func checkName(name string) error {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, plain.Hidden) {
		return errors.New("it has characters that do not show as they are")
	}
	if strings.ContainsAny(name, `\:*?"<>|`) {
		return errors.New(`names are without \ : * ? " < > |`)
	}
	if encoded(name) {
		return errors.New("names are written as they are, without %-codes")
	}
	names := strings.Split(name, "/")
	if len(names) > maxDepth {
		return errors.New("it is too deep")
	}
	for i, n := range names {
		switch {
		case n == "" || n == "." || n == "..":
			return errors.New(`a path has no empty names, no . and no ..`)
		case n[0] == '.':
			return errors.New("names do not begin with a dot")
		case len(n) > maxName:
			return errors.New("a name is too long")
		case strings.TrimRight(n, " .") != n || n[0] == ' ':
			return errors.New("names do not begin or end with blanks, nor end with dots")
		case strings.EqualFold(n, "node_modules"):
			return errors.New("node_modules is not shown, so nothing is kept there")
		case i == 0 && strings.EqualFold(n, userDir):
			return errors.New("user is the name of the user's own memory")
		case i == 0 && strings.EqualFold(n, indexName) && (n != indexName || len(names) > 1):
			return errors.New(indexName + " is the index")
		}
	}
	return nil
}

// encoded reports a byte written as % and two hexadecimal digits.
func encoded(name string) bool {
	hex := func(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }
	for i := 0; i+2 < len(name); i++ {
		if name[i] == '%' && hex(name[i+1]) && hex(name[i+2]) {
			return true
		}
	}
	return false
}

// shown is the path by which a model knows a file of a scope.
func (s *Scope) shown(name string) string {
	path := prefix
	if s.Name == userDir {
		path += "/" + userDir
	}
	if name != "" {
		path += "/" + name
	}
	return path
}
