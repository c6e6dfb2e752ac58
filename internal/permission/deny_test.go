package permission

import (
	"strings"
	"testing"
)

// A deny rule is found wherever the command hides: the matcher errs on the wide
// side, in every mode, and asks where the text does not tell.
func TestDenyFindsHiddenCommands(t *testing.T) {
	deny := []string{
		"rm", "rm x", "/bin/rm x", "./rm x", "RM x", `\rm x`, "'rm' x", `"rm" x`, `r\m x`, `$'rm' x`, `$'\x72m' x`, `$'\162m' x`, "r''m x",
		"ls; rm x", "ls && rm x", "ls || rm x", "ls | rm x", "ls & rm x", "ls\nrm x", "rm x &", "! rm x", "time rm x", "coproc rm x", "coproc rm time &>f",
		"ls $(rm x)", "ls `rm x`", `ls "$(rm x)"`, "ls ${a:-$(rm x)}", "ls <(rm x)", "ls >(rm x)", "ls > $(rm x)", "ls <<< $(rm x)", "ls <<E\n$(rm x)\nE", "a=$(rm x)", "a=($(rm x))",
		"ls $((a[$(rm x)]))", "[[ $(rm x) ]]", "(( $(rm x) ))", "ls \"`echo $(rm x)`\"", "export A=$(rm x)",
		"(rm x)", "{ rm x; }", "if rm x; then :; fi", "for i in a; do rm $i; done", "while :; do rm x; done", "case a in a) rm x;; esac", "f() { rm x; }", "f() { rm x; }; f",
		"A=b rm x", "2>/dev/null rm x", "> f rm x",
		"sudo rm x", "sudo -u root rm x", "sudo -n -- rm x", "sudo A=b rm x", "sudo --user=root rm x", "sudo --user root rm x", "doas rm x", "env rm x", "env -i A=b rm x",
		"env -u A rm x", "env -S 'rm x'", "env '-Srm x'", "env --split-string='rm x'", "timeout 5 rm x", "timeout -k 5 -s KILL 9 rm x", "timeout --signal=9 5 rm x", "timeout --weird 5 rm x",
		"nice rm x", "nice -n 5 rm x", "nice -5 rm x", "nohup rm x", "setsid rm x", "stdbuf -o0 rm x", "ionice -c 3 rm x", "command rm x", "command -p rm x", "builtin rm", "exec rm x",
		"exec -a ls rm x", "xargs rm", "ls | xargs -n 1 rm -f", "xargs -I{} rm {}", "find . -exec rm {} +", "find . -name x -execdir rm {} ';'", "find . -ok rm {} \\;",
		"sh -c 'rm x'", "bash -c 'ls; rm x'", "bash -lc 'rm x'", "bash -o pipefail -c 'rm x'", "bash -c -- 'rm x'", `sh -c "sh -c 'rm x'"`, "eval rm x", "eval 'rm x'", `eval "ls; rm x"`,
		"sudo sh -c 'rm x'", "sudo env A=b timeout 5 nice rm x", "ssh host rm x", "ssh host 'cd /; rm x'", "su -c 'rm x' root", "watch 'rm x'", "parallel rm ::: x", "busybox rm x",
		"flock f rm x", "flock f -c 'rm x'", "strace -f rm x", "docker run img rm x", "docker exec c sh -c 'rm x'", "chroot / rm x", "trap 'rm x' EXIT", "script -c 'rm x' f",
		"git bisect run rm x", "git rebase -x 'rm x' main", "git -c alias.z='!rm x' z", "git submodule foreach 'rm x'", "systemd-run rm x", "unshare -r rm x",
		"ls # \\\nrm x", "ls \\\n#'\nrm x\n'", "sh -c 'ls # \\\nrm x'", "rm x\n'", "rm x; ls\n(", "ls a#b # c\\\n\\\nrm x",
		"cat <<E | ls\n`rm x`\nE", strings.Repeat("ls;", 2000) + "rm x", strings.Repeat("ls && ", 60) + "rm x",
	}
	for _, mode := range []Mode{ModeDefault, ModeAcceptEdits, ModeBypass, ModePlan} {
		p := testPolicy(mode, "Bash", "deny Bash(rm:*)", "Bash(rm x)")
		for _, command := range deny {
			runBash(t, p, []bashCase{{command, Deny}})
		}
	}
}

// What cannot be told from the text asks, even where all else is allowed.
func TestDenyUnsureAsks(t *testing.T) {
	unsure := []string{
		"$X x", "${X} x", `"$X" x`, "$(echo rm) x", "r? x", "/bin/r* x", "{rm,x}", "r$'\\q' x", "~/x y", "eval $X", `eval "$X"`, `sh -c "$X"`, "sh -c $X", "echo x | sh", "bash <<E\nx\nE",
		"bash <<< x", "sudo $X", "env $X", "xargs $X", `ssh host "$X"`, "sudo -i", "source /dev/stdin", ". <(x)", "bash /dev/stdin", "'", "sh -c 'rm x ('",
		"echo rm | xargs env", "echo rm | xargs timeout 5", "echo rm | xargs sudo", "xargs -I% sh -c %", "xargs -I% % x", "find . -exec {} ';'", "find . -exec env {} +", "find . -exec sh -c '{}' ';'", "parallel", "find . $X", "timeout 5 $X", "bash -s", "bash -o pipefail",
	}
	for _, mode := range []Mode{ModeDefault, ModeBypass} {
		p := testPolicy(mode, "Bash", "deny Bash(rm:*)")
		for _, command := range unsure {
			d := Decide(p, bash(command))
			if d.Effect == Allow {
				t.Errorf("%q in %s: allowed (%s)", command, mode, d.Reason)
			}
		}
	}
	// Negative control: without the deny rule bypass allows them, and with it
	// plain commands are still allowed.
	for _, command := range unsure {
		runBash(t, testPolicy(ModeBypass), []bashCase{{command, Allow}})
	}
	for _, command := range []string{"ls rm", "echo rm x", "git commit -m 'rm x'", "for f in *; do wc $f; done", "command -v rm", "make", "python x.py", "grep -r rm .", "rmdir x", "ls $X", "ls | xargs wc -l", "find . -exec wc -l {} +"} {
		runBash(t, testPolicy(ModeBypass, "deny Bash(rm:*)"), []bashCase{{command, Allow}})
	}
}

func TestDenyPrefixOfSeveralWords(t *testing.T) {
	p := testPolicy(ModeBypass, "deny Bash(git push:*)")
	runBash(t, p, []bashCase{
		{"git push", Deny},
		{"git push origin main", Deny},
		{"git -C /x push", Deny},
		{"git -c a=b --no-pager push", Deny},
		{"/usr/bin/git --git-dir x push", Deny},
		{"git --git-dir=x push", Deny},
		{"sudo git push", Deny},
		{"git $X", Ask},
		{"git $X push", Ask},
		{"git p*", Ask},
		{"git --weird x push", Ask},
		{"git status", Allow},
		{"git log push", Allow},
		{"git commit -m push", Allow},
		{"git pushx", Allow},
		{"echo git push", Allow},
	})
	p = testPolicy(ModeBypass, "deny Bash(npm publish)", "ask Bash(npm run:*)")
	runBash(t, p, []bashCase{{"npm publish", Deny}, {"npm 'publish'", Deny}, {"npm publish --tag x", Allow}, {"npm run x", Ask}, {"npm $X", Ask}, {"npm test", Allow}})
}

// Deny is stronger than ask, ask than allow, whatever the order and mode.
func TestPrecedence(t *testing.T) {
	for _, mode := range []Mode{ModeDefault, ModeBypass} {
		runBash(t, testPolicy(mode, "Bash(ls:*)", "ask Bash(ls -l)", "deny Bash(ls -R:*)"), []bashCase{{"ls", Allow}, {"ls -l", Ask}, {"ls -R", Deny}, {"ls -l; ls -R", Deny}, {"ls; ls -l", Ask}})
		runBash(t, testPolicy(mode, "deny Bash", "Bash(ls)"), []bashCase{{"ls", Deny}})
		runBash(t, testPolicy(mode, "ask Bash", "Bash(ls)"), []bashCase{{"ls", Ask}})
	}
	p := testPolicy(ModeDefault, "deny Bash(ls:*)")
	p.Grants = []Rule{{Effect: Allow, Text: "Bash(ls)", Source: SourceSession}}
	if d := Decide(p, bash("ls")); d.Effect != Deny || d.Rule != "Bash(ls:*)" || d.Source != SourceFlag {
		t.Errorf("a grant over a deny rule: %+v", d)
	}
	p.Rules = nil
	if d := Decide(p, bash("ls")); d.Effect != Allow || d.Rule != "Bash(ls)" || d.Source != SourceSession {
		t.Errorf("a grant: %+v", d)
	}
}

// A rule that this version cannot read fails closed.
func TestUnreadableRules(t *testing.T) {
	for _, text := range []string{"Bash(a:*b:*", "", "()", "Ba sh", "Bash(*rm:*)", "Foo(x)", "Edit([)"} {
		for _, effect := range []Effect{Deny, Ask} {
			p := Policy{Mode: ModeBypass, Cwd: testCwd, Rules: []Rule{{Effect: effect, Text: text}}}
			if d := Decide(p, Request{Tool: "TodoWrite"}); d.Effect != Ask {
				t.Errorf("%s %q: %+v, want ask", effect, text, d)
			}
		}
		p := Policy{Cwd: testCwd, Rules: []Rule{{Effect: Allow, Text: text}}}
		if d := Decide(p, bash("rm x")); d.Effect != Ask {
			t.Errorf("allow %q: %+v, want ask", text, d)
		}
	}
	p := Policy{Mode: ModeBypass, Cwd: testCwd, Rules: []Rule{{Effect: "forbid", Text: "Bash"}}}
	if d := Decide(p, bash("ls")); d.Effect != Ask {
		t.Errorf("unknown effect: %+v, want ask", d)
	}
}

// An untrusted project's file narrows and never widens.
func TestProjectRulesOnlyNarrow(t *testing.T) {
	p := Policy{Cwd: testCwd, Rules: []Rule{
		{Effect: Allow, Text: "Bash", Source: SourceProject},
		{Effect: Allow, Text: "Bash(ls)", Source: SourceProject},
		{Effect: Allow, Text: "Write", Source: SourceProject},
		{Effect: Deny, Text: "Bash(rm:*)", Source: SourceProject},
	}}
	runBash(t, p, []bashCase{{"ls", Ask}, {"rm x", Deny}})
	if d := Decide(p, Request{Tool: "Write", Path: "/x"}); d.Effect != Ask {
		t.Errorf("write by a project's rule: %+v", d)
	}
	for i := range p.Rules {
		p.Rules[i].Source = SourceTrusted
	}
	runBash(t, p, []bashCase{{"ls", Allow}, {"rm x", Deny}})
}

// What lies beyond the bounds of the analysis, and a continued line that bash reads otherwise, are not known: under a
// deny rule they ask.
func TestDenyAsksBeyondItsBounds(t *testing.T) {
	p := testPolicy(ModeBypass, "deny Bash(rm:*)")
	runBash(t, p, []bashCase{
		{strings.Repeat("nice ", maxNesting+1) + "rm x", Ask},
		{strings.Repeat("nice ", maxNesting+1) + "ls", Ask},
		{strings.Repeat("nice ", maxNesting) + "rm x", Deny},
		{strings.Repeat("nice ", maxNesting) + "ls", Allow},
		{"ls # \\\nls", Ask},
		{"ls \\\n#a", Ask},
		{"ls # a\nls", Allow},
		{"ls \\\n-l", Allow},
	})
}
