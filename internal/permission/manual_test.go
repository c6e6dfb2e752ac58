package permission

import (
	"strings"
	"testing"
)

// unsafeOption is an option of a program that otherwise only reads: by its manual it writes, runs a program, takes names
// or text from a file that it names, or follows links to anywhere.
type unsafeOption struct {
	program string
	long    string // without dashes, "" if there is none
	short   string // one letter, "" if there is none
	value   string // "" if it takes none
}

var unsafeOptions = []unsafeOption{
	{"ls", "dereference", "L", ""},
	{"ls", "dereference-command-line-symlink-to-dir", "", ""},
	{"wc", "files0-from", "", "README"},
	{"du", "files0-from", "", "README"},
	{"du", "exclude-from", "X", "README"},
	{"du", "dereference", "L", ""},
	{"sort", "output", "o", "new"},
	{"sort", "compress-program", "", "./prog"},
	{"sort", "files0-from", "", "README"},
	{"sort", "random-source", "", "README"},
	{"sort", "temporary-directory", "T", "src"},
	{"grep", "file", "f", "README"},
	{"grep", "exclude-from", "", "README"},
	{"grep", "dereference-recursive", "R", ""},
	{"grep", "directories", "d", "recurse"},
	{"grep", "devices", "D", "read"},
	{"rg x", "pre", "", "./prog"},
	{"rg x", "pre-glob", "", "x"},
	{"rg x", "search-zip", "z", ""},
	{"rg x", "follow", "L", ""},
	{"rg x", "file", "f", "README"},
	{"rg x", "ignore-file", "", "README"},
	{"rg x", "hostname-bin", "", "./prog"},
	{"rg x", "hyperlink-format", "", "x"},
	{"file", "files-from", "f", "README"},
	{"file", "magic-file", "m", "README"},
	{"file", "compile", "C", ""},
	{"file", "uncompress", "z", ""},
	{"file", "uncompress-noreport", "Z", ""},
	{"file", "special-files", "s", ""},
	{"file", "no-sandbox", "S", ""},
	{"date", "set", "s", "now"},
	{"date", "file", "f", "README"},
	{"df", "sync", "", ""},
	{"diff README in", "paginate", "l", ""},
	{"diff README in", "recursive", "r", ""},
	{"diff README in", "exclude-from", "X", "README"},
	{"diff README in", "from-file", "", "README"},
	{"diff README in", "to-file", "", "README"},
	{"tree", "", "l", ""},
	{"tree", "", "o", "new"},
	{"tree", "", "R", ""},
	{"tree", "", "H", "x"},
	{"tree", "fromfile", "", ""},
	{"tree", "fromtabfile", "", ""},
	{"tree", "infofile", "", "README"},
	{"tree", "gitfile", "", "README"},
	{"tree", "output", "", "new"},
	{"git log", "output", "", "new"},
	{"git log", "ext-diff", "", ""},
	{"git log", "textconv", "", ""},
	{"git log", "remerge-diff", "", ""},
	{"git log", "diff-merges", "", "remerge"},
	{"git log", "diff-merges", "", "r"},
	{"git log", "show-signature", "", ""},
	{"git log", "", "O", "README"},
	{"git show", "remerge-diff", "", ""},
	{"git show", "diff-merges", "", "remerge"},
	{"git show", "output", "", "new"},
	{"git show", "textconv", "", ""},
	{"git diff", "output", "", "new"},
	{"git diff", "ext-diff", "", ""},
	{"git diff", "textconv", "", ""},
	{"git diff", "no-index", "", ""},
	{"git diff", "", "O", "README"},
	{"git stash list", "remerge-diff", "", ""},
	{"git stash list", "diff-merges", "", "r"},
	{"git grep x", "open-files-in-pager", "O", ""},
	{"git grep x", "no-index", "", ""},
	{"git grep x", "textconv", "", ""},
	{"git blame README", "contents", "", "README"},
	{"git blame README", "ignore-revs-file", "", "README"},
	{"git blame README", "", "S", "README"},
	{"git branch", "delete", "d", "x"},
	{"git branch", "delete", "D", "x"},
	{"git branch", "move", "m", "x"},
	{"git branch", "move", "M", "x"},
	{"git branch", "copy", "c", "x"},
	{"git branch", "copy", "C", "x"},
	{"git branch", "force", "f", "x"},
	{"git branch", "set-upstream-to", "u", "x"},
	{"git branch", "unset-upstream", "", ""},
	{"git branch", "edit-description", "", ""},
	{"git branch", "track", "t", "x"},
	{"git branch", "create-reflog", "", "x"},
	{"git tag", "delete", "d", "x"},
	{"git tag", "verify", "v", "x"},
	{"git tag", "sign", "s", "x"},
	{"git tag", "annotate", "a", "x"},
	{"git tag", "file", "F", "README"},
	{"git tag", "local-user", "u", "x"},
	{"git shortlog", "output", "", "new"},
	{"git status", "help", "h", ""},
}

// spellings are the ways in which a program can be given an option: its long name, each beginning of it, its letter alone
// and behind another, with the value in the same word or the next.
func (o unsafeOption) spellings() (out []string) {
	for n := 1; n <= len(o.long); n++ {
		switch name := "--" + o.long[:n]; {
		case n < len(o.long) && isOption(o.program, name): // another option of that name
		case o.value == "":
			out = append(out, name)
		default:
			out = append(out, name+"="+o.value, name+" "+o.value)
		}
	}
	if o.short == "" {
		return out
	}
	behind := "-n"
	if strings.HasPrefix(o.program, "git") {
		behind = "-p"
	}
	if strings.HasPrefix(o.program, "tree") || strings.HasPrefix(o.program, "du") || strings.HasPrefix(o.program, "git tag") {
		behind = "-a"
	}
	for _, letter := range []string{"-" + o.short, behind + o.short} {
		if o.value == "" {
			out = append(out, letter)
		} else {
			out = append(out, letter+" "+o.value, letter+o.value)
		}
	}
	return out
}

// isOption reports a beginning of another option that is an option itself, and only reads.
func isOption(program, name string) bool {
	switch program + " " + name {
	case "grep --exclude", "du --exclude", "rg x --files", "rg x --follo", "git log --e", "tree --gitignore":
		return true
	}
	return false
}

// Goal: no option that the manuals of the programs know to write, run or reach out is run unasked, however it is spelled.
func TestUnsafeOptionsOfTheManuals(t *testing.T) {
	tried := 0
	for _, o := range unsafeOptions {
		for _, spelling := range o.spellings() {
			words := strings.SplitN(o.program, " ", 2)
			for _, command := range []string{o.program + " " + spelling, o.program + " " + spelling + " README", o.program + " README " + spelling, strings.Join(append([]string{words[0]}, append(words[1:], spelling, "| head")...), " ")} {
				tried++
				if d := Decide(lookingPolicy(ModeDefault), bash(command)); d.Effect != Ask {
					t.Errorf("%q: %s (%s)", command, d.Effect, d.Reason)
				}
			}
		}
	}
	t.Logf("%d spellings of %d options", tried, len(unsafeOptions))
}

// Goal: programs that take no option behind the first operand, as on macOS and under POSIXLY_CORRECT, take for a file
// what stands there as an option's value, or as an option. It is judged as both.
func TestOptionsBehindOperands(t *testing.T) {
	runBash(t, lookingPolicy(ModeDefault), []bashCase{
		{"head README -n /etc/passwd", Ask},
		{"head README -n/../../../../etc/passwd", Ask},
		{"tail README -c /etc/passwd", Ask},
		{"cut -b1-9 README -d /etc/passwd", Ask},
		{"sort README -k /etc/passwd", Ask},
		{"sort README --key /etc/passwd", Ask},
		{"sort README --key=../../etc/passwd", Ask},
		{"grep x README -e /etc/passwd", Ask},
		{"grep x README -m ../x", Ask},
		{"grep x -e /etc/passwd", Ask},
		{"stat README -c /etc/passwd", Ask},
		{"du src -d ../x", Ask},
		{"df . -t /etc", Ask},
		{"file README -F /etc/passwd", Ask},
		{"diff README -U ../x", Ask},
		{"cmp README -n ../x", Ask},
		{"ls src -w ..", Ask},
		{"ls src -I out", Ask},   // a link that leads out
		{"uniq README -c", Ask},  // the second word of uniq is written to
		{"uniq README -iu", Ask}, //
		{"head README -n 5", Allow},
		{"head README -n5 -q", Allow},
		{"ls src -la", Allow},
		{"grep -rn TODO . --include='*.go' -A 3", Allow},
		{"sort README -rn -k 2", Allow},
		{"du src -sh -d 1", Allow},
		{"git log HEAD --author /x", Allow},
		{"git log src -S /etc", Allow},
		{"rg x -g /src", Allow},
		{"sort -t / README", Allow},
		{"uniq -c README", Allow},
		{"uniq -c", Allow},
	})
}

// Goal: where a file is named like an option, a pattern that may become it asks; ls would follow links.
func TestPatternsThatMeetOptions(t *testing.T) {
	p := lookingPolicy(ModeDefault)
	plain := p.Look
	runBash(t, p, []bashCase{{"ls *.go", Allow}, {"ls -R ?.go", Allow}})
	p.Look = func(at string, glob bool) ([]Place, bool) {
		if glob && at == testCwd+"/-*" {
			return []Place{{Path: testCwd + "/-LR.go"}}, true
		}
		return plain(at, glob)
	}
	runBash(t, p, []bashCase{{"ls *.go", Ask}, {"ls -R ?.go", Ask}, {"ls [-x]*.go", Ask}, {"ls ./*.go", Allow}, {"ls -- *.go", Allow}, {"cat *.go", Allow}, {"ls src/*.go", Allow}})
}

// Goal: a date may name a file of time zones; that is a path.
func TestDatesThatNameFiles(t *testing.T) {
	runBash(t, lookingPolicy(ModeDefault), []bashCase{
		{`date -d 'TZ="/etc/passwd" now'`, Ask},
		{`date -d'TZ="../../../x" now'`, Ask},
		{`date --date='TZ=":/etc/passwd" now'`, Ask},
		{`date --date 'TZ="Asia/Tokyo" 9:00'`, Ask},
		{`date -d 'tomorrow 9:00'`, Allow},
	})
}

// Goal: what sets a variable, or merges again to show it, is not covered by a rule that names only the program.
func TestRulesForPrintfAndMerges(t *testing.T) {
	runBash(t, testPolicy(ModeDefault, "Bash(printf:*)", "Bash(git:*)", "Bash(git log:*)", "Bash(ls:*)"), []bashCase{
		{"printf 'a%n' PATH; ls", Ask},
		{"printf '%-3n' x", Ask},
		{"printf '%s%n' a PATH", Ask},
		{"printf -- '%n' PATH", Ask},
		{"printf '%hhn' PATH", Ask},
		{"printf -- '-%n' PATH", Ask},
		{"printf %? PATH", Ask},
		{"printf a* PATH", Ask},
		{`printf "$x" PATH`, Ask},
		{`printf "%s$x" PATH`, Ask},
		{"printf '%d%%n' 1", Allow},
		{"printf %s %n", Allow},
		{"git log --remerge-diff", Ask},
		{"git log -3 --diff-merges=remerge", Ask},
		{"git show --diff-merges=r", Ask},
		{"git log --diff-merges remerge", Ask},
		{"git log --diff-merges=first-parent -p", Allow},
		{"git log --diff-merges=off", Allow},
	})
}
