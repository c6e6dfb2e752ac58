package permission

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// Each bound is the one that is written down: what reaches it is understood, what passes it by one is refused, or asks.
func TestBoundsAreKept(t *testing.T) {
	for text, want := range map[string]bool{
		"Read(" + strings.Repeat("a/**/", 7) + "**)":          true,
		"Read(" + strings.Repeat("a/**/", 8) + "**)":          false,
		"Read(" + strings.Repeat("{a,b}", 4) + ")":            true,
		"Read(" + strings.Repeat("{a,b}", 5) + ")":            false,
		"Read(" + strings.Repeat("a", 1024) + ")":             true,
		"Read(" + strings.Repeat("a", 1025) + ")":             false,
		"Bash(" + strings.Repeat("a", 16<<10) + ")":           true,
		"Bash(" + strings.Repeat("a", maxCommand+256-5) + ")": false,
		"Read(" + strings.Repeat("../", 300) + "a)":           true,
	} {
		if _, err := ParseRule(Deny, text, SourceFlag); (err == nil) != want {
			t.Errorf("%.40s of %d bytes: %v", text, len(text), err)
		}
	}
	p := testPolicy(ModeBypass, "deny Bash(rm:*)")
	runBash(t, p, []bashCase{
		{"bash -c '" + strings.Repeat("a;", 2047) + "'", Allow}, // with bash itself 2048 commands
		{"bash -c '" + strings.Repeat("a;", 2048) + "'", Ask},
		{"git bisect run" + strings.Repeat(" a", 63), Allow},
		{"git bisect run" + strings.Repeat(" a", 64), Ask},
	})
}

// A text with a NUL byte reaches nobody, wherever the byte stands.
func TestNulBytesAreRefused(t *testing.T) {
	for _, text := range []string{"\x00", "\x00/x", "/x\x00", "/x\x00y"} {
		for name, r := range map[string]Request{"path": {Path: text}, "path as given": {Path: "/x", RawPath: text}, "pattern": {Path: "/x", Pattern: text}} {
			for _, tool := range []string{toolRead, toolWrite, toolGlob} {
				r.Tool = tool
				if d := Decide(testPolicy(ModeBypass), r); d.Effect != Deny || !strings.Contains(d.Reason, "NUL") {
					t.Errorf("%s of %s %q: %+v", name, tool, text, d)
				}
			}
		}
	}
}

// A git that ends with an option that wants a value has no subcommand; what it would show is not known.
func TestGitWithoutItsValue(t *testing.T) {
	for _, option := range []string{"-C", "-c", "--git-dir", "--work-tree", "--config-env"} {
		runBash(t, testPolicy(ModeBypass, "deny Read(secret)"), []bashCase{{"git " + option, Ask}, {"git -C x " + option, Ask}})
	}
}

// The paths of a git command are those of the directory that its last -C leads to, each one from the one before.
func TestGitInAnotherDirectory(t *testing.T) {
	p := gitWorld("deny Read(./secret.env)")
	p.Mode = ModeBypass
	for command, want := range map[string]Effect{
		"git -C src diff -- README":                Allow,
		"git -C src diff -- ../secret.env":         Ask,
		"git -C src -C a diff -- ../../secret.env": Ask,
		"git -C src -C a diff -- ../secret.env":    Allow,
		"git -C ../x diff -- ../proj/secret.env":   Ask,
		"git diff -- ../secret.env":                Allow,
		"git -C $X diff -- README":                 Ask,
	} {
		runBash(t, p, []bashCase{{command, want}})
	}
}

// Of a variable that is added to, or of which an element is set, the value is not known; and a bare sudo runs nothing.
func TestWhatIsNotKnownOfAValue(t *testing.T) {
	runBash(t, wordsPolicy(ModeBypass, "deny Read(secret.env)", "deny Bash(rm:*)"), []bashCase{
		{"x=sec; x+=ret.env; cat $x", Ask},
		{"x[0]=secret; x[1]=.env; cat $x", Ask},
		{"x=(secret .env); cat $x", Ask},
		{"x=sec; cat $x", Allow},
		{"sudo", Allow},
		{"sudo -u root", Ask},
	})
}

// What a word may become by $'…' and by the other word of a variable is compared with the rules, and only that.
func TestWordsInOtherSpellings(t *testing.T) {
	p := wordsPolicy(ModeBypass, "deny Read(secret.env)")
	for _, word := range []string{
		`$'\u0073ecret.env'`, `$'\U00000073ecret.env'`, `$'sec\x72et.env'`, `$'sec\162et.env'`, `$'\U00110000secret.env'`,
		"${x:-se}cret.env", "${x-se}cret.env", "${x:=se}cret.env", "${x=se}cret.env", "${x:+se}cret.env", "${HOME+se}cret.env",
	} {
		runBash(t, p, []bashCase{{"cat " + word, Ask}})
	}
	for _, word := range []string{`$'\u0074ecret.env'`, `$'\U0010ffffsecret.env'`, "${x:-te}cret.env", "${x:+te}cret.env"} {
		runBash(t, p, []bashCase{{"cat " + word, Allow}})
	}
}

// Of a text that is no shell's each piece that may be a path is compared: all its letters, with _ and - at their
// beginning too.
func TestPiecesOfForeignTexts(t *testing.T) {
	for _, name := range []string{"_k", "-k", "k_", "~k", "0k", "9k", "ak", "zk", "Ak", "Zk", "ék"} {
		p := testPolicy(ModeBypass, "deny Read(**/"+name+")")
		runBash(t, p, []bashCase{{"python -c 'open(d/" + name + ")'", Ask}, {"python -c 'open(d/" + name + "x)'", Allow}})
	}
}

// No statement is plain that does not simply run and end, in whatever shell it is one.
func TestStatementsThatAreNotPlain(t *testing.T) {
	for what, change := range map[string]func(*syntax.Stmt){
		"negated":      func(st *syntax.Stmt) { st.Negated = true },
		"background":   func(st *syntax.Stmt) { st.Background = true },
		"a coprocess":  func(st *syntax.Stmt) { st.Coprocess = true },
		"disowned":     func(st *syntax.Stmt) { st.Disown = true },
		"as it stands": func(*syntax.Stmt) {},
	} {
		file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader("ls"), "")
		if err != nil {
			t.Fatal(err)
		}
		change(file.Stmts[0])
		var s script
		if s.plainStmts("ls", file.Stmts); (s.why == "") != (what == "as it stands") {
			t.Errorf("%s: %q", what, s.why)
		}
	}
}
