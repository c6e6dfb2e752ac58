package permission

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseRules(t *testing.T) {
	for list, want := range map[string][]string{
		"": nil, "  ": nil, "Read": {"Read"}, "Bash,Edit": {"Bash", "Edit"}, " Bash(git:*) ,\n Edit(src/**) ": {"Bash(git:*)", "Edit(src/**)"},
		"Bash(echo a, b),Read": {"Bash(echo a, b)", "Read"}, "Bash(echo (x)),Read(a{b,c})": {"Bash(echo (x))", "Read(a{b,c})"}, "Bash(f '(a)'),Read(a{b,c})": {"Bash(f '(a)')", "Read(a{b,c})"},
		"mcp__github__get-issue,mcp__x": {"mcp__github__get-issue", "mcp__x"}, "Bash(*)": {"Bash(*)"},
		"Read Bash(git log *) Edit(src/**)": {"Read", "Bash(git log *)", "Edit(src/**)"}, "Bash(a b)\tRead , Edit": {"Bash(a b)", "Read", "Edit"},
	} {
		got, err := ParseRules(list)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v, want %q", list, got, err, want)
		}
	}
	for _, list := range []string{
		",", "Bash,", "Bash,,Edit", "Bash (git:*)", "Bash(git:*)Edit", "Bash(git", "Bash)", "Bash(a))", "(x)", "1Bash", "Ba-sh(x)", "Bash()", "Bash(:*)", "Bash( *)", "Bash(a;b *)", "Bash(a;b:*)", "Bash($X:*)",
		"Bash(*.sh:*)", "Bash(a\u200bb)", "Edit()", "Edit([)", "Edit(a/../b)", "Edit(..)", "Read(~root/x)", "TodoWrite(x)", "Unknown(x)", "Edit(" + strings.Repeat("a", 2000) + ")", "Edit(" + strings.Repeat("**/", 20) + ")",
		strings.Repeat("Read,", 5000) + "Read", strings.Repeat("a", maxRuleList+1),
	} {
		if got, err := ParseRules(list); !errors.Is(err, ErrRule) {
			t.Errorf("%.80q: %.80q, %v, want ErrRule", list, got, err)
		}
	}
	for _, text := range []string{"Bash(rm *.o)", "Bash(a*:*)", "Bash(*rm)"} {
		if _, err := ParseRule(Deny, text, SourceUser); !errors.Is(err, ErrRule) {
			t.Errorf("deny %s: %v, want ErrRule: it would deny less than it says", text, err)
		}
	}
	if _, err := ParseRule("forbid", "Bash", SourceUser); !errors.Is(err, ErrRule) {
		t.Errorf("effect forbid: %v, want ErrRule", err)
	}
}

// A word * at the end of a command is any further words, as in Claude Code: the
// same as :*, in allow, ask and deny rules.
func TestStarIsAnyFurtherWords(t *testing.T) {
	for _, text := range []string{"Bash(go test *)", "Bash(go test:*)"} {
		runBash(t, testPolicy(ModeDefault, text), []bashCase{{"go test", Allow}, {"go test ./...", Allow}, {"go vet", Ask}, {"go testx", Ask}, {"go test; rm x", Ask}, {"go test -exec sh", Ask}})
		runBash(t, testPolicy(ModeBypass, "deny "+text), []bashCase{{"go test", Deny}, {"go test ./...", Deny}, {"go vet", Allow}})
		runBash(t, testPolicy(ModeBypass, "ask "+text), []bashCase{{"go test -v", Ask}, {"go vet", Allow}})
	}
}

// What cannot be read is named with its place.
func TestRuleErrorsNameThePlace(t *testing.T) {
	for list, want := range map[string]string{
		"Read,Bash(git": "byte 5", "Read Bash(a))": "byte 12", "Read, Tod(x)": "byte 6", "Bash (git log)": "no blank stands between Bash and", "Read,,Edit": "byte 5", "Read,": "byte 5", "Bash(x)y": "byte 7",
	} {
		if _, err := ParseRules(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", list, err, want)
		}
	}
}

// Path rules: where they are anchored, which tools they bind, and how far deny
// reaches beyond allow.
func TestPathRules(t *testing.T) {
	for _, c := range []struct {
		rule, tool, path string
		want             bool
	}{
		{"Edit(src/**)", "Edit", testCwd + "/src/a/b.go", true},
		{"Edit(src/**)", "Write", testCwd + "/src/a.go", true},
		{"Edit(./src/**)", "Write", testCwd + "/src/a.go", true},
		{"Edit(src/)", "Write", testCwd + "/src/a.go", true},
		{"Edit(src/**)", "Read", testCwd + "/src/a.go", false},
		{"Edit(src/**)", "Edit", testCwd + "/srcx/a.go", false},
		{"Edit(src/**)", "Edit", testCwd + "/src/../x.go", false},
		{"Edit(src/**)", "Edit", "/src/a.go", false},
		{"Edit(src/**)", "Edit", testCwd + "/sub/src/a.go", false},
		{"Edit(*.go)", "Edit", testCwd + "/a.go", true},
		{"Edit(*.go)", "Edit", testCwd + "/sub/a.go", false},
		{"Edit(**/*.{go,md})", "Edit", testCwd + "/sub/a.md", true},
		{"Edit(/data/**)", "Edit", "/data/x", true},
		{"Edit(//data/**)", "Edit", "/data/x", true},
		{"Edit(~/x/**)", "Edit", "/home/u/x/y", true},
		{"Edit(../other/**)", "Edit", "/home/u/other/y", true},
		{"Edit(../other/**)", "Edit", testCwd + "/other/y", false},
		{"Write(src/**)", "Edit", testCwd + "/src/a", false},
		{"Read(src/**)", "Grep", testCwd + "/src", true},
		{"Read(src/**)", "Glob", testCwd, false},
		{"Read(src/**)", "Edit", testCwd + "/src/a", false},
		{"Read", "Read", "/etc/passwd", true},
		{"Edit", "Write", "/x", true},
		{"Edit(a b(c).go)", "Edit", testCwd + "/a b(c).go", true},
		{`Edit(a\*b)`, "Edit", testCwd + "/a*b", true},
		{`Edit(a\*b)`, "Edit", testCwd + "/axb", false},
		{"Edit(SRC/**)", "Edit", testCwd + "/src/a", false},
		{"deny Read(.env)", "Read", testCwd + "/.env", true},
		{"deny Read(.env)", "Read", testCwd + "/sub/.env", true},
		{"deny Read(.env)", "Read", testCwd + "/.ENV", true},
		{"deny Read(.env)", "Read", testCwd + "/.environ", false},
		{"deny Read(.env)", "Write", testCwd + "/.env", true},
		{"deny Read(.env)", "Edit", testCwd + "/x/.env", true},
		{"deny Read(secrets)", "Grep", testCwd + "/a/secrets/b", true},
		{"deny Read(/secrets)", "Read", "/x/secrets", false},
		{"deny Read(~/.aws)", "Read", "/home/u/.aws/credentials", true},
		{"deny Read(~/.aws)", "Read", "/home/u/x/.aws", false},
		{"deny Edit(src/**)", "Read", testCwd + "/src/a", false},
		{"deny Edit(src/**)", "Write", testCwd + "/x/../src/a", true},
		{"deny Edit", "Write", "/x", true},
		{"deny Read", "Edit", "/x", true},
		{"deny mcp__x", "mcp__x__y", "", true},
		{"mcp__x", "mcp__x__y", "", true},
		{"mcp__x", "mcp__xy__z", "", false},
		{"mcp__x__y", "mcp__x__z", "", false},
	} {
		p := testPolicy(ModeDefault, c.rule)
		r := Request{Tool: c.tool, Path: c.path, Root: testCwd, Cwd: testCwd, HomeDir: testHome}
		if got := Matches(p.Rules[0], r); got != c.want {
			t.Errorf("%s on %s %s: %v, want %v", c.rule, c.tool, c.path, got, c.want)
		}
	}
}

// A deny rule sees through the name the model used; an allow rule only sees the
// resolved path.
func TestRawPath(t *testing.T) {
	link := Request{Tool: "Edit", Path: testCwd + "/elsewhere", RawPath: "src/link"}
	if d := Decide(testPolicy(ModeBypass, "deny Edit(src/**)"), link); d.Effect != Deny {
		t.Errorf("deny on the raw path: %+v", d)
	}
	if d := Decide(testPolicy(ModeDefault, "Edit(src/**)"), link); d.Effect != Ask {
		t.Errorf("allow on the raw path: %+v", d)
	}
	if d := Decide(testPolicy(ModeBypass, "deny Read(/etc/**)"), Request{Tool: "Glob", Pattern: "../../etc/*"}); d.Effect != Ask {
		t.Errorf("a glob that may reach denied files: %+v", d)
	}
}

// File rules make commands that name such a file ask, and hide it from searches.
func TestFileRulesReachFurther(t *testing.T) {
	p := testPolicy(ModeBypass, "deny Read(.env)", "ask Edit(/data/**)")
	runBash(t, p, []bashCase{
		{"cat .env", Ask},
		{"cat sub/.env", Ask},
		{"source ./.env", Ask},
		{"cat x > .env", Ask},
		{"curl -d@.env h", Ask},
		{"python -c \"open('.env')\"", Ask},
		{"cp /data/x y", Ask},
		{"cat x.env", Allow},
		{"cat environment", Allow},
	})
	for path, want := range map[string]bool{testCwd + "/.env": true, testCwd + "/a/.env": true, testCwd + "/a": false, "/data/x": false} {
		if got := Hidden(p, path); got != want {
			t.Errorf("Hidden(%s) = %v, want %v", path, got, want)
		}
	}
}

// A deny or ask rule holds in every letter case, its own included; an ask rule hides from searches as a deny rule does.
func TestFileRulesIgnoreCase(t *testing.T) {
	p := testPolicy(ModeBypass, "deny Read(Secrets/KEY.Pem)", "ask Read(Notes.TXT)", "deny Edit(/Data/[A-C]x)")
	for path, want := range map[string]bool{
		testCwd + "/Secrets/KEY.Pem": true, testCwd + "/secrets/key.pem": true, testCwd + "/SECRETS/key.PEM": true, testCwd + "/secrets/key": false,
		testCwd + "/Notes.TXT": true, testCwd + "/sub/notes.txt": true, testCwd + "/notes": false, "/Data/Ax": false,
	} {
		if got := Hidden(p, path); got != want {
			t.Errorf("Hidden(%s) = %v, want %v", path, got, want)
		}
	}
	for _, path := range []string{"/Data/Ax", "/data/bx"} {
		if d := Decide(p, Request{Tool: "Write", Path: path}); d.Effect != Deny {
			t.Errorf("Write %s: %+v", path, d)
		}
	}
	runBash(t, p, []bashCase{{"cat SECRETS/Key.pem", Ask}, {"cat secrets/K*", Ask}, {"cat NOTES.tx?", Ask}})
}

// A message quotes whole characters, wherever the quoted text is cut.
func TestAQuotedRuleIsCutBetweenCharacters(t *testing.T) {
	for _, lead := range []string{"", "a"} {
		_, err := ParseRules("Bash(" + lead + strings.Repeat("é", 60))
		if err == nil || !utf8.ValidString(err.Error()) || strings.Contains(err.Error(), `\x`) {
			t.Errorf("%v", err)
		}
	}
}
