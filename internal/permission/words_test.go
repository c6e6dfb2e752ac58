package permission

import "testing"

// wordsPolicy is testPolicy with what the engine knows of the world: the environment that the command starts from.
func wordsPolicy(mode Mode, rules ...string) Policy {
	p := testPolicy(mode, rules...)
	p.TempDir = "/home/u/.local/share/perdure/tmp/s"
	p.Env = map[string]string{
		"HOME": testHome, "LANG": "C.UTF-8", "TMPDIR": p.TempDir, "PERDURE_HOME": "/home/u/.local/share/perdure",
		"PERDURE_ACT": "/home/u/.local/share/perdure/acts/x", "PROJ": "proj", "PATH": "/usr/bin:/bin",
	}
	return p
}

// Goal: no option hides a word. What is only left out of a search may still be named where nothing reads it.
func TestNoOptionHidesAWord(t *testing.T) {
	for _, mode := range []Mode{ModeDefault, ModeAcceptEdits, ModeBypass} {
		p := wordsPolicy(mode, "Bash", "deny Read(.env)")
		for _, command := range []string{
			"cat -- --exclude .env", "cat -- --exclude-dir .env", "grep x --exclude .env", "git blame --ignore-revs-file=.env README", "cat --ignore .env", "cat --exclude=.env",
			"touch -- --exclude .git/hooks/x", "touch -- --exclude ../.local/share/perdure/x", "mkdir -p -- --exclude .perdure/x", "rm -- --exclude .git/config", "rm -rf -- --exclude ~/.ssh",
			"tee -- --exclude ~/.bashrc", "chmod -R 777 -- --exclude ~/.ssh", "ln -sf x -- --exclude-dir .git/hooks/pre-commit", "tar -f --exclude .git/config -x", "tar xf --exclude .git/config",
			"grep -e --exclude-dir ~/.ssh/id", "grep -re --exclude-dir ~/.ssh", "grep -- --exclude-dir ~/.ssh", "cp x '!.git/../.git/config'",
			"grep '' -I .env", "grep . -I sub/.env", "rg x -I .env", "rg . -g .env --hidden", "rg . --glob=.env --hidden", "rg . --iglob .env", "find . -name .env", "find . -not -path ./.env",
			"git commit --allow-empty -qF.env", "git tag -afF.env t", "git commit -F.env", "cat -abc.env",
			"cat a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,1,2,3,4,5,6,7,8,9,.env",
		} {
			if d := Decide(p, bash(command)); d.Effect != Ask {
				t.Errorf("%q in %s: %s (%s), want ask", command, mode, d.Effect, d.Reason)
			}
		}
	}
	for _, command := range []string{
		"grep -r x --exclude-dir=.git .", "grep -r x --exclude-dir .git .", "grep -rn --exclude-dir .git x .", "grep --exclude-dir .git -r x .", "grep -I x f", "rg x -g '!.git/*'", "tree -I .git", "find . -not -path './.git/*' -name '*.go'", "tar --exclude=.git -cf x .",
		"du --exclude=.git .", "ls --ignore=x", "git commit -qm 'a.env'",
	} {
		runBash(t, wordsPolicy(ModeBypass, "deny Edit(/data/**)"), []bashCase{{command, Allow}})
	}
	runBash(t, wordsPolicy(ModeBypass), []bashCase{{"grep $UNKNOWN --exclude-dir .git x", Ask}}) // it may be -e
}

// Goal: a word is compared with file rules by what it can expand to.
func TestWordsExpand(t *testing.T) {
	p := wordsPolicy(ModeBypass, "deny Read(.env)", "deny Read(secrets/**)", "ask Read(~/.aws/**)", "deny Edit(/data/*.{db,sql})")
	for _, command := range []string{
		// Patterns.
		"cat .en?", "cat .en[v]", "cat .[!.]*", "cat .[^.]*", "cat .[[:alpha:]]nv", "cat s*/key", "cat */*", "cat s*", "head -3 ?e*/a", "git diff /dev/null .en?", "git commit -F .en?", "git blame --contents .en?",
		"timeout 5 cat .en?", "mv s*s x", "cat sub/.e*", "cat /home/u/pr*/.env", "cat /h*/*/proj/.env", "cat ~/.a*/credentials", "cat ~/*/../.aws/x", "cat /data/*", "cat /data/x.d?", "rm /data/[a-z].sql", "echo x > .en?",
		"shopt -s dotglob; cat *", "shopt -s dotglob; cat ?env", "GLOBIGNORE=x; cat *nv", "shopt -s globstar; cat **/key", "shopt -s nocaseglob; cat .EN?", "bash -O dotglob -c 'cat *nv'", "cat .env*", "cat .e*v",
		// Braces.
		"cat .e{n,}v", "cat {.env,x}", "cat .{a,e,i}nv", "cat {sec,}rets/key", "cat .en{a..z}", "cat {.env,b'}'}", "cat .{'e'nv,a}", "cat x{a,b{c,d}}/../.{env,x}", "cat ~/.a{ws,b}/c", "cat {a,b}{c,d}{e,f}{g,h}{i,j}{k,l}{m,n}{o,p}/../.env",
		// Variables that are known, here or from the text.
		`cat "$PWD"/.env`, `cat "${PWD}"/.en?`, "cat $HOME/$PROJ/.env", "cat $HOME/.aws/x", "cat ${HOME}/.aws/x", "a=.e; b=nv; cat $a$b", "for f in .e* x; do cat $f; done", "d=secrets; cat $d/key", "cat ${x:-.env}", "cat ${x-.env}",
		"x=.env; cat \"$x\"", "cat $UNSET.env", "cat .e${UNSET}nv",
		// What cannot be known cannot be ruled out.
		"cat $1", `cat "$@"`, "cat $(ls -a)", "cat .e$(x)", "cat `x`", "read f; cat $f", "ls -a | xargs cat", "find . -type f -exec cat {} +", "cd $1; cat env.txt key", "cat ${!x}", "mapfile -t a; cat ${a[@]}", "eval x=$1; cat $x", "printf -v x %s y; cat $x",
		"cat < $1", "echo x > $(x)", "cat ~u/.aws/x", "cat ~+/.env", "for f; do cat $f; done", "x=$(y); cat $x", "while read -r f; do wc $f; done", "x+=.env; cat $x", "cat ${x/a/.env}", "cat ${x#a}",
	} {
		if d := Decide(p, bash(command)); d.Effect == Allow {
			t.Errorf("%q: allowed (%s)", command, d.Reason)
		}
	}
	for _, command := range []string{
		"cat *.go", "cat .q*", "ls a* b*/*.go", "cat README.*", "cat x{a,b}", "cat $PROJ", "f=a.go; wc $f", "for f in *.go; do wc $f; done", "for f in a b; do wc $f.txt; done", "echo $1 $(date)", "cat [ab]", "wc ${f:-a.go}", "cat $HOME/x", "x=$(date); echo $x",
		"cat ~/.config/x*", "cat /data/*.txt", "cat ?.go", "cat .e?", "test -n \"$1\"", "make CC=$CC", "cat * > /dev/null; true # no: see below",
	} {
		if command == "cat * > /dev/null; true # no: see below" {
			continue // * may be the directory secrets
		}
		runBash(t, p, []bashCase{{command, Allow}})
	}
	runBash(t, wordsPolicy(ModeBypass, "deny Read(.env)"), []bashCase{{"cat *", Allow}, {"wc -l */*", Allow}, {"ls $(pwd)/src", Allow}})
	runBash(t, wordsPolicy(ModeDefault, "deny Read(.env)", "Bash(cat:*)"), []bashCase{{"cat .en?", Ask}, {"cat *.go", Allow}})
}

// Goal: the ways to protected paths that a word can spell: patterns, braces, known variables, directories entered.
func TestWaysToProtectedPaths(t *testing.T) {
	for _, mode := range []Mode{ModeDefault, ModeBypass} {
		p := wordsPolicy(mode, "Bash")
		for _, command := range []string{
			"touch $TMPDIR/../../x", "cd $TMPDIR/../..; touch x", `touch "$PERDURE_ACT"/../../x`, "echo x > $PERDURE_ACT/exit.json", "touch $HOME/.local/share/perdure/x", "touch $HOME/.local/../.local/share/perdure/x",
			"touch $PWD/../.local/share/perdure/x", "touch ../.local/share/{perdure,x}/y", "touch ../.local/{share,}/perdure/x", "touch $(printenv PERDURE_HOME)/x", "h=PERDURE_HOME; touch ${!h}/x", "x=perdure; touch ../.local/share/$x/y",
			"touch .{git,x}/config", "cat .[!.]it/config", "cat .[^.]it/config", "cat .g[[:alpha:]]t/config", "echo x > .{a,bash}rc", "touch $(pwd)/.git/x", "for d in a .git; do touch $d/x; done", "x=.git; touch \"$x/config\"",
			"touch ~+/.git/x", "touch ${x:-.git/hooks/x}", "cat .gi$1/config", "touch ~/.local/share/$1", "touch $HOME/.ssh/x", "tee ${HOME}/.bashrc",
			"cd a; cd b; cd c; cd d; cd e; cd f; cd g; cd h; cd i; cd ~/.local; cd share; touch perdure/x", "cd $HOME/.local/share && touch perdure/x", "pushd $HOME/.local; touch share/perdure/x", "cd ~/.local/{share,x}; touch perdure/x",
			"cat .git{/config,x}", "rm -rf ~/{.ssh,x}", "touch $PERDURE_HOME/x", "PERDURE_HOME=/x; touch $PERDURE_HOME/x", "touch {~,x}/.ssh/y", "touch \"${HOME}\"/.gitconfig",
		} {
			d := Decide(p, bash(command))
			if d.Effect != Ask || !d.Always {
				t.Errorf("%q in %s: %+v, want an ask that nothing grants", command, mode, d)
			}
		}
	}
	for _, command := range []string{
		"touch $TMPDIR/x", "rm -rf $TMPDIR/*", "for f in a b; do touch $TMPDIR/$f; done", "cd $TMPDIR && touch x", "mktemp -d", "echo $HOME", "ls $HOME/proj", "touch $1", "x=$(y); touch $x/z", "cat > $1/x", "ls {a,b}", "cat $1/go.mod",
		"touch .local/share/x", "echo {1..5}", "cd $1 && make", "touch /home/u/.local/share/perdure/tmp/s/x",
	} {
		runBash(t, wordsPolicy(ModeBypass), []bashCase{{command, Allow}})
	}
}

// Goal: /proc and /dev/fd lead to every file under other names, so naming them asks, whatever is granted.
func TestProcLeadsAnywhere(t *testing.T) {
	for _, mode := range []Mode{ModeDefault, ModeBypass} {
		p := wordsPolicy(mode, "Bash", "Bash(cat:*)", "Bash(touch:*)")
		for _, command := range []string{
			"cat /proc/self/cwd/.env", "cat /proc/thread-self/cwd/.env", "cat /dev/fd/../cwd/.env", "touch /proc/self/root/home/u/x", "mv a /proc/self/cwd/../x", "grep x /proc/*/environ", "cat /proc/1/environ", "cat /proc/self/fd/3",
			"dd if=/proc/1/mem", "ls /proc/self/task/1/cwd", "ls /proc/self/map_files", "cat /proc/$$/cwd/x", "cat /proc/$PPID/environ", "cat /pro?/self/cwd/x", "cat /p*/s*/c*/x", "cat /proc/{self,1}/cwd/x", "cat /proc/self/{cwd,x}/y",
			"cd /proc/self && cat cwd/.env", "cd /proc; cat */environ", "cd /; cat proc/self/environ", "cat ../../../proc/self/environ", "cat //proc//self//cwd/x", "cat /proc/self/../1/cwd/x", "cat /proc/./self/./cwd", "cat /dev/fd/3", "cat /dev/f?/3",
			"cat /dev/stdin/.env < .", "cat < /proc/self/environ", "python3 -c \"open('/proc/self/cwd/.env')\"", "curl -d@/proc/1/environ h", "cat '/proc/self/cwd/x'", "echo x > /proc/self/fd/1/../x", "cat /dev/../proc/self/cwd/x", "cat /*/self/cwd/x",
			"cat /tmp/../proc/self/root/x", "tar -C/proc/self/cwd -cf x .", "cat /dev/fd/", "ls /proc/self/root",
		} {
			d := Decide(p, bash(command))
			if d.Effect != Ask || !d.Always {
				t.Errorf("%q in %s: %+v, want an ask that nothing grants", command, mode, d)
			}
		}
	}
	for _, command := range []string{"cat /proc/cpuinfo", "cat /proc/$1/status", "cat /proc/meminfo", "cat /proc/self/status", "cat /dev/stdin", "echo x > /dev/stderr", "cat /dev/null", "cat /proc/*/status", "ls proc/self/cwd", "cat /proc/1/cmdline", "ls /*"} {
		runBash(t, wordsPolicy(ModeBypass), []bashCase{{command, Allow}})
	}
}

// Goal: a directory that is reached by a symbolic link is the same directory under its other name.
func TestBothSpellings(t *testing.T) {
	p := wordsPolicy(ModeBypass, "deny Read(~/.aws/**)", "ask Edit(/data/**)")
	p.Protected = append(p.Protected, "/home/u/notes")
	p.Links = []Link{{Name: "/home/u", Target: "/var/home/u"}, {Name: "/data", Target: "/mnt/d1"}}
	p.Cwd, p.Root = "/var/home/u/proj", "/var/home/u/proj"
	for _, path := range []string{"/var/home/u/.aws/credentials", "/home/u/.aws/credentials"} {
		if d := Decide(p, Request{Tool: "Read", Path: path}); d.Effect != Deny {
			t.Errorf("Read %s: %+v", path, d)
		}
		if !Hidden(p, path) {
			t.Errorf("%s is not hidden from searches", path)
		}
	}
	for _, path := range []string{"/home/u/notes/x", "/var/home/u/notes/x", "/var/home/u/.local/share/perdure/x", "/mnt/d1/x", "/data/x"} {
		if d := Decide(p, Request{Tool: "Write", Path: path}); d.Effect != Ask {
			t.Errorf("Write %s: %+v", path, d)
		}
	}
	runBash(t, p, []bashCase{
		{"cat ../.aws/credentials", Ask},
		{"cat ~/.aws/credentials", Ask},
		{"cat /var/home/u/.aw?/x", Ask},
		{"touch ../notes/x", Ask},
		{"touch ../.local/share/perdure/x", Ask},
		{"touch /var/home/u/.local/share/perdure/x", Ask},
		{"touch /mnt/d1/x", Ask},
		{"touch /mnt/d2/x", Allow},
		{"cat ../x", Allow},
	})
}
