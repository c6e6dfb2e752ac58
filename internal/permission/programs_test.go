package permission

import "testing"

// programsPolicy is a session whose workspace is the whole home.
func programsPolicy(mode Mode, rules ...string) Policy {
	p := testPolicy(mode, rules...)
	p.Root, p.Cwd = testHome, testHome
	p.Programs = []string{testHome + "/tools/shims", testHome + "/proj/node_modules/.bin", "/usr/local/bin", testHome, "/opt/real/bin"}
	for _, place := range ProgramPlaces() {
		p.Programs = append(p.Programs, testHome+"/"+place)
	}
	p.Links = []Link{{Name: testHome + "/linked", Target: "/opt/real"}}
	return p
}

// Goal: what is found by its name later is not written unasked: neither in the places that are known, nor in what PATH
// has below the home or the workspace. Running it, or looking at it, asks no more than before.
func TestProgramsFoundByName(t *testing.T) {
	for _, dir := range []string{".cargo/bin", "go/bin", ".asdf/shims", ".pyenv/shims", ".rbenv/shims", ".volta/bin", ".bun/bin", ".deno/bin", ".local/share/mise/shims", "tools/shims", "TOOLS/Shims", "proj/node_modules/.bin", "linked/bin"} {
		at := testHome + "/" + dir + "/git"
		for _, mode := range []Mode{ModeAcceptEdits, ModeBypass} {
			p := programsPolicy(mode, "Write", "Edit", "Bash", "Write(//**)")
			for _, r := range []Request{
				{Tool: "Write", Path: at}, {Tool: "Edit", Path: at}, bash("cp x " + at), bash("echo x >" + at), bash("ln -s x ~/" + dir + "/git"), bash("cd " + dir + " && chmod +x git"), bash("rm -r " + testHome + "/" + dir), bash("timeout 5 cp x " + at), bash("cp x " + at + "; " + at),
			} {
				if d := Decide(p, r); d.Effect != Ask || !d.Always {
					t.Errorf("%s: %s %s%s: %s (%s)", mode, r.Tool, r.Path, r.Command, d.Effect, d.Reason)
				}
			}
			for _, command := range []string{at + " status", "timeout 5 " + at + " status", "env A=b " + at, "ls -l " + testHome + "/" + dir, "cat " + at, "source " + testHome + "/" + dir + "/activate", "python3 " + at + " --version", ". " + at, "node " + at, "ruby " + at, "perl " + at, "bash " + at, "sh " + at, "git status"} {
				if d := Decide(p, bash(command)); d.Effect != Allow {
					t.Errorf("%s: %q: %s (%s)", mode, command, d.Effect, d.Reason)
				}
			}
		}
	}
	p := programsPolicy(ModeAcceptEdits, "Write")
	for _, free := range []string{"/proj/main.go", "/bin.txt", "/tools/readme", "/.cargo/registry/x", "/proj/go.mod", "/x"} {
		if d := Decide(p, Request{Tool: "Write", Path: testHome + free}); d.Effect != Allow {
			t.Errorf("%s: %s (%s)", free, d.Effect, d.Reason)
		}
	}
	// Places of the system are no matter of this: who may write there decides.
	if d := Decide(p, Request{Tool: "Write", Path: "/usr/local/bin/x"}); d.Always {
		t.Errorf("outside: %s", d.Reason)
	}
}
