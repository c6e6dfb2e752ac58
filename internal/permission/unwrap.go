package permission

import (
	"slices"
	"strings"
)

// inner is what a command runs in turn.
type inner struct {
	commands [][]word // commands given as words
	texts    []string // commands given as shell text
	unknown  bool     // something runs that the words do not say
	program  bool     // the words hold a program in some language
}

// unwrap says what a command named name runs in turn, erring on the side of more.
func unwrap(name string, argv []word) inner {
	args := argv[1:]
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish":
		return unwrapShell(args)
	case "eval":
		return shellText(args)
	case "source", ".":
		in := inner{program: true}
		in.unknown = len(args) == 0 || !args[0].known || strings.HasPrefix(args[0].text, "/dev/") || strings.HasPrefix(args[0].text, "/proc/")
		return in
	case "find", "gfind":
		return unwrapFind(args)
	case "git":
		return unwrapGit(args)
	}
	f, ok := wrapper(name)
	if !ok && name == "sed" && sedPrints(args) {
		return inner{}
	}
	if !ok {
		prog := interpreter(name) || name == "go" && len(args) > 0 && args[0].text == "run"
		return inner{program: prog, unknown: prog && !builder(name) && readsProgram(args)}
	}
	if name == "command" && len(args) > 0 && strings.HasPrefix(args[0].text, "-") && strings.ContainsAny(args[0].text, "vV") {
		return inner{} // it only looks a name up
	}
	if name == "parallel" {
		args = append(args[:len(args):len(args)], anyWord()) // it reads more words
	}
	if f.before < 0 {
		return tails(args)
	}
	return unwrapFlags(name, f, args)
}

// shellText joins words as eval does.
func shellText(args []word) inner {
	in := inner{}
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = a.text
		if !a.known {
			in.unknown, in.program = true, true
			parts[i] = "$_"
		}
	}
	in.texts = []string{strings.Join(parts, " ")}
	return in
}

// unwrapShell finds the text of sh -c. Without it a script file runs, which is a
// program like any other; with neither, standard input does.
func unwrapShell(args []word) inner {
	text := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		flag := strings.HasPrefix(a.text, "-") || strings.HasPrefix(a.text, "+")
		switch {
		case !a.known:
			return inner{unknown: true, program: true}
		case a.text == "-o" || a.text == "+o" || a.text == "-O" || a.text == "+O" || a.text == "--rcfile" || a.text == "--init-file":
			i++
		case a.text == "--" || a.text == "-":
		case flag:
			text = text || a.text[0] == '-' && !strings.HasPrefix(a.text, "--") && strings.Contains(a.text, "c")
		case text:
			return inner{texts: []string{a.text}}
		default:
			odd := strings.HasPrefix(a.text, "/dev/") || strings.HasPrefix(a.text, "/proc/")
			return inner{program: true, unknown: odd}
		}
	}
	return inner{unknown: true, program: true}
}

// readsProgram reports that an interpreter gets its program from standard input.
func readsProgram(args []word) bool {
	for _, a := range args {
		if a.text == "-" || strings.HasPrefix(a.text, "/dev/") {
			return true
		}
	}
	return len(args) == 0
}

// unwrapFind finds the commands of find's actions.
func unwrapFind(args []word) inner {
	in := inner{}
	for i := 0; i < len(args); i++ {
		if !args[i].known && !args[i].glob {
			in.unknown = true
		}
		switch args[i].text {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end].text != ";" && args[end].text != "+" {
				end++
			}
			if i+1 < end {
				run := slices.Clone(args[i+1 : end])
				for k := range run {
					// A file's name takes this place.
					if strings.Contains(run[k].text, "{}") {
						run[k].known = false
						run[k].form = strings.NewReplacer("{}", "\x00", "\x01\x03", "\x00").Replace(run[k].form)
					}
				}
				in.commands = append(in.commands, run)
			}
			i = end
		}
	}
	return in
}

// unwrapGit finds the commands that git runs for the user (bisect run, rebase
// --exec, submodule foreach, aliases and configuration given with -c), and the
// command as it is without the options before its subcommand.
func unwrapGit(args []word) inner {
	in := inner{}
	sub := 0
	for sub < len(args) && strings.HasPrefix(args[sub].text, "-") {
		switch args[sub].text {
		case "-c", "-C", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix", "--attr-source":
			sub++
		}
		sub++
	}
	if sub > 0 && sub < len(args) {
		in.commands = append(in.commands, append([]word{literal("git")}, args[sub:]...))
	}
	commands, texts := gitRunsOption(args, sub)
	in.commands, in.texts = append(in.commands, commands...), append(in.texts, texts...)
	if !gitRuns(args) {
		return in
	}
	for i, a := range args {
		if !a.known {
			continue
		}
		if strings.ContainsAny(a.text, " \t\n;|&") {
			in.texts = append(in.texts, strings.TrimPrefix(a.text, "!"))
		} else if i > 0 && !strings.HasPrefix(a.text, "-") && a.text != "git" {
			in.commands = append(in.commands, args[i:])
		}
		if _, val, ok := strings.Cut(a.text, "="); ok {
			in.texts = append(in.texts, strings.TrimPrefix(val, "!"))
		}
		if len(in.commands) > maxTails {
			in.unknown = true
			break
		}
	}
	return in
}

func gitRuns(args []word) bool {
	for _, a := range args {
		switch t := a.text; {
		case t == "bisect", t == "submodule", t == "filter-branch", t == "-c", t == "--exec", strings.HasPrefix(t, "--exec="),
			t == "rebase", t == "difftool", t == "mergetool", t == "config":
			return true
		}
	}
	return false
}
