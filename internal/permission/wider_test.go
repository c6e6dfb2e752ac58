package permission

import "testing"

// The pattern that is offered is narrow, covers the call, and allows what it says
// and nothing else; where none can, none is offered.
func TestWider(t *testing.T) {
	for command, want := range map[string]string{
		"touch made": "Bash(touch:*)", "git commit -m 'a; b'": "Bash(git commit:*)", "go test ./... 2>&1 | tail -5": "Bash(go test:*)", "mkdir a && mkdir b": "Bash(mkdir:*)", "git add . && git status": "Bash(git add:*)",
		"touch hello && wc -l main.go": "", // behind a command that changes files a path asks
		"touch a; mkdir b":             "", "npm test": "", "make": "", "python x.py": "", "rm $X": "", "for i in a; do rm $i; done": "", "touch a > b": "", "./run.sh": "", "git -C x add .": "", "git $x": "", "perdure answer x": "", "ls": "", "touch /tmp/x | cat /etc/passwd": "",
	} {
		r := bash(command)
		r.Root, r.Cwd, r.HomeDir = testCwd, testCwd, testHome
		rule, allows := Wider(r)
		if rule != want || (allows == "") != (want == "") {
			t.Errorf("%q: %q (%s), want %q", command, rule, allows, want)
		}
		if rule == "" {
			continue
		}
		if d := Decide(lookingPolicy(ModeDefault, rule), bash(command)); d.Effect != Allow {
			t.Errorf("%q is not covered by %s: %+v", command, rule, d)
		}
		if d := Decide(lookingPolicy(ModeDefault, rule), bash(command+"; zap")); d.Effect != Ask {
			t.Errorf("%s covers another program: %+v", rule, d)
		}
	}
	if rule, allows := Wider(Request{Tool: "Write", Path: "/w/a[1]/x"}); rule != `Write(/w/a\[1\]/**)` || allows != "every file below /w/a[1]" {
		t.Errorf("write: %s, %s", rule, allows)
	}
	for _, r := range []Request{{Tool: "Write", Path: "/x"}, {Tool: "Write", Path: "x"}, {Tool: "Grep", Path: "/w"}, {Tool: "TodoWrite"}, {Tool: "mcp__a__b"}} {
		if rule, _ := Wider(r); rule != "" {
			t.Errorf("%+v: %s", r, rule)
		}
	}
}
