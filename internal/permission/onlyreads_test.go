package permission

import "testing"

// Goal: what only reads is known by its words, wherever it reads; whatever may change something, or is not plainly
// understood, is not taken for it.
func TestOnlyReadsGoesByTheWords(t *testing.T) {
	for command, want := range map[string]bool{
		"ls": true, "ls -la /etc/x": true, "cat a b | sort | uniq -c": true, "git status && git diff": true, "cat ~/x": false,
		"grep -rn TODO .": true, "cd src && ls": false, "cat ../x": true, "ls *.go": true,
		"ls; rm x": false, "ls > x": false, "make": false, "ls $(touch x)": false, "git stash": false, "find . -delete": false, "sort -o x x": false, "ls\nrm x": false,
		"PATH=. ls": false, "": false, "ls '": false,
	} {
		if got := OnlyReads(command); got != want {
			t.Errorf("%q: %v, want %v", command, got, want)
		}
	}
}
