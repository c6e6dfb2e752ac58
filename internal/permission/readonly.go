package permission

import (
	"path"
	"slices"
	"strings"
)

// Place is where a path leads, with every symbolic link followed.
type Place struct {
	Path    string // absolute
	Dir     bool
	Missing bool // nothing is there
}

// readOnly allows a Bash call of commands that only read, and only inside, in
// every mode. It sees less than a rule does: anything that it does not know asks.
func (j *judge) readOnly() (Decision, bool) {
	if j.r.Tool != toolBash || j.notReading() != "" {
		return Decision{}, false
	}
	return Decision{Effect: Allow, Reason: "it only reads, inside the session's directories"}, true
}

// notReading says why the call does more than read inside, or "". It is looked
// up once for each decision, since it looks at files.
func (j *judge) notReading() string {
	if j.unread != nil {
		return *j.unread
	}
	why := j.s.why
	if why == "" {
		why = j.notReadingHere()
	}
	for _, c := range j.s.top {
		if why == "" {
			why = j.notReader(c)
		}
	}
	j.unread = &why
	return why
}

// readsHere reports that one command of a plain text only reads inside: beside a
// command that a rule covers it needs no rule itself.
func (j *judge) readsHere(c command) bool { return j.notReadingHere() == "" && j.notReader(c) == "" }

// unlikeReading is what follows a reason that says no more than that no rule allows a command: why one that is known to
// read is more than that here. Empty for every other command.
func (j *judge) unlikeReading(c command, why string) string {
	name := c.argv[0].text
	if why != noRuleFor(name) {
		return ""
	}
	if base := path.Base(name); base != name && reads(base) {
		return ": only " + base + " by its name alone is known to read"
	}
	more := j.notReadingHere()
	if more == "" {
		more = j.notReader(c)
	}
	if !reads(name) || more == why {
		return ""
	}
	return ": " + more
}

// reads reports a program that is known to read, with some options and words at least.
func reads(name string) bool {
	switch name {
	case "find", "git", "test", "[", "printf":
		return true
	}
	_, known := readers(name)
	return known
}

func noRuleFor(name string) string { return "no rule allows " + clip(name) }

// after notes a command that a rule covers, before what follows it is judged.
// Where paths lead is looked up before any of them runs: a link may come with a
// checkout, and after cd the same words name other files.
func (j *judge) after(c command) {
	name, _ := c.name()
	j.changed, j.systems = clip(name), nil
	switch name {
	case "cd", "pushd", "popd", ".", "source", "eval", "exec", "builtin", "command", "export", "declare", "typeset", "readonly", "local", "unset", "set", "shopt",
		"alias", "enable", "hash", "trap", "read", "printf", "mapfile", "readarray", "getopts", "let", "test", "[", "wait", "umask", "ulimit":
		// It changes the shell itself, so nothing that follows is known to only read.
		why := name + " comes before it"
		j.elsewhere = &why
	}
}

// notReadingHere says why no command reads only inside here, or "".
func (j *judge) notReadingHere() string {
	if j.elsewhere == nil {
		why := j.lookHere()
		j.elsewhere = &why
	}
	return *j.elsewhere
}

func (j *judge) lookHere() string {
	if j.p.Look == nil {
		return "where paths lead is not known"
	}
	if why := j.steered(); why != "" {
		return why
	}
	searched, known := j.p.Env["PATH"]
	if !known {
		return "where programs are looked for is not known"
	}
	for dir := range strings.SplitSeq(searched, ":") {
		if !strings.HasPrefix(dir, "/") {
			return "PATH looks for programs where the command runs"
		}
	}
	if why := j.notSystemsShell(); why != "" {
		return why
	}
	if why := j.ledAstray(obeys); why != "" {
		return why
	}
	for _, p := range j.pats {
		if p.Effect != Allow && p.kind == matchTool && (p.bindsTool(toolRead) || p.bindsTool(toolGrep) || p.bindsTool(toolGlob)) {
			return "the rule " + clip(p.Text) + " holds for all that is read"
		}
	}
	at, ok := j.p.Look(path.Clean(j.r.Cwd), false)
	if !strings.HasPrefix(j.r.Cwd, "/") || !ok || len(at) != 1 || !at[0].Dir {
		return "the working directory cannot be looked at"
	}
	j.here = at[0].Path
	return j.outside(at)
}

// notReader says why one command of a plain text does more than read inside, or "".
func (j *judge) notReader(c command) string {
	if j.staysHere(c) {
		return ""
	}
	return j.notReaderOf(c, true)
}

// notReaderOf is notReader of a command that the shell runs, or that a program runs, which has no builtins.
func (j *judge) notReaderOf(c command, shell bool) string {
	name := c.argv[0].text
	if !(shell && builtin(name)) && c.argv[0].known && !strings.Contains(name, "/") {
		if why := j.notSystems(name); why != "" {
			return why
		}
		if why := j.ledAstray(func(variable string) bool { return obeyedBy(name, variable) }); why != "" {
			return why
		}
	}
	if name == "timeout" || name == "nice" {
		f, _ := wrapper(name)
		in := unwrapFlags(name, f, c.argv[1:])
		if len(in.commands) == 1 && !in.program && !in.unknown && len(in.texts) == 0 {
			return j.notReaderOf(command{argv: in.commands[0]}, false)
		}
		return name + " is not followed by one plain command"
	}
	for _, w := range c.argv {
		if strings.IndexByte(w.text, 0) >= 0 || w.tilde || !w.known && !w.glob {
			return "the word " + clip(w.raw) + " is expanded by the shell"
		}
	}
	switch name {
	case "find":
		return j.notFind(c.argv[1:])
	case "git":
		return j.notGit(c)
	case "test", "[":
		return j.notTest(name, c.argv[1:])
	case "printf":
		return j.notPrintf(c.argv[1:])
	}
	spec, ok := readers(name)
	if !ok {
		return noRuleFor(name)
	}
	o, why := spec.read(name, c.argv[1:])
	if why != "" {
		return why
	}
	if name == "date" && slices.ContainsFunc(o.vals, func(v string) bool { return strings.Contains(v, "TZ=") }) {
		return "a date with TZ reads the file of time zones that it names"
	}
	if spec.unnamed != nil && spec.unnamed(o) {
		if why := j.hiding(); why != "" {
			return name + " may show files that it does not name, and " + why
		}
	}
	return j.outsideAny(name, spec, o)
}

// outsideAny judges the words of a command that name files.
func (j *judge) outsideAny(name string, spec reader, o options) string {
	files := o.files
	switch spec.words {
	case wordsNameFiles:
		files = append(append(files, o.words...), o.late...)
	case wordsSearch:
		files = append(files, o.late...)
		if o.has("-e") || o.has("--regexp") || o.has("--files") || o.has("--type-list") {
			files = append(files, o.words...)
		} else if len(o.words) > 0 {
			files = append(files, o.words[1:]...)
		}
	case wordsFormat:
		for _, w := range o.words {
			if !strings.HasPrefix(w.text, "+") || w.glob {
				return name + " " + clip(w.text) + " may set the clock"
			}
		}
	case wordsAreText:
	}
	if o.dashy && j.hasDashed() {
		return "a file pattern may turn into an option of " + name + ", for a file is named like one"
	}
	if spec.most > 0 && len(o.words)+len(o.late) > spec.most {
		return name + " may write to the file that a second word names"
	}
	for _, w := range append(files, o.globs...) {
		if spec.most > 0 && w.glob {
			return "a file pattern may give " + name + " a second word, which it writes to"
		}
		if why := j.outsideWord(w, spec.noDirs); why != "" {
			return why
		}
	}
	return ""
}

// hasDashed reports that a name in the working directory may begin with a dash.
func (j *judge) hasDashed() bool {
	places, ok := j.p.Look(path.Join(j.here, "-*"), true)
	return !ok || len(places) != 1 || !places[0].Missing // the pattern stands for itself where nothing matches
}

// outsideWord says why what a word can name is not all inside and readable, or "".
func (j *judge) outsideWord(w word, noDirs bool) string {
	t := w.text
	if t == "/dev/null" || t == "" {
		return ""
	}
	if j.changed != "" && t != "." {
		return j.changed + " may change where the path " + clip(t) + " leads"
	}
	if oddSegments(w) {
		return "where the path " + clip(t) + " leads is not plain"
	}
	if !strings.HasPrefix(t, "/") {
		t = j.here + "/" + t
	}
	places, ok := j.p.Look(path.Clean(t), w.glob)
	if !ok || len(places) == 0 {
		return "where the path " + clip(w.text) + " leads cannot be told"
	}
	if why := j.outside(places); why != "" {
		return why
	}
	if noDirs && slices.ContainsFunc(places, func(p Place) bool { return p.Dir }) {
		return "a directory is compared file by file, links included"
	}
	return ""
}

// oddSegments reports a path with a dot dot that need not lead where its letters
// say: after a name, which may be a link, or from a pattern.
func oddSegments(w word) bool {
	if len(w.text) > maxPath {
		return true
	}
	named := strings.HasPrefix(w.text, "/")
	for seg := range strings.SplitSeq(w.text, "/") {
		switch {
		case seg == "" || seg == ".":
		case seg == "..":
			if named || w.glob {
				return true
			}
		default:
			named = true
			// In older shells .* and .? match the dot dot.
			if w.glob && len(seg) > 1 && seg[0] == '.' && strings.IndexByte("*?[.", seg[1]) >= 0 {
				return true
			}
		}
	}
	return false
}

// outside says why some place must not be read without a question, or "".
func (j *judge) outside(places []Place) string {
	for _, place := range places {
		at := path.Clean(place.Path)
		for _, special := range []string{"/proc", "/dev", "/sys"} {
			if _, in := relative(special, at); in {
				return clip(at) + " is no ordinary file"
			}
		}
		if !inside(j.p, at) {
			return clip(at) + " is outside of the session's directories"
		}
		if protectedPath(j.p, at, false) {
			return clip(at) + " is protected"
		}
		for _, p := range j.pats {
			if p.Effect != Allow && p.kind == matchPath && p.bindsTool(toolRead) && p.pathMatches(at, j.r) {
				return "the rule " + clip(p.Text) + " covers " + clip(at)
			}
		}
	}
	return ""
}

// hiding names a rule that hides some files from being read, or "". Commands that
// choose the files themselves cannot leave those out.
func (j *judge) hiding() string {
	for _, p := range j.pats {
		if p.Effect != Allow && (p.bad || p.kind == matchPath && (p.bindsTool(toolRead) || p.bindsTool(toolGrep))) {
			return "the rule " + clip(p.Text) + " hides some"
		}
	}
	return ""
}
