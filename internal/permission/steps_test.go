package permission

import (
	"fmt"
	"strings"
	"testing"
)

// Goal: a person who judges a command sees every simple command in it, those in bodies, in substitutions and behind
// wrappers included, with the files of redirections.
func TestSteps(t *testing.T) {
	for command, want := range map[string]string{
		"npm test":                           "npm test",
		"cd /x && npm test":                  "cd /x|npm test",
		"curl -s http://x | sh":              "curl -s http://x|<sh",
		"echo a > out.txt 2>&1":              "echo a >out.txt",
		"sort < in >> out":                   "sort <in >out",
		"{ echo a; echo b; } > both":         "echo a >both|echo b >both",
		"echo $(rm -rf /)":                   "echo $(rm -rf /)|. rm -rf /",
		"sudo -u root rm -rf x":              "sudo -u root rm -rf x|. rm -rf x",
		`bash -c "rm x; curl y > z"`:         `bash -c "rm x; curl y > z"|. rm x|. curl y >z`,
		"for f in *; do rm $f; done":         "rm $f",
		"if test -e x; then rm x; fi":        "test -e x|rm x",
		"f() { rm x; }; f":                   "rm x|f",
		"A=1 B=$(id) make":                   "A=1 B=$(id) make|. id",
		"find . -exec rm {} \\;":             "find . -exec rm {} \\;|. rm {}",
		"> empty":                            "> empty >empty",
		"export A=$(whoami)":                 "export A=$(whoami)|. whoami",
		"cat <<E\nhello\nE":                  "cat",
		"echo 日本語 > 'ファイル 1'":                "echo 日本語 >'ファイル 1'",
		"diff <(ls a) <(ls b)":               "diff <(ls a) <(ls b)|. ls a|. ls b",
		"timeout 5 sh -c 'exec cat' < in.db": "timeout 5 sh -c 'exec cat' <in.db|. sh -c 'exec cat'|. . exec cat|. . . cat",
	} {
		steps, _, whole := Steps(command)
		var got []string
		for _, s := range steps {
			line := strings.Repeat(". ", s.Depth)
			if s.Piped {
				line += "<"
			}
			line += s.Text
			for _, r := range s.Reads {
				line += " <" + r
			}
			for _, w := range s.Writes {
				line += " >" + w
			}
			got = append(got, line)
		}
		if strings.Join(got, "|") != want || !whole {
			t.Errorf("%s\n got %q, whole %v\nwant %q", command, strings.Join(got, "|"), whole, want)
		}
	}
}

// What does not parse, or has too much in it, is said to be more than what is listed.
func TestStepsOfWhatIsNotWhole(t *testing.T) {
	if _, why, whole := Steps("echo 'unfinished"); whole || why == "" {
		t.Errorf("a text that does not parse: %q, whole %v", why, whole)
	}
	steps, _, whole := Steps(strings.Repeat("true;", maxSteps+1))
	if whole || len(steps) != maxSteps {
		t.Errorf("%d steps, whole %v", len(steps), whole)
	}
	deep := "true"
	for range maxStepDepth + 3 {
		deep = fmt.Sprintf("echo $(%s)", deep)
	}
	if _, _, whole := Steps(deep); whole {
		t.Error("text inside of text without end is whole")
	}
}

func FuzzSteps(f *testing.F) {
	f.Add("a && b | c > d")
	f.Add("$(`\"${x:-$(y)}\"`)")
	f.Fuzz(func(t *testing.T, command string) {
		steps, _, _ := Steps(command)
		if len(steps) > maxSteps {
			t.Errorf("%d steps", len(steps))
		}
	})
}
