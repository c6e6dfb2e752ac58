package permission

import (
	"errors"
	"testing"
)

// What each mode does with a call that no rule matches.
func TestModes(t *testing.T) {
	in, out := testCwd+"/a.go", "/etc/passwd"
	p := testPolicy(ModeDefault)
	p.Dirs = []string{"/data"}
	for _, c := range []struct {
		name                        string
		r                           Request
		plan, deflt, accept, bypass Effect
	}{
		{"read inside", Request{Tool: "Read", Path: in}, Allow, Allow, Allow, Allow},
		{"read added", Request{Tool: "Read", Path: "/data/x"}, Allow, Allow, Allow, Allow},
		{"read outside", Request{Tool: "Read", Path: out}, Ask, Ask, Ask, Allow},
		{"read sibling", Request{Tool: "Read", Path: testCwd + "2/x"}, Ask, Ask, Ask, Allow},
		{"read dot dot", Request{Tool: "Read", Path: testCwd + "/../x"}, Ask, Ask, Ask, Allow},
		{"read relative", Request{Tool: "Read", Path: "a.go"}, Ask, Ask, Ask, Allow},
		{"read nothing", Request{Tool: "Read"}, Ask, Ask, Ask, Allow},
		{"read foreign space", Request{Tool: "Read", Path: testCwd + "/a\u202fb.png"}, Allow, Allow, Allow, Allow},
		{"glob here", Request{Tool: "Glob", Pattern: "**/*.go"}, Allow, Allow, Allow, Allow},
		{"glob up", Request{Tool: "Glob", Pattern: "../*"}, Ask, Ask, Ask, Allow},
		{"glob up in braces", Request{Tool: "Glob", Pattern: "{a,..}/*"}, Ask, Ask, Ask, Allow},
		{"glob up, escaped", Request{Tool: "Glob", Pattern: `\.\./*`}, Ask, Ask, Ask, Allow},
		{"glob up, half escaped", Request{Tool: "Glob", Pattern: `.\./*`}, Ask, Ask, Ask, Allow},
		{"glob up in a class", Request{Tool: "Glob", Pattern: `[.][.]/*`}, Ask, Ask, Ask, Allow},
		{"glob away", Request{Tool: "Glob", Pattern: "/etc/*"}, Ask, Ask, Ask, Allow},
		{"grep inside", Request{Tool: "Grep", Path: testCwd, Pattern: "*.go"}, Allow, Allow, Allow, Allow},
		{"grep outside", Request{Tool: "Grep", Path: "/"}, Ask, Ask, Ask, Allow},
		{"write inside", Request{Tool: "Write", Path: in}, Deny, Ask, Allow, Allow},
		{"edit inside", Request{Tool: "Edit", Path: in}, Deny, Ask, Allow, Allow},
		{"edit outside", Request{Tool: "Edit", Path: out}, Deny, Ask, Ask, Allow},
		{"bash", bash("ls"), Deny, Ask, Ask, Allow},
		{"bash background", Request{Tool: "Bash", Command: "ls", Background: true}, Deny, Ask, Ask, Allow},
		{"bash broken", bash("ls '"), Deny, Ask, Ask, Allow},
		{"todo", Request{Tool: "TodoWrite"}, Allow, Allow, Allow, Allow},
		{"ask user", Request{Tool: "AskUser"}, Allow, Allow, Allow, Allow},
		{"memory", Request{Tool: "memory"}, Deny, Allow, Allow, Allow},
		{"memory looked at", Request{Tool: "memory", Reads: true}, Allow, Allow, Allow, Allow},
		{"artifact of a file inside", Request{Tool: "Artifact", Path: in, RawPath: in}, Allow, Allow, Allow, Allow},
		{"artifact of a file outside", Request{Tool: "Artifact", Path: out, RawPath: out}, Ask, Ask, Ask, Allow},
		{"artifact of a text", Request{Tool: "Artifact"}, Allow, Allow, Allow, Allow},
		{"own output", Request{Tool: "BashOutput", OwnTask: true}, Allow, Allow, Allow, Allow},
		{"other's output", Request{Tool: "BashOutput"}, Ask, Ask, Ask, Allow},
		{"own kill", Request{Tool: "KillBash", OwnTask: true}, Allow, Allow, Allow, Allow},
		{"other's kill", Request{Tool: "KillBash"}, Ask, Ask, Ask, Allow},
		{"foreign tool", Request{Tool: "mcp__x__y"}, Ask, Ask, Ask, Allow},
		{"nul in a path", Request{Tool: "Read", Path: "/x\x00"}, Deny, Deny, Deny, Deny},
	} {
		for mode, want := range map[Mode]Effect{ModePlan: c.plan, ModeDefault: c.deflt, ModeAcceptEdits: c.accept, ModeBypass: c.bypass, "": c.deflt, "nonsense": c.deflt} {
			p.Mode = mode
			if d := Decide(p, c.r); d.Effect != want || d.Reason == "" || d.Rule != "" {
				t.Errorf("%s in %q: %+v, want %s", c.name, mode, d, want)
			}
		}
	}
}

// A cd of the model moves neither what is inside nor where rules are anchored.
func TestCdDoesNotMoveTheRoot(t *testing.T) {
	p := testPolicy(ModeAcceptEdits, "deny Edit(secret/**)")
	p.Cwd = "/etc"
	if d := Decide(p, Request{Tool: "Write", Path: "/etc/x"}); d.Effect != Ask {
		t.Errorf("write where the model went: %+v", d)
	}
	if d := Decide(p, Request{Tool: "Write", Path: testCwd + "/secret/x"}); d.Effect != Deny {
		t.Errorf("write of a denied file: %+v", d)
	}
	if d := Decide(p, Request{Tool: "Glob"}); d.Effect != Ask {
		t.Errorf("glob where the model went: %+v", d)
	}
}

// The zero policy asks for whatever touches a file or runs a command.
func TestZeroPolicy(t *testing.T) {
	for _, r := range []Request{bash("ls"), {Tool: "Read", Path: "/x"}, {Tool: "Glob"}, {Tool: "Write", Path: "/x"}, {}, {Tool: "Edit"}} {
		if d := Decide(Policy{}, r); d.Effect != Ask {
			t.Errorf("%+v: %+v", r, d)
		}
	}
}

func TestParseMode(t *testing.T) {
	for name, want := range map[string]Mode{"": ModeDefault, "default": ModeDefault, "plan": ModePlan, "acceptEdits": ModeAcceptEdits, "bypassPermissions": ModeBypass} {
		if got, err := ParseMode(name); err != nil || got != want {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	if _, err := ParseMode("Plan"); !errors.Is(err, ErrMode) {
		t.Errorf("Plan: %v, want ErrMode", err)
	}
}
