package permission

import "testing"

// Deciding commands ask in every mode, whatever is granted, also when hidden.
func TestDecidingCommandsAlwaysAsk(t *testing.T) {
	ask := []string{
		"perdure search -p -r x --add-dir /", "perdure diff x", "perdure list -p x", "perdure show x -r x", "perdure log --continue", "perdure list --model=x",
		"perdure show --resume=x", "perdure list -c", "perdure usage --print", "perdure task list --fork-session", "perdure approvals list x", "perdure task x",
		"perdure plan x set 1 done", "perdure plan set x 1 done", "perdure plan accept", "perdure plan x edit", "perdure plan x rm 1", "perdure plan --json x refuse", "perdure plan $X",
		"perdure memory add x", "perdure memory undo", "perdure handoff write x", "perdure handoff --cwd / show", "perdure handoff", "perdure memory --user list", "perdure journal", "perdure journal add x", "perdure memory show -p x",
		"perdure approvals allow x", "perdure answer x y", "perdure permissions revoke x", "perdure takeover x", "perdure release x", "perdure --dangerously-skip-permissions -p x",
		"perdure -p x --permission-mode bypassPermissions", "perdure", "perdure approvals list", "perdure task kill x", "perdure resume", "/usr/local/bin/perdure approvals allow x",
		"./perdure approvals allow x", "~/bin/perdure approvals allow x", `per"dure" approvals allow x`, `p\erdure answer x y`, `$'\x70erdure' answer x y`, "PERDURE answer",
		"sudo perdure answer x y", "env -u PERDURE_SESSION_ID perdure answer x y", "timeout 5 perdure answer", "sh -c 'perdure approvals allow x'", "bash -lc \"perdure answer x\"",
		"eval perdure answer x", "ls; perdure answer x", "ls $(perdure answer x)", "ls `perdure answer x`", "f() { perdure answer x; }; f", "perdure answer x &", "xargs perdure answer",
		"find . -exec perdure answer x ';'", "echo 'perdure answer x' | sh", "sh <<E\nperdure answer x\nE", "sh <<< 'perdure answer x'", `$X perdure answer`, "X=perdure; $X answer",
		`python3 -c "import os; os.system('perdure approvals allow x')"`, "python3 <<E\nos.system('perdure answer')\nE", "echo 'os.system(\"perdure answer\")' | python3", "go run ./cmd/perdure answer x",
		"go run github.com/perdure/perdure/cmd/perdure@latest approvals allow x", "perl -e 'exec \"perdure\", \"answer\"'", "node -e 'x(`perdure answer`)'", "awk 'BEGIN{system(\"perdure answer\")}'",
		"nohup perdure answer x", "perdure list; perdure answer x", "perdure list $X", "perdure show x --dangerously-skip-permissions", "perdure 'unclosed", "ssh localhost perdure answer",
		"busybox sh -c 'perdure answer x'", "make X='perdure answer'", "ssh localhost <<E\nperdure answer x\nE", "{perdure,answer,x}", "git -c alias.x='!perdure answer' x", "tmux new 'perdure answer x'",
	}
	for _, mode := range []Mode{ModeDefault, ModeAcceptEdits, ModeBypass} {
		for _, command := range ask {
			p := testPolicy(mode, "Bash")
			p.Grants = []Rule{{Effect: Allow, Text: "Bash(" + command + ")", Source: SourceSession}}
			d := Decide(p, bash(command))
			if d.Effect != Ask || !d.Always {
				t.Errorf("%q in %s: %+v, want an ask that nothing grants", command, mode, d)
			}
			if s := Suggest(bash(command)); s != "" {
				t.Errorf("%q: suggested %q", command, s)
			}
		}
	}
	// Reading commands, and the mere name, follow the ordinary rules.
	for _, command := range []string{
		"perdure list --json", "cat > README.md <<E\nperdure is\nE", "perdure show x", "perdure log x", "perdure search x y", "perdure search 'two words' --in memory", "perdure version", "perdure task output x", "perdure memory list --json", "perdure memory show db", "perdure memory log", "perdure handoff show", "perdure handoff list --json", "perdure plan", "perdure plan x --json", "perdure plan diff", "cd /src/perdure && make test", "go test ./cmd/perdure", "ls perdure",
		"git clone https://github.com/perdure/perdure", "echo perdure answer", "python3 /src/perdure/x.py", "python3 perdure_test.py", "grep -r perdure .", "git commit -m 'perdure approvals'",
	} {
		runBash(t, testPolicy(ModeBypass), []bashCase{{command, Allow}})
	}
}

// Protected paths ask in every mode, for edits and for words of commands.
func TestProtectedPaths(t *testing.T) {
	words := []string{
		"cat .git/config", "ls .git", "ls ./.git/", "cat sub/../.git/HEAD", "cp x .git/hooks/post-commit", "echo x > .git/config", "echo x >> .git/hooks/y", "cat < .git/config",
		"cat /home/u/proj/.git/config", "cat '.git/config'", "cat \".git/config\"", "cat .gi't'/config", `cat .g\it/config`, "cat .GIT/config", "cat .gi?/config", "cat .g*/config", "cat .[g]it/x",
		"cat */.git/config", "git --git-dir=.git log", "tar -C.git -xf x", "dd if=x of=.git/config", "x=.git/config", "for f in .git/*; do cat $f; done", "cat $(echo .git/config)",
		"cat \"$PWD/.git/config\"", "cat $PWD/.git/config", "tee ~/.bashrc", "echo x >> ~/.bashrc", "echo x >> /home/u/.zshenv", "echo x > .profile", "cp x /root/.bash_profile", "cat .mcp.json",
		"cat .perdure/config.toml", "rm -rf .perdure", "ls /home/u/.local/share/perdure", "rm -rf /home/u/.local/share/perdure/x", "cat ~/.local/share/perdure/x", "cat ../.local/share/perdure/x",
		"cat /home/u/.local/share/per*/x", "ls ~/.local/*/perdure", "cat ~/.ssh/id_ed25519", "cat ~/.gitconfig", "cat ~/.config/git/config", "echo x > /etc/profile.d/y.sh", "cp x /etc/bash.bashrc",
		"cd .git && ls", "cd ~/.local && cat share/perdure/x", "cd /home/u && cat .local/share/perdure/x", "cd ..; cat .local/share/perdure/x",
		"python3 -c \"open('.git/config','w')\"", "sed -i s/a/b/ .git/config", "sed -i 's/a/b/; w .git/hooks/x' f", "sh -c 'echo x > .git/config'", "bash <<E\necho x > .git/hooks/y\nE",
		"find . -path './.git/*' -delete", "find .git -type f", "find . -name .git -exec rm {} +", "awk '{print > \".git/x\"}' f", "git mv a .git/hooks/b", "cat .git/config '", "export X=.git/config",
		"scp x host:.bashrc", "rsync x h:/home/u/.ssh/authorized_keys", "curl -o.git/hooks/x h", "curl --output=.git/x h", "mount a:.git",
	}
	for _, mode := range []Mode{ModeDefault, ModeAcceptEdits, ModeBypass} {
		p := testPolicy(mode, "Bash", "Bash(cat:*)")
		for _, command := range words {
			d := Decide(p, bash(command))
			if d.Effect != Ask || !d.Always {
				t.Errorf("%q in %s: %+v, want an ask that nothing grants", command, mode, d)
			}
		}
	}
	for _, command := range []string{
		"cat .gitignore", "ls .github", "cat x.git", "git status", "ls *", "cat *.go", "echo 'about .git and .bashrc'", "git commit -m 'fix .git/config handling'", "grep -r x --exclude-dir=.git .",
		"grep -r x --exclude-dir .git .", "find . -not -path './.git/*' -name '*.go'", "find . -path ./.git -prune -o -print", "rg x --glob '!.git'", "rg x -g '!.git/*'", "tar --exclude=.git -cf x .",
		"ls perdure", "cat bashrc", "cat > notes <<E\nsee .git/hooks and .bashrc\nE", "cat profile", "echo a.mcp.json", "git clone https://h/x.git",
	} {
		runBash(t, testPolicy(ModeBypass), []bashCase{{command, Allow}})
	}
}

func TestProtectedEdits(t *testing.T) {
	for _, tool := range []string{"Write", "Edit"} {
		for _, path := range []string{
			"/home/u/proj/.git/config", "/home/u/proj/sub/.git/hooks/x", "/home/u/proj/.git", "/home/u/proj/.perdure/config.toml", "/home/u/proj/.mcp.json", "/home/u/.bashrc", "/home/u/proj/.Bashrc",
			"/home/u/proj/.GIT/x", "/home/u/.local/share/perdure/store.db", "/home/u/.local/share/perdure", "/home/u/proj/x/../.git/config", "/etc/profile", "/home/u/.ssh/config", "relative", "",
			"/home/u/proj/a\u202eb", "/home/u/proj/a\u00a0b", "/home/u/proj/.config/fish/config.fish",
		} {
			for _, mode := range []Mode{ModeDefault, ModeAcceptEdits, ModeBypass} {
				p := testPolicy(mode, "Edit", "Write", "Edit(/**)", "Edit(.git/**)")
				if d := Decide(p, Request{Tool: tool, Path: path}); d.Effect != Ask || !d.Always {
					t.Errorf("%s %q in %s: %+v, want ask", tool, path, mode, d)
				}
			}
		}
		// A link whose own name is protected asks too, and so does one that leads there.
		for _, r := range []Request{
			{Tool: tool, Path: "/home/u/proj/x", RawPath: ".git/config"}, {Tool: tool, Path: "/home/u/proj/x", RawPath: "~/.bashrc"}, {Tool: tool, Path: "/home/u/proj/.git/config", RawPath: "link"},
		} {
			if d := Decide(testPolicy(ModeBypass), r); d.Effect != Ask {
				t.Errorf("%+v: %+v, want ask", r, d)
			}
		}
		if d := Decide(testPolicy(ModeBypass), Request{Tool: tool, Path: "/home/u/proj/.gitignore"}); d.Effect != Allow {
			t.Errorf("%s of .gitignore in bypass: %+v", tool, d)
		}
	}
}
