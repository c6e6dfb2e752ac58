package permission

import (
	"slices"
	"testing"
)

// Goal: in a locale in which half of a character may be a sign of the shell, a text that could mean something else asks.
func TestForeignCharsets(t *testing.T) {
	for locale, want := range map[string]Effect{
		"zh_CN.GBK": Ask, "zh_CN.GB18030": Ask, "ja_JP.SHIFT_JIS": Ask, "zh_TW.BIG5": Ask, "zh_HK.BIG5-HKSCS": Ask, "zh_TW": Ask, "en_US": Ask, "x": Ask,
		"": Allow, "C": Allow, "POSIX": Allow, "C.UTF-8": Allow, "de_DE.utf8": Allow, "ja_JP.UTF-8": Allow, "ca_ES.UTF-8@valencia": Allow,
	} {
		for _, command := range []string{`echo ☃\;touch x`, `git log --grep ☃\;touch x`, `grep ☃\|touch x`, "echo 表\\;x", "echo 日本\\`x"} {
			p := testPolicy(ModeDefault, "Bash(echo:*)", "Bash(git log:*)", "Bash(grep:*)")
			p.Env = map[string]string{"LANG": "C.UTF-8", "LC_ALL": locale}
			if locale == "" {
				p.Env = map[string]string{}
			}
			if d := Decide(p, bash(command)); d.Effect != want {
				t.Errorf("%q in %q: %s (%s), want %s", command, locale, d.Effect, d.Reason, want)
			}
			p.Mode, p.Rules = ModeBypass, testPolicy(ModeBypass, "deny Bash(touch:*)", "deny Bash(x:*)").Rules
			if d := Decide(p, bash(command)); want == Ask && d.Effect == Allow {
				t.Errorf("%q in %q passes the deny rule", command, locale)
			}
		}
	}
	p := testPolicy(ModeDefault, "Bash(echo:*)")
	runBash(t, p, []bashCase{{`echo ☃\;x`, Ask}, {"echo '☃' ☃x ☃", Allow}})
	p = testPolicy(ModeBypass, "deny Bash(touch:*)")
	p.Env = map[string]string{"LANG": "C.UTF-8"}
	runBash(t, p, []bashCase{{"export LC_ALL=zh_CN.GBK\necho ☃\\;touch x", Ask}, {`echo ☃\;x`, Allow}})
}

// Goal: a rule for exactly one command does not cover it as a reader of what another one prints, if that may be a program.
func TestExactRulesBehindAPipe(t *testing.T) {
	p := testPolicy(ModeDefault, "Bash(echo:*)", "Bash(bash -s)", "Bash(python3 -)", "Bash(sh)", "Bash(xargs env)", "Bash(kubectl apply -f -)", "Bash(psql db)", "Bash(./manage.py shell)", "Bash(head -5)", "Bash(tee out)", "Bash(wc)",
		"Bash(echo a | sh -x)", "Bash(sort)", "Bash(timeout 5 sh)")
	runBash(t, p, []bashCase{
		{"echo 'touch x' | bash -s", Ask},
		{"echo x | python3 -", Ask},
		{"echo x | sh", Ask},
		{"echo x | timeout 5 sh", Ask},
		{"echo x | xargs env", Ask},
		{"echo x | kubectl apply -f -", Ask},
		{"echo x | psql db", Ask},
		{"echo x | ./manage.py shell", Ask},
		{"echo x | head -5 | sh", Ask},
		{"echo x |\nsh", Ask},
		{"bash -s", Allow},
		{"sh | echo x", Allow},
		{"echo x; bash -s", Allow},
		{"echo x && sh", Allow},
		{"echo x | head -5", Allow},
		{"echo x | sort | tee out | wc", Allow},
		{"echo a | sh -x", Allow}, // the whole text is the rule
		{"./manage.py shell", Allow},
	})
}

// Goal: a prefix rule for git's traffic allows remotes by name, not paths or addresses, whose configuration git would run.
func TestGitRemotesByNameOnly(t *testing.T) {
	p := testPolicy(ModeDefault, "Bash(git:*)")
	for _, command := range []string{
		"git push ./testdata/x.git HEAD:refs/heads/x", "git push testdata/x.git HEAD", "git push --all e.git", "git push --mirror ./e", "git push .", "git push ..", "git push /x", "git push h:x", "git push https://h/x", "git push ~/x",
		"git push --repo=./x", "git push --repo ./x", "git push --re ./x", "git push -o a ./x", "git push --push-option a ./x", "git push -uo a ./x", "git push -u ./x", "git push -- ./x", "git push -f ./x HEAD", "git push 'ext::sh -c x'", "git push *",
		"git pull ./x", "git pull . main", "git fetch ./x", "git fetch --depth 1 ./x", "git fetch --dep 1 ./x", "git fetch --multiple origin ./x", "git fetch --mult origin x.git", "git fetch -j 4 ./x", "git fetch x.bundle",
		"git ls-remote ./x", "git ls-remote --sort x ./x", "git ls-remote -o x ./y", "git remote show ./x", "git remote show -n x/y", "git remote -v show ./x", "git remote show https://h/x",
		// What git takes for another option, or for no value, leaves the path as the remote.
		"git push --de ./x main", "git push --del x/y main", "git push --delete ./x main", "git ls-remote --ref ./x", "git ls-remote --re ./x", "git fetch --recurse-submodules ./x", "git fetch --rec ./x", "git pull -So ./x", "git pull -ro ./x",
		"git pull -j ./x", "git pull --jobs ./x", "git fetch --new-option a ./x", "git fetch --new-option ./x", "git push -xo a ./x", "git push -o=a ./x", "git push -f=o ./x", "git fetch -=o ./x",
		"git merge -qs x topic", "git merge -vsx topic", "git pull -qsx", "git pull -qX x",
	} {
		runBash(t, p, []bashCase{{command, Ask}})
	}
	for _, command := range []string{
		"git push", "git push origin main", "git push -u origin feature/x", "git push origin HEAD:refs/heads/x", "git push --force-with-lease origin", "git push -o ci.skip origin x/y", "git push --tags my-fork", "git pull", "git pull --rebase origin main",
		"git fetch --all --prune", "git fetch --depth 1 origin x/y", "git fetch --multiple origin upstream", "git ls-remote origin", "git ls-remote --heads origin 'refs/heads/*'", "git remote show origin", "git remote -v", "git remote get-url origin",
		"git fetch origin pull/1/head:pr", "git pull --ff-only", "git push --recurse-submodules check origin", "git push --delete origin x", "git push -fu origin x", "git fetch --recurse-submodules origin", "git fetch -pj4 origin", "git fetch -j 4 origin", "git pull -r origin",
		"git merge -m 'sX x' topic", "git merge -msX topic", "git merge --no-ff topic", "git push --signed=if-asked origin", "git push --force-with-lease=x:y origin", "git push --repo=origin", "git push --repo origin",
	} {
		runBash(t, p, []bashCase{{command, Allow}})
	}
}

// Goal: the name of a remote may be a directory that the project ships, which git takes where it knows no such remote.
func TestGitRemotesThatAreDirectories(t *testing.T) {
	p := testPolicy(ModeDefault, "Bash(git:*)", "Bash(cd:*)")
	there := []string{testCwd, testCwd + "/.git", testCwd + "/evil", testCwd + "/e.git", testCwd + "/sub", testCwd + "/sub/deep.git"}
	p.Look = func(at string, _ bool) ([]Place, bool) {
		return []Place{{Path: at, Missing: !slices.Contains(there, at)}}, true
	}
	for _, command := range []string{
		"git push evil main", "git push e main", "git push --repo=e", "git push --repo evil", "git push -o x e", "git push --delete e main", "git fetch --multiple origin e", "git pull e main", "git ls-remote evil", "git remote show e",
		"git status && git push e main", "timeout 9 git push e main", "cd sub && git push deep main", "git --no-pager push e", "cd $x && git push origin", "git push -- e",
	} {
		runBash(t, p, []bashCase{{command, Ask}})
	}
	p.Cwd = testCwd + "/sub" // git goes to the top of the repository
	runBash(t, p, []bashCase{{"git push e main", Ask}, {"git push deep main", Ask}, {"git push origin main", Allow}})
	p.Cwd = testCwd
	runBash(t, p, []bashCase{{"git push origin e", Allow}, {"git push -u origin evil", Allow}, {"git push", Allow}, {"git fetch --all", Allow}, {"git push origin deep", Allow}, {"git add e && git push origin main", Allow}})
	p.Look = func(string, bool) ([]Place, bool) { return nil, false }
	runBash(t, p, []bashCase{{"git push origin main", Ask}, {"git push", Allow}})
}

// Goal: options of go that write where they say ask, in every spelling.
func TestGoWritesByOption(t *testing.T) {
	p := testPolicy(ModeDefault, "Bash(go:*)")
	for _, command := range []string{
		"go build -debug-trace=F", "go vet -debug-actiongraph=F", "go list -debug-runtime-trace=F", "go test --debug-trace F", "go test -test.cpuprofile=F", "go test -test.trace=F", "go test -test.testlogfile=F", "go test -testlogfile=F",
		"go test --test.memprofile F", "go test -args -test.blockprofile=F", "go test -test.gocoverdir=F", "go test -test.outputdir F", "go test -test.fuzzcachedir=F", "go doc -http", "go test -c", "go test -exec sh", "go test -test.coverprofile=F", "go vet -fix ./...", "go vet --fix",
	} {
		runBash(t, p, []bashCase{{command, Ask}})
	}
	runBash(t, p, []bashCase{{"go test -test.v -run X ./...", Allow}, {"go build ./...", Allow}, {"go test -trimpath -count=1 ./x", Allow}, {"go vet -json ./...", Allow}})
}

// Goal: a pattern that may become an option which evaluates a name asks.
func TestPatternsThatBecomeOptions(t *testing.T) {
	p := testPolicy(ModeAcceptEdits, "Bash(test:*)", "Bash([:*)", "Bash(printf:*)", "Bash(jobs:*)")
	runBash(t, p, []bashCase{
		{"test -? 'a[$(x)]'", Ask},
		{"[ -? 'a[$(x)]' ]", Ask},
		{"test * ", Ask},
		{"test ?v x", Ask},
		{"printf -? 'a[$(x)]' x", Ask},
		{"printf * x", Ask},
		{"printf -[v] 'a[$(x)]' x", Ask},
		{"jobs -x touch x", Ask},
		{"test -f *.go", Allow},
		{"[ -f a?c ]", Allow},
		{"printf %s *.go", Allow},
		{"printf %s *", Allow},
	})
}

// Goal: what bash passes on as a further argument is no part of a redirect.
func TestRedirectsOfQuotedEnds(t *testing.T) {
	p := testPolicy(ModeDefault, "Bash(make test)", "Bash(git log:*)")
	runBash(t, p, []bashCase{
		{"make test <&-''", Ask},
		{`make test >&-""`, Ask},
		{"make test 2>&''1", Ask},
		{"git log >&'-'", Ask},
		{"git log <&-", Allow},
		{"git log 2>&1", Allow},
		{"git log 2>&- >/dev/null", Allow},
	})
}

// Goal: once variables are changed that choose programs, prefix rules ask; what is allowed by its exact text stays so.
func TestChangedEnvironment(t *testing.T) {
	for _, name := range []string{"PATH", "HOME", "LD_PRELOAD", "GIT_EXTERNAL_DIFF", "LC_ALL", "PAGER", "GIT_PAGER", "EDITOR", "GOFLAGS", "MANPAGER", "RIPGREP_CONFIG_PATH", "PYTHONPATH"} {
		p := testPolicy(ModeDefault, "Bash(git status:*)", "Bash(git diff)", "deny Bash(rm:*)")
		p.Changed = []string{"FOO", name}
		runBash(t, p, []bashCase{{"git status", Ask}, {"timeout 5 git status", Ask}, {"git diff", Allow}})
		p.Changed = []string{"FOO", "DEBUG"}
		runBash(t, p, []bashCase{{"git status", Allow}})
	}
}
