package permission

import "strings"

// The words of find that only select and print. Everything else of it asks:
// -exec, -ok, -delete, -fprint and -fls, -files0-from, -L and -follow.
const (
	findBare = " -print -print0 -ls -prune -quit -empty -executable -readable -writable -true -false -depth -xdev -mount -daystart -nouser -nogroup " +
		"-not ! -a -and -o -or ( ) , -noleaf -ignore_readdir_race -noignore_readdir_race -warn -nowarn "
	findText = " -name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -mtime -mmin -atime -amin -ctime -cmin " +
		"-maxdepth -mindepth -perm -user -group -uid -gid -links -inum -regextype -fstype -used -printf "
	findFile = " -newer -anewer -cnewer -samefile "
)

// notFind says why a find does more than print what lies inside, or "".
func (j *judge) notFind(args []word) string {
	expression := false
	for i := 0; i < len(args); i++ {
		w := args[i]
		item, oneWord := " "+w.text+" ", !strings.ContainsAny(w.text, " \t\n")
		switch {
		case leadingGlob(w):
			return "a file pattern may turn into an action of find"
		case w.text == "-P" && !expression:
		case oneWord && strings.Contains(findBare, item):
			expression = true
		case oneWord && (strings.Contains(findText, item) || strings.Contains(findFile, item)):
			expression = true
			if i++; i == len(args) || args[i].glob {
				return "find " + w.text + " has no plain value"
			}
			if strings.Contains(findFile, item) {
				if why := j.outsideWord(args[i], false); why != "" {
					return why
				}
			}
		case expression || strings.HasPrefix(w.text, "-"):
			return "find " + clip(w.text) + " is not known to only look"
		default:
			if why := j.outsideWord(w, false); why != "" {
				return why
			}
		}
	}
	return ""
}

// notTest says why a test looks at more than files inside, or "".
func (j *judge) notTest(name string, args []word) string {
	if name == "[" {
		if len(args) == 0 || args[len(args)-1].text != "]" {
			return "[ is not closed"
		}
		args = args[:len(args)-1]
	}
	const known = " -e -f -d -r -w -x -s -L -h -z -n -b -c -p -S -g -u -k -O -G -N -t -nt -ot -ef -eq -ne -lt -le -gt -ge -a -o "
	for i, w := range args {
		if w.glob {
			return "a file pattern may turn into an option of " + name
		}
		if strings.HasPrefix(w.text, "-") && !digits(w.text[1:], 18) && !strings.Contains(known, " "+w.text+" ") {
			return name + " " + clip(w.text) + " is not known to only look"
		}
		// What is compared as text or as a number is no path.
		text := i > 0 && strings.Contains(" = == != -eq -ne -lt -le -gt -ge -z -n ", " "+args[i-1].text+" ") ||
			i+1 < len(args) && strings.Contains(" = == != -eq -ne -lt -le -gt -ge ", " "+args[i+1].text+" ")
		if text {
			continue
		}
		if why := j.outsideWord(w, false); why != "" {
			return why
		}
	}
	return ""
}

// notPrintf says why a printf does more than print, or "".
func (j *judge) notPrintf(args []word) string {
	for i, w := range args {
		if w.glob {
			return "a file pattern may turn into an option of printf"
		}
		if i == 0 && strings.HasPrefix(w.text, "-") {
			return "printf " + clip(w.text) + " may set a variable"
		}
	}
	if len(args) > 0 && countsBytes(args[0].text) {
		return "printf %n sets a variable"
	}
	return ""
}

// countsBytes reports %n in a format of printf, which sets the variable that a
// word names: PATH for instance.
func countsBytes(format string) bool {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		for i++; i < len(format) && strings.IndexByte("-+ #'0123456789.*hlLjztq", format[i]) >= 0; i++ {
		}
		if i < len(format) && format[i] == 'n' {
			return true
		}
	}
	return false
}
