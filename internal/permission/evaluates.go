package permission

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// This file finds what bash evaluates though it stands in quotes: the values of variables that are commands to
// somebody, aliases, prompts, and subscripts of variables whose names are strings.

// runsValue reports a variable whose value is, or holds, a command for bash or for a program.
func runsValue(name string) bool {
	switch name {
	case "BASH_ALIASES", "BASH_CMDS", "PS0", "PS4", "PROMPT_COMMAND", "BASH_ENV", "ENV", "VISUAL", "BROWSER", "LESSOPEN", "LESSCLOSE", "GIT_SSH", "GIT_SSH_COMMAND",
		"GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS", "GIT_PROXY_COMMAND", "GIT_CONFIG_PARAMETERS", "RSYNC_RSH", "CVS_RSH", "TAR_OPTIONS", "FCEDIT":
		return true
	}
	return strings.HasSuffix(name, "EDITOR") || strings.HasSuffix(name, "PAGER") || strings.HasPrefix(name, "GIT_CONFIG_VALUE")
}

// runValue keeps the commands of a value of such a variable.
func (s *script) runValue(name string, w word, depth int) {
	if !runsValue(name) {
		return
	}
	if name == "BASH_ALIASES" || name == "BASH_CMDS" || !w.known && !w.tilde {
		s.unknown = true // another name for a command, or a command that the text does not hold
	}
	text := strings.TrimLeft(w.text, "!|")
	if text == "" {
		return
	}
	s.addText(text, depth+1)
	if strings.HasPrefix(name, "GIT_CONFIG_") {
		s.addText("git "+text, depth+1) // perhaps an alias
	}
}

// runAssign does so for an assignment of the text.
func (s *script) runAssign(src string, a *syntax.Assign, depth int) {
	if a.Name == nil || !runsValue(a.Name.Value) {
		return
	}
	if a.Value != nil {
		s.runValue(a.Name.Value, unquote(src, a.Value), depth)
	}
	if a.Array != nil {
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				s.runValue(a.Name.Value, unquote(src, e.Value), depth)
			}
		}
	}
}

// evaluated follows a command that evaluates some of its words.
func (s *script) evaluated(name string, argv []word, depth int) {
	for i := range argv[1:] {
		if key, val, ok := strings.Cut(argv[1+i].text, "="); ok && runsValue(key) { // env EDITOR=x git commit
			w := argv[1+i]
			w.text = val
			s.runValue(key, w, depth)
		}
	}
	args := argv[1:]
	switch name {
	case "let", "declare", "typeset", "local", "export", "readonly", "unset", "read", "mapfile", "readarray", "wait", "getopts":
		s.evaluates = true
	case "printf", "test", "[":
		for _, w := range args {
			s.evaluates = s.evaluates || !w.known || strings.HasPrefix(w.text, "-v") || w.text == "-R" || arithmeticTest(w.text)
		}
	case "alias":
		for _, w := range args {
			if _, val, ok := strings.Cut(w.text, "="); ok {
				s.unknown = true
				s.addText(val, depth+1)
			}
		}
	case "hash":
		for i, w := range args {
			if strings.HasPrefix(w.text, "-p") {
				s.unknown = true
				if i+1 < len(args) {
					s.addCommand(args[i+1:i+2], depth+1, true)
				}
			}
		}
	case "enable":
		s.unknown = s.unknown || len(args) > 0 && strings.HasPrefix(args[0].text, "-f")
	}
	switch name {
	case "mapfile", "readarray", "compgen", "complete":
		for i, w := range args {
			if val, ok := strings.CutPrefix(w.text, "-C"); ok && val != "" {
				s.addText(val, depth+1)
			} else if ok && i+1 < len(args) {
				s.addText(args[i+1].text, depth+1)
				s.unknown = s.unknown || !args[i+1].known
			}
		}
	}
}

func arithmeticTest(op string) bool {
	switch op {
	case "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
		return true
	}
	return false
}

// evaluating notes syntax in which bash evaluates strings, and keeps strings that would run something then.
func (s *script) evaluating(src string, n syntax.Node) {
	switch n := n.(type) {
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop, *syntax.TestClause:
		s.evaluates = true
	case *syntax.ParamExp:
		s.evaluates = s.evaluates || n.Index != nil || n.Slice != nil || n.Excl
		if n.Exp != nil && n.Exp.Op == syntax.OtherParamOps && n.Exp.Word != nil && n.Exp.Word.Lit() == "P" {
			s.unknown, s.evaluates = true, true
		}
	case *syntax.Assign:
		s.evaluates = s.evaluates || n.Index != nil
	case *syntax.Word:
		from, to := n.Pos().Offset(), n.End().Offset()
		if from > to || to > uint(len(src)) || !strings.ContainsAny(src[from:to], "$`") {
			return
		}
		if w := unquote(src, n); strings.Contains(w.text, "$(") || strings.Contains(w.text, "`") || strings.Contains(w.text, "${") {
			s.quoted = append(s.quoted, w.text)
		}
	}
}

// maxQuoted bounds the strings that are read as if they were evaluated.
const maxQuoted = 64

// evaluate reads the quoted strings of a text that evaluates some of them.
func (s *script) evaluate() {
	if !s.evaluates {
		return
	}
	for i, text := range s.quoted {
		if i >= maxQuoted {
			s.unknown = true
			return
		}
		s.addText(strings.ReplaceAll(text, "\x00", "_"), 1)
	}
}

// gitRunsOption finds the commands that options of git hold, and what an alias given with -c stands for.
func gitRunsOption(args []word, sub int) (commands [][]word, texts []string) {
	name := ""
	if sub < len(args) {
		name = args[sub].text
	}
	for i, w := range args {
		if i < sub {
			conf := strings.TrimPrefix(w.text, "-c")
			if val, ok := gitAlias(conf); ok {
				commands = append(commands, append([]word{literal("git")}, fields(val)...))
			}
			continue
		}
		opt, val, has := strings.Cut(w.text, "=")
		switch {
		case gitRunsLong(opt) && has:
			texts = append(texts, val)
		case gitRunsLong(opt) && i+1 < len(args):
			texts = append(texts, args[i+1].text)
		case len(w.text) > 2 && (name == "grep" && strings.HasPrefix(w.text, "-") && strings.Contains(w.text, "O")):
			_, pager, _ := strings.Cut(w.text, "O")
			texts = append(texts, pager)
		case len(w.text) > 2 && (name == "rebase" || name == "difftool") && strings.HasPrefix(w.text, "-x"):
			texts = append(texts, w.text[2:])
		}
	}
	return commands, texts
}

// gitAlias gives what alias.x=VALUE stands for, unless it is a command of the shell.
func gitAlias(conf string) (string, bool) {
	key, val, ok := strings.Cut(conf, "=")
	return val, ok && len(key) > 6 && strings.EqualFold(key[:6], "alias.") && !strings.HasPrefix(val, "!")
}

func fields(text string) []word {
	var out []word
	for _, f := range strings.Fields(text) {
		out = append(out, literal(strings.Trim(f, `'"`)))
	}
	return out
}

func gitRunsLong(opt string) bool {
	if len(opt) < 4 || !strings.HasPrefix(opt, "--") {
		return false
	}
	for _, long := range []string{"--upload-pack", "--receive-pack", "--exec", "--open-files-in-pager", "--extcmd"} {
		if strings.HasPrefix(long, opt) {
			return true
		}
	}
	return false
}
