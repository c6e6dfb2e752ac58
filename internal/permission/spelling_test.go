package permission

import "testing"

// Goal: a deny rule in mode bypassPermissions is not passed by the cheap other ways to run a program.
func TestOtherWaysToRun(t *testing.T) {
	p := testPolicy(ModeBypass, "deny Bash(rm:*)")
	p.Env = map[string]string{"LANG": "C.UTF-8"}
	for _, command := range []string{
		"shopt -s expand_aliases\nalias x='rm y'\nx", "shopt -s expand_aliases; alias x=rm\nx y", "BASH_ALIASES[x]='rm y'; shopt -s expand_aliases\nx", "BASH_ALIASES=([x]='rm y')\nx", "declare -A BASH_ALIASES=([x]='rm y')",
		"hash -p /bin/rm ls; ls x", "BASH_CMDS[ls]=/bin/rm; ls x", "jobs -x rm x", "PS4='$(rm x)'; set -x; ls", "PS4='`rm x`' bash -xc ls", "x='$(rm y)'; echo ${x@P}", "echo \"${x@P}\"",
		"x='a[$(rm y)]'; echo $((x))", "let 'a[$(rm x)]'", "let 'a[`rm x`]=1'", "printf -v 'a[$(rm x)]' y", "test -v 'a[$(rm x)]'", "[ -v 'a[$(rm x)]' ]", "[[ -v 'a[$(rm x)]' ]]", "x='a[$(rm y)]'; [[ $x -eq 1 ]]", "declare 'a[$(rm x)]=1'",
		"typeset -i 'a[$(rm x)]'", "unset 'a[$(rm x)]'", "read 'a[$(rm x)]' <<< y", "x='a[$(rm y)]'; ((x))", "x='a[$(rm y)]'; a[x]=1", "x='b[$(rm y)]'; echo ${a:x}", "wait -p 'a[$(rm x)]'", "mapfile -C 'rm x;' -c 1 a < f", "readarray -C rm a", "compgen -C 'rm x' y", "complete -C rm x",
		"GIT_SSH_COMMAND='rm x' git fetch", "GIT_EXTERNAL_DIFF=rm git diff", "EDITOR='rm x' git commit", "GIT_PAGER='rm x' git log", "PAGER=rm man ls", "export GIT_EDITOR='rm x'; git commit", "env GIT_PAGER='rm x' git log", "LESSOPEN='|rm x' less f",
		"GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!rm y' git x", "VISUAL=rm crontab -e", "BASH_ENV=<(rm x) bash -c ls", "PROMPT_COMMAND='rm x' bash -i", "sudo EDITOR=rm visudo",
		"choom -n 5 -- rm x", "linux64 rm x", "linux32 rm x", "i386 rm x", "x86_64 rm x", "uname26 rm x", "sg root -c 'rm x'", "sg root rm", "newgrp rm", "ssh-agent rm x", "logsave f rm x", "/lib64/ld-linux-x86-64.so.2 /bin/rm x", "ld.so /bin/rm x", "run-parts rm", "eatmydata rm x",
		"rlwrap rm x", "daemonize /bin/rm x", "setlock f rm x", "chpst -u x rm y", "gosu u rm x", "su-exec u rm x", "tini -- rm x", "dumb-init rm x", "cpulimit -l 5 rm x", "faketime x rm y", "aa-exec rm x", "cgexec -g x rm y", "hyperfine 'rm x'", "systemd-cat rm x", "runcon x rm y",
		"git ls-remote --upload-pack='rm x' .", "git fetch --upload-pack 'rm x' .", "git fetch --upl='rm x' h", "git push --receive-pack='rm x' .", "git push --exec='rm x' .", "git grep -O'rm x' y", "git grep -Orm y", "git grep --open-files-in-pager=rm y", "git rebase -x'rm x' main",
		"git -c core.pager='rm x' log", "git difftool -x'rm x'", "git difftool --extcmd='rm x'", "enable -f x.so y; y",
	} {
		if d := Decide(p, bash(command)); d.Effect == Allow {
			t.Errorf("%q is allowed: %s", command, d.Reason)
		}
	}
	for _, command := range []string{
		"alias", "alias -p", "hash -r", "jobs -l", "set -x; ls", "PS4='+ ' bash -x a.sh", "echo $((i + 1))", "x=1; echo $((x))", "test -v x", "git commit -m 'use $(rm x) with care'", "EDITOR=true git commit", "GIT_PAGER=cat git log", "PAGER= git log",
		"GIT_AUTHOR_NAME='rm x' git commit", "git log -Orm-order", "git grep -n rm", "unset x", "printf '%s' rm", "complete -F f x", "declare -i n=1", "echo ${x:-a}", "env FOO='rm x' ls", "LC_ALL=C sort f",
	} {
		runBash(t, p, []bashCase{{command, Allow}})
	}
	runBash(t, testPolicy(ModeBypass, "ask Bash(git push:*)"), []bashCase{
		{"git -c alias.p=push p", Ask},
		{"git -calias.p=push p", Ask},
		{"git -c alias.p='push -f' p origin", Ask},
		{"git -c alias.p='!git push' p", Ask},
		{"git -c alias.p=log p", Allow},
		{"GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push git p", Ask},
	})
}

// Goal: with a deny rule on files, what reads whole directories asks where it may come to such a file.
func TestRecursiveReadersUnderFileRules(t *testing.T) {
	for _, mode := range []Mode{ModeDefault, ModeBypass} {
		p := wordsPolicy(mode, "Bash", "deny Read(.env)", "deny Read(conf/secrets/**)")
		for _, command := range []string{
			"grep -r x .", "grep -rn x", "grep -R x src", "grep --recursive x .", "grep -d recurse x .", "grep --directories=recurse x .", "rgrep x", "egrep -r x .", "zgrep -r x .", "rg --hidden x", "rg -uu x", "rg -. x", "rg --no-ignore --hidden x", "rg -uuu x", "rg x conf", "rg x",
			"ag x", "ack x", "git grep --untracked x", "git grep x", "git -C . grep x", "cp -r . y", "cp -a conf y", "tar cf x .", "tar -c conf", "zip -r x .", "rsync -a . y", "scp -r . h:", "diff -r . y", "mv conf y", "timeout 5 grep -r x .", "sh -c 'grep -r x .'", "find . -exec cat {} +", "find . | xargs cat",
			"git stash -u", "git add -A && git diff --cached", "git add .", "7z a x .", "cat */*/k*", "cp -R ./conf/ y", "ls | grep -r x", "cd conf && grep -r x", "grep -r x /home/u", "grep -r x \"$1\"",
		} {
			if d := Decide(p, bash(command)); d.Effect != Ask {
				t.Errorf("%q in %s: %s (%s), want ask", command, mode, d.Effect, d.Reason)
			}
		}
	}
	anchored := wordsPolicy(ModeBypass, "deny Read(conf/secrets/**)")
	runBash(t, anchored, []bashCase{
		{"grep -r x src", Allow},
		{"rg x src", Allow},
		{"rg --hidden x src internal", Allow},
		{"cp -r src y", Allow},
		{"grep -r x conf/other", Allow},
		{"grep x a.go", Allow},
		{"grep -rn x conf", Ask},
		{"tar cf x src", Allow},
		{"git grep x", Ask},
		{"git grep x -- src", Allow},
	})
	runBash(t, wordsPolicy(ModeBypass, "deny Read(.env)"), []bashCase{{"rg x", Allow}, {"rg x src", Allow}, {"grep x a.go", Allow}, {"ls -R", Allow}, {"find . -name '*.go'", Allow}, {"git status", Allow}})
	runBash(t, wordsPolicy(ModeBypass, "deny Edit(src/**)"), []bashCase{{"grep -r x .", Allow}, {"rg --hidden x", Allow}})
}
