package permission

import (
	"path"
	"strings"
)

// reachedBelow says which command reads whole directories, or shows what is in a repository, and so may come to a file
// that a deny or ask rule on reading covers, or "".
func (j *judge) reachedBelow(p pattern) string {
	if j.s == nil || p.kind != matchPath || !p.bindsTool(toolRead) {
		return ""
	}
	for _, c := range j.s.all {
		name, _ := c.name()
		if name == "git" && j.gitReaches(p, c.argv[1:]) {
			return "git may show files that it does not name (behind -- FILE, and with --stat, it does not), among them one"
		}
		hidden, reads := readsBelow(name, c.argv[1:])
		if !reads || !hidden && strings.HasPrefix(path.Base(p.text), ".") {
			continue
		}
		for _, dir := range j.searched(name, c) {
			places := []string{cleanForm(dir)}
			if j.p.Look != nil {
				real, _ := j.leadsTo(dir)
				places = append(places, real...)
			}
			for _, at := range places {
				if p.liesBelow(at, j.s.wide, j.r) {
					return name + " reads whole directories, and may come to a file"
				}
			}
		}
	}
	return ""
}

// readsBelow reports a program that reads, copies or packs everything below the directories it is given; hidden: also
// files whose name begins with a dot.
func readsBelow(name string, args []word) (hidden, reads bool) {
	has := func(letters string, long ...string) bool {
		for _, w := range args {
			if short, ok := strings.CutPrefix(w.text, "-"); ok && !strings.HasPrefix(short, "-") && strings.ContainsAny(short, letters) {
				return true
			}
			for _, l := range long {
				if strings.HasPrefix(w.text, l) {
					return true
				}
			}
		}
		return false
	}
	switch name {
	case "grep", "egrep", "fgrep", "zgrep", "bzgrep", "xzgrep":
		return true, has("rRd", "--rec", "--der", "--dir")
	case "rg", "ag", "ugrep":
		return has("u.", "--hidden", "--unrestricted", "--no-ignore"), true
	case "rgrep", "ack", "tar", "gtar", "bsdtar", "rsync", "7z", "7za", "mv":
		return true, true
	case "cp", "scp", "diff", "zip", "gcp":
		return true, has("rRa", "--recursive", "--archive")
	case "git":
		switch parseGit(args).sub.text {
		case "stash":
			return true, has("ua", "--include", "--all")
		case "add":
			return true, has("A", "--all") || len(args) > 0 && args[len(args)-1].text == "."
		}
	}
	return false, false
}

// searched are the directories that a command is given, else those that it may be in.
func (j *judge) searched(name string, c command) []string {
	var dirs []string
	pattern := name == "rg" || name == "ag" || name == "ack" || strings.HasSuffix(name, "grep")
	args := c.argv[1:]
	if name == "git" {
		pattern = true // and a path stands behind -- only
		for i, w := range args {
			if w.text == "--" {
				args, pattern = args[i+1:], false
				break
			}
		}
		if pattern {
			return j.s.here()
		}
	}
	for _, w := range args {
		switch {
		case strings.HasPrefix(w.text, "-"):
		case pattern:
			pattern = false // the first word is what is looked for, or a directory behind -e
			if w.known && strings.HasPrefix(w.text, "/") {
				dirs = append(dirs, w.text)
			}
		default:
			for _, form := range j.s.expand(w) {
				switch {
				case form == "":
				case strings.HasPrefix(form, "~/"), strings.HasPrefix(form, "\x07/"):
					dirs = append(dirs, j.r.HomeDir+form[1:])
				case form[0] == '/' || form[0] == markUnknown || form[0] == markTilde:
					dirs = append(dirs, strings.ReplaceAll(form, "\x07", "\x00"))
				default:
					j.beside(form, func(full string) { dirs = append(dirs, full) })
				}
			}
		}
	}
	if len(dirs) == 0 {
		return j.s.here()
	}
	return dirs
}

// liesBelow reports that a file that the rule covers may lie below the directory.
func (p pattern) liesBelow(dir string, wide bool, r Request) bool {
	return p.mayMatch(strings.TrimSuffix(dir, "/")+"/\x00", wide, r)
}
