package permission

import (
	"strings"
	"testing"
)

// The corpus of attacks on command matching, as a table. Each command is judged
// in mode default with the rules given; want is the effect. A case that is
// allowed here and should not be is a hole; the benign cases keep the matcher
// from being right by refusing everything.

const testHome, testCwd = "/home/u", "/home/u/proj"

func testPolicy(mode Mode, rules ...string) Policy {
	p := Policy{Mode: mode, Root: testCwd, Cwd: testCwd, HomeDir: testHome, Protected: []string{"/home/u/.local/share/perdure"}}
	for _, text := range rules {
		effect := Allow
		if rest, ok := strings.CutPrefix(text, "deny "); ok {
			effect, text = Deny, rest
		} else if rest, ok := strings.CutPrefix(text, "ask "); ok {
			effect, text = Ask, rest
		}
		r, err := ParseRule(effect, text, SourceFlag)
		if err != nil {
			panic(err)
		}
		p.Rules = append(p.Rules, r)
	}
	return p
}

func bash(command string) Request { return Request{Tool: "Bash", Command: command} }

type bashCase struct {
	command string
	want    Effect
}

func runBash(t *testing.T, p Policy, cases []bashCase) {
	t.Helper()
	for _, c := range cases {
		if d := Decide(p, bash(c.command)); d.Effect != c.want {
			t.Errorf("%q: %s (%s), want %s", c.command, d.Effect, d.Reason, c.want)
		}
	}
}

func TestBenignGit(t *testing.T) {
	p := testPolicy(ModeDefault, "Bash(git:*)", "Bash(npm test)", "Bash(go test:*)", "Bash(ls:*)", "Bash(head:*)", "Bash(echo:*)")
	for _, command := range []string{
		"git status", "git  status\t-s", "git diff HEAD~3 -- a.go b.go", "git log --oneline -n 5", `git log --grep="fix: a, b"`,
		"git 'status'", `git "status"`, `g\it status`, "git add .", `git commit -m 'one; two && $(three) > four'`,
		`git commit -m "it's done"`, "git push origin main", "git status && git diff | head -5", "git status; git log\ngit show",
		"git status 2>&1 | head -n 1", "git status >/dev/null 2>&1", "git status &>/dev/null", "git fetch origin 2>/dev/null </dev/null",
		"git diff -- *.go", "git diff src/*.go", "git log # a comment; rm -rf /", "git sta\\\ntus", "git stash list", "git show HEAD@{1}", "git diff @{u}",
		"git --no-pager log -3", "git remote -v", "git remote get-url origin", "git --version", "git checkout -b feature/x",
		"npm test", "npm 'test'", "npm test && git status", "cd /home/u/proj && git status", "timeout 60 git status", "timeout -k 5 -s KILL 60 git log",
		"nice -n 10 git status", "nohup git gc --help=no || git status", "go test ./...", "go test -run TestX -count=1 ./permission/",
		"echo hello 'wörld' ☃ ✅", "echo 日本語　テスト", "ls -la *.go [ab]?.txt", "echo $'plain'",
	} {
		want := Allow
		// Two of the list are there to show where the line is.
		if strings.Contains(command, "gc --help") || strings.Contains(command, "$'") {
			want = Ask
		}
		runBash(t, p, []bashCase{{command, want}})
	}
}

func TestAttacksOnGitPrefix(t *testing.T) {
	ask := []string{
		// Separators: each part must be covered.
		"git status; rm -rf x", "git status && rm x", "git status || rm x", "git status | sh", "git status |& git log", "git status & rm x",
		"git status &", "git status\nrm x", "git status;rm x", "rm x; git status", "git status && git log && rm x", "git status # c\nrm x",
		// Substitution, in and out of quotes.
		"git log $(rm x)", "git log `rm x`", "git log ${x:-$(rm x)}", `git log "$(rm x)"`, "git log \"`rm x`\"", `git log "${x:-$(rm x)}"`,
		"git log <(rm x)", "git log >(rm x)", "git log $((a[$(rm x)]))", "git log $[a[$(rm x)]]", "git log ${x@P}", "git log ${!x}", "git log ${a[$(rm x)]}",
		"git log $x", `git log "$x"`, "git log $1", "git log $@",
		// Redirects.
		"git log > f", "git log >> f", "git log >| f", "git log &> f", "git log &>> f", "git log <> f", "git log 2> f", "> f git log", "2>&1 > f git log",
		"git log < secret", "git log >& f", "git log {fd}> f", "git log 3> f", "git log > /dev/tcp/h/1", "git log > /dev/null/../x", "git log <<< $(rm x)",
		"git log << E\n$(rm x)\nE", "git log << 'E'\nx\nE", "git log <<< x", "> f", "git log >&$x",
		// Assignments.
		"PAGER='rm x' git log", "GIT_SSH_COMMAND=x git fetch", "PATH=. git log", "LD_PRELOAD=./x.so git log", "git=rm; $git x", "a[$(rm x)]=1 git log", "X=1",
		// Functions, blocks and control flow.
		"git() { rm x; }; git status", "function git { rm x; }; git log", "alias git=rm\ngit x", "(git log)", "{ git log; }", "{ rm x; }",
		"if git log; then rm x; fi", "for i in 1; do rm x; done", "for i in $(rm x); do git log; done", "while rm x; do git log; done", "until git log; do rm x; done",
		"case x in x) rm x;; esac", "select x in a; do rm x; done", "[[ -n $(rm x) ]] && git log", "(( a[$(rm x)] )) || git log", "[[ -v a[$(rm x)] ]]",
		"! git log", "time git log", "coproc git log", "coproc rm x",
		// The command's name.
		"$X status", "${X}git status", `"$(echo git)" status`, `$'\x67it' status`, "gi? status", "g[i]t status", "{git,status}", "git{,} status", "./git status",
		"/usr/bin/git status", "/tmp/git status", "../git status", "~/git status", "gitx status", "git-status", "git.sh", "GIT status", "''git.x",
		// Wrappers.
		"eval git status", "exec git status", "command git status", "builtin echo x", "env git status", "xargs git status", "trap 'rm x' EXIT", "source x", ". x",
		"sudo git status", "sh -c 'git status'", "bash -c 'git status; rm x'", "timeout 5 rm x", "timeout --weird git status", "timeout $(rm x) git status",
		"nice rm x", "nohup sh -c 'rm x'", "parallel git", "ssh h git status", "watch git status", "find . -exec git status {} +", "python -c 'x'", "node -e x",
		// cd, then something relative.
		"cd sub && git status", "cd .. && git status", "cd && git status", "cd - && git status", "pushd x; git status", "cd /home/u/proj/sub && git status",
		// What the shell expands.
		"git log ~/x", "git log ~root/x", "git log a=~/x", "git log {a,b}", "git log {1..9}", "git log @(a|b)", "git log +(x)", "git *", "git -* x", "git log ?-output=x", "git log --grep -- --output=x", "git diff *.go",
		// A comment ends at its newline, continued or not.
		"git log # \\\nrm x", "git log #\\\nrm x", "git log \\\n#'\nrm x\n'", "#\\\nrm x", "git log;#\\\nrm x", "# a\ngit log # b \\\n rm x",
		// Things that do not parse, or parse to nothing.
		"git log '", `git log "`, "git log $(", "git log `", "git log )", "git log ;;", "git log && ", "# only a comment", "git log \\",
	}
	p := testPolicy(ModeDefault, "Bash(git:*)", "Bash(echo:*)")
	for _, command := range ask {
		runBash(t, p, []bashCase{{command, Ask}})
	}
	// The same hold when only git log is granted; and an exact grant of another
	// text changes nothing.
	p = testPolicy(ModeDefault, "Bash(git log:*)", "Bash(git log)", "Bash(git status; rm)")
	for _, command := range append(ask, "git status", "git", "git logx", "git 'log '", "git --no-pager log", "git log; git status") {
		runBash(t, p, []bashCase{{command, Ask}})
	}
}

// Git's own ways to run programs, abbreviations of options included.
func TestAttacksOnGitSemantics(t *testing.T) {
	p := testPolicy(ModeDefault, "Bash(git:*)")
	for _, command := range []string{
		"git -c core.pager=x log", "git -ccore.pager=x log", "git -C /x status", "git --exec-path=/x status", "git --git-dir=/x log", "git --git-dir /x log",
		"git --work-tree=/ status", "git --config-env=a=b log", "git -p log", "git --paginate log", "git --namespace=x log", "git --bare log",
		"git fetch --upload-pack=x", "git fetch --upl x", "git ls-remote --upload-pack x h", "git ls-remote --exec=x h", "git push --receive-pack=x", "git push --rec x", "git push --exec=x",
		"git diff --output=f", "git diff --outp f", "git diff --o=f", "git log --output f", "git diff --ext-diff", "git diff --ext", "git log --textconv", "git grep -O x", "git grep -lOvi x",
		"git grep --open-files-in-pager=vi x", "git grep --open x", "git fetch ext::sh", "git push 'ext::sh -c x'", "git pull ext::x", "git fetch -- ext::x", "git ls-remote fd::3",
		"git config core.pager x", "git config --list", "git submodule foreach x", "git submodule update", "git bisect run sh x", "git rebase -x 'rm x' main", "git rebase --exec 'x' main",
		"git rebase --ex x main", "git rebase -i main", "git rebase --interactive", "git filter-branch --tree-filter x", "git difftool", "git mergetool", "git worktree add x",
		"git bundle create f main", "git archive -o f HEAD", "git archive --output=f HEAD", "git clone h", "git hook run x", "git init --template=x", "git help -w log", "git log --help",
		"git web--browse x", "git instaweb", "git daemon", "git credential fill", "git send-email", "git foo", "git st", "git maintenance run", "git remote add x ext::sh", "git remote set-url x y",
		"git merge -s x main", "git merge --strategy=x y", "git pull -s x", "git rebase -s x main", "git am x", "git apply --unsafe-paths x", "git update-ref x", "git read-tree x",
		"git checkout-index --prefix=/x/", "git hash-object -w x", "git symbolic-ref x y", "git svn clone", "git diff --no-index a /etc/passwd", "git fast-import", "git replace a b",
		"git cat-file --textconv x", "git cat-file --filters x", "git branch --edit-description", "git diff -Ofile", "git notes edit", "git -h", "git mv x .git/hooks/post-commit",
		"git log --output=../../.bashrc", "git config alias.x '!rm x'", "git shell -c x", "git upload-pack .", "git var GIT_EDITOR", "git gc",
	} {
		runBash(t, p, []bashCase{{command, Ask}})
	}
	// An exact rule is a human's word for that text, and covers it.
	p = testPolicy(ModeDefault, "Bash(git config --list)", "Bash(git:*)")
	runBash(t, p, []bashCase{{"git config --list", Allow}, {"git config  --list && git status", Allow}, {"git config --list x", Ask}})
}

// Programs that run or write by an option ask under a prefix rule.
func TestAttacksOnOtherPrograms(t *testing.T) {
	for _, command := range []string{
		"sed -n e", "sed w/x f", "awk 'BEGIN{system(1)}'", "find . -exec rm {} +", "find . -delete", "find . -fprintf f x", "find . -name x", "rg --pre=sh x",
		"sort --compress-program=sh f", "sort -o f f", "man --html=sh x", "tar --checkpoint-action=exec=sh x", "tar xf f", "base64 -o f x", "tee f", "xargs rm", "env rm x",
		"make", "make test", "npm run x", "npm test", "npx x", "python x.py", "python3.13 -c x", "perl -e x", "node x.js", "ruby x", "ssh h x", "rsync -e sh a b", "vim -c x",
		"less f", "dd if=a of=b", "curl -o f h", "wget h", "docker run x", "sqlite3 f", "eval x", "exec x", "command x", "builtin x", "source f", "trap x EXIT", "alias a=b",
		"enable -f x y", "read 'a[$(x)]'", "unset 'a[$(x)]'", "printf -v 'a[$(x)]' x", "test -v 'a[$(x)]'", "[ -v 'a[$(x)]' ]", "mapfile -C x -c 1 a", "wait -p 'a[$(x)]'",
		"go run x.go", "go generate", "go tool x", "go test -exec sh ./...", "go build -toolexec=sh", "go vet --vettool=x", "go env -w A=b", "go install x", "go build -o /x", "go -C x build",
		"go test *.go", "strace ls", "time ls", "sudo ls", "busybox sh", "gdb x", "flock f ls", "setsid ls", "stdbuf -o0 ls", "git-shell x", "sh x", "bash", "/bin/bash x",
		"export A=b", "declare x", "let x=1", "ln -s a b", "patch -o f",
	} {
		name, _, _ := strings.Cut(command, " ")
		p := testPolicy(ModeDefault, "Bash("+name+":*)")
		runBash(t, p, []bashCase{{command, Ask}})
		// Bare Bash and the exact text both cover it.
		runBash(t, testPolicy(ModeDefault, "Bash"), []bashCase{{command, Allow}})
		if !strings.Contains(command, "*") {
			runBash(t, testPolicy(ModeDefault, "Bash("+command+")"), []bashCase{{command, Allow}})
		}
	}
}

// Bytes that read otherwise than they run are refused, in every mode.
func TestRefusedBytes(t *testing.T) {
	for name, command := range map[string]string{
		"nul": "git status\x00rm", "cr": "git status\rrm x", "crlf": "git status\r\nrm x", "esc": "git \x1b[2K status", "bell": "git \a", "del": "git \x7f",
		"c1": "git \u0085 x", "bidi": "git \u202e x", "isolate": "git \u2066 x", "lrm": "git \u200e", "zwsp": "git\u200b status", "zwj": "git \u200d", "bom": "\ufeffgit status",
		"nbsp": "git\u00a0status", "narrow nbsp": "git\u202fx", "en space": "git\u2002x", "line sep": "git\u2028rm", "para": "git\u2029rm", "soft hyphen": "gi\u00adt", "tag": "git \U000e0041",
		"selector": "git \U000e0100", "hangul filler": "git \u3164", "invalid utf8": "git \xff", "long": "git " + strings.Repeat("a", maxCommand), "empty": " \n\t", "form feed": "git\fstatus",
		"vertical tab": "git\vstatus", "word joiner": "git\u2060x", "invisible times": "git\u2062x", "khmer vowel": "git \u17b4", "mongolian selector": "git\u180b status", "other ignorable": "git \u2065",
	} {
		for _, mode := range []Mode{ModeDefault, ModePlan, ModeAcceptEdits, ModeBypass} {
			d := Decide(testPolicy(mode, "Bash", "Bash(git:*)"), bash(command))
			if !d.Refused || d.Effect != Deny || d.Reason == "" {
				t.Errorf("%s in %s: %+v, want refused", name, mode, d)
			}
		}
		if got := Suggest(bash(command)); got != "" {
			t.Errorf("%s: suggested %q", name, got)
		}
	}
}
