package settings

import (
	"slices"
	"strings"
)

// ordinary reports whether a variable is one that every environment has, and whose value is a path or a word that
// ordinary texts are full of: replaced everywhere, as a secret is, it would leave little of what a session reads.
func ordinary(name string) bool {
	return slices.Contains(ordinaryVariables, name) ||
		slices.ContainsFunc(ordinaryFamilies, func(family string) bool { return strings.HasPrefix(name, family) })
}

var ordinaryVariables = []string{
	"HOME", "PWD", "OLDPWD", "PATH", "CDPATH", "MANPATH", "GOPATH", "GOROOT", "PYTHONPATH", "NODE_PATH", "VIRTUAL_ENV",
	"USER", "LOGNAME", "USERNAME", "HOSTNAME", "HOST", "SHELL", "MAIL", "SHLVL", "_",
	"TMPDIR", "TMP", "TEMP", "LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "TERM_PROGRAM", "TERMINFO", "DISPLAY",
	"EDITOR", "VISUAL", "PAGER", "BROWSER", "PERDURE_HOME", "PERDURE_SESSION_ID",
}

// ordinaryFamilies are how the names of several such variables begin.
var ordinaryFamilies = []string{"LC_", "XDG_"}
