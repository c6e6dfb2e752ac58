package permission

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// slot is a place in a word that the shell fills: the value of a variable, one of a few other texts, or, when it is
// empty, something that the text does not tell.
type slot struct {
	name string // a variable
	alt  []word // what stands there instead of it, or besides: the default of ${x:-default}
	also bool   // the alternatives may stand there besides the variable's value
	here bool   // the directory that the command is in
}

// slotOf reads an expansion.
func slotOf(src string, part syntax.WordPart) slot {
	switch part := part.(type) {
	case *syntax.ParamExp:
		return slotOfParam(src, part)
	case *syntax.CmdSubst:
		return slotOfCommand(src, part)
	}
	return slot{}
}

func slotOfParam(src string, p *syntax.ParamExp) slot {
	if p.Param == nil || p.Excl || p.Length || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 {
		return slot{}
	}
	sl := slot{name: p.Param.Value}
	if p.Exp == nil {
		return sl
	}
	switch p.Exp.Op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
		syntax.AssignUnset, syntax.AssignUnsetOrNull:
		sl.also = true
		sl.alt = []word{literal("")}
		if p.Exp.Word != nil {
			sl.alt = append(sl.alt, unquote(src, p.Exp.Word))
		}
		return sl
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return sl
	}
	return slot{}
}

// slotOfCommand knows the few commands that print a known text.
func slotOfCommand(src string, c *syntax.CmdSubst) slot {
	if len(c.Stmts) != 1 {
		return slot{}
	}
	st := c.Stmts[0]
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 || st.Negated || st.Background {
		return slot{}
	}
	argv := make([]word, len(call.Args))
	for i, a := range call.Args {
		argv[i] = unquote(src, a)
	}
	if !argv[0].known || len(st.Redirs) > 0 && argv[0].text != "cat" {
		return slot{}
	}
	switch name := argv[0].text; {
	case name == "pwd" && len(argv) == 1:
		return slot{here: true}
	case name == "nproc" && len(argv) == 1:
		return slot{alt: []word{literal("1")}}
	case name == "printenv" && len(argv) == 2 && argv[1].known:
		return slot{name: argv[1].text}
	case name == "echo" && len(argv) == 2 && !strings.HasPrefix(argv[1].text, "-"):
		return slot{alt: argv[1:]}
	case name == "cat" && len(argv) == 1 && len(st.Redirs) == 1 && st.Redirs[0].Hdoc != nil:
		// The usual way to write a message of several lines.
		return slot{alt: []word{unquote(src, st.Redirs[0].Hdoc)}}
	}
	return slot{}
}

// values are the forms that may fill a slot.
func (s *script) values(sl slot, depth int) []string {
	var out []string
	add := func(forms []string) {
		for _, f := range forms {
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	switch {
	case depth >= maxFollows:
		return []string{"\x00"}
	case sl.here:
		return s.here()
	case sl.name == "" && len(sl.alt) == 0:
		return []string{"\x00"}
	}
	for _, w := range sl.alt {
		add(s.expandDeep(w, depth+1))
	}
	if sl.name != "" {
		add(s.variable(sl.name, depth))
	}
	if len(out) > maxValues {
		return []string{"\x00"}
	}
	return out
}

func (s *script) here() []string {
	out := make([]string, len(s.bases))
	for i, base := range s.bases {
		out[i] = base
		if base == "" {
			out[i] = "\x00"
		}
	}
	return out
}

// variable gives the values that a variable may have: what the command starts with, and what the text sets.
func (s *script) variable(name string, depth int) []string {
	if name == "PWD" {
		return s.here()
	}
	if s.env == nil || s.anyVariable || setByShell(name) {
		return []string{"\x00"}
	}
	if _, ok := s.env[name]; !ok && strings.HasPrefix(name, "PERDURE_") {
		return []string{"\x00"}
	}
	values := []string{valueForm(s.env[name])}
	for _, w := range s.assigned[name] {
		for _, form := range s.expandDeep(w, depth+1) {
			values = append(values, strings.NewReplacer("~/", valueForm(s.home)+"/").Replace(form))
		}
		if len(values) > maxValues {
			return []string{"\x00"}
		}
	}
	return values
}

// valueForm is a value of which unquoted patterns may become alive.
func valueForm(v string) string {
	return strings.NewReplacer("*", "\x04", "?", "\x05", "[", "\x06").Replace(formBytes(v))
}

// setByShell reports a variable that has a value of its own in every bash.
func setByShell(name string) bool {
	if name == "" || !nameStart(name[0]) || strings.HasPrefix(name, "BASH") {
		return true
	}
	switch name {
	case "_", "OLDPWD", "RANDOM", "SRANDOM", "SECONDS", "LINENO", "PPID", "UID", "EUID", "GROUPS", "HOSTNAME", "HOSTTYPE", "MACHTYPE", "OSTYPE", "OPTARG",
		"OPTIND", "REPLY", "FUNCNAME", "PIPESTATUS", "DIRSTACK", "SHLVL", "COLUMNS", "LINES", "IFS", "PS4", "EPOCHSECONDS", "EPOCHREALTIME", "SHELLOPTS", "COPROC", "MAPFILE":
		return true
	}
	return false
}

func nameStart(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

// assign remembers what a variable may be set to; nil: anything.
func (s *script) assign(name string, value *word) {
	if s.assigned == nil {
		s.assigned = map[string][]word{}
	}
	w := word{form: "\x00"}
	if value != nil {
		w = *value
	}
	if len(s.assigned[name]) <= maxValues {
		s.assigned[name] = append(s.assigned[name], w)
	}
}

// assigns follows the commands that set variables.
func (s *script) assigns(name string, argv []word) {
	args := argv[1:]
	switch name {
	case "read", "mapfile", "readarray", "getopts", "wait", "let":
	case "printf":
		if len(args) == 0 || args[0].known && args[0].text != "-v" && !strings.HasPrefix(args[0].text, "-v") {
			return
		}
	case "declare", "typeset", "local":
		for _, w := range args {
			if !w.known && w.text == "" || strings.HasPrefix(w.text, "-") && strings.Contains(w.text, "n") {
				s.anyVariable = true // another name for a variable
			}
		}
		return
	case "source", ".":
		s.anyVariable = true
		return
	case "eval":
		for _, w := range args {
			s.anyVariable = s.anyVariable || !w.known
		}
		return
	default:
		return
	}
	for _, w := range args {
		if !w.known {
			s.anyVariable = true
			return
		}
		s.assign(strings.TrimPrefix(w.text, "-v"), nil)
	}
}
