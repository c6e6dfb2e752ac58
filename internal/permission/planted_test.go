package permission

import (
	"path"
	"strings"
	"testing"
)

// planted is a world with a system's programs in /usr/bin and the given files besides; a value of a file is where it
// leads, "" for itself.
func plantedPolicy(search string, files map[string]string, rules ...string) Policy {
	p := lookingPolicy(ModeDefault, rules...)
	plain := p.Look
	p.Env = map[string]string{"PATH": search, "HOME": "/home/u"}
	p.Look = func(at string, glob bool) ([]Place, bool) {
		for file, target := range files {
			if at == file {
				if target == "" {
					target = file
				}
				return []Place{{Path: target}}, true
			}
		}
		dir, name := path.Split(at)
		switch {
		case dir == "/usr/bin/" || dir == "/bin/" && name == "bash":
			return []Place{{Path: at, Missing: strings.Contains(name, "missing")}}, true
		case strings.Contains(" "+search+":", strings.TrimSuffix(dir, "/")+":"):
			return []Place{{Path: at, Missing: true}}, true
		}
		return plain(at, glob)
	}
	return p
}

// Goal: a program that the project could have put there is not taken for the system's of that name.
func TestProgramsOfTheProject(t *testing.T) {
	const own = testCwd + "/node_modules/.bin"
	everyday := []string{"ls", "cat README", "git status", "git log -3", "grep -rn x .", "find . -name x", "head -5 README", "which go", "ls | sort", "timeout 5 ls"}
	for _, c := range []struct {
		name, search string
		files        map[string]string
		asks, runs   []string
	}{
		{"the system's first", "/usr/bin:" + own, map[string]string{own + "/ls": ""}, nil, everyday},
		{"the project's holds others", own + ":/usr/bin", map[string]string{own + "/eslint": ""}, nil, everyday},
		{
			"the project's first", own + ":/usr/bin",
			map[string]string{own + "/ls": "", own + "/git": "", own + "/grep": "", own + "/timeout": "", own + "/sort": ""},
			[]string{"ls", "ls -la", "git status", "git log", "grep x README", "egrep x README", "fgrep x README", "timeout 5 cat README", "cat README | sort", "cat README; ls"},
			[]string{"cat README", "find . -name x", "pwd", "echo x"},
		},
		{"an added directory", "/data/bin:/usr/bin", map[string]string{"/data/bin/ls": ""}, []string{"ls"}, []string{"cat README"}},
		{"a link to the project", "/opt/bin:/usr/bin", map[string]string{"/opt/bin/rg": testCwd + "/target/rg", "/opt/bin": ""}, []string{"rg x"}, []string{"grep x README"}},
		{"a link of the project to another program", own + ":/usr/bin", map[string]string{own + "/cat": "/bin/sh"}, []string{"cat README", "timeout 5 cat README"}, []string{"ls"}},
		{
			"a builtin is no program", own + ":/usr/bin",
			map[string]string{own + "/echo": "", own + "/test": "", own + "/[": "", own + "/printf": "", own + "/pwd": "", own + "/true": "", own + "/cd": ""},
			[]string{"timeout 5 echo x", "nice pwd", "nice test -f README"},
			[]string{"echo x", "test -f README", "[ -f README ]", "printf x", "pwd", "true", "cd /home/u/proj && ls"},
		},
		{"no search path", "", nil, everyday, nil},
		{"the directory itself", ".:/usr/bin", nil, everyday, nil},
		{"an empty entry", "/usr/bin:", nil, everyday, nil},
	} {
		p := plantedPolicy(c.search, c.files)
		for _, command := range c.asks {
			if d := Decide(p, bash(command)); d.Effect != Ask {
				t.Errorf("%s: %q: %s (%s)", c.name, command, d.Effect, d.Reason)
			}
		}
		for _, command := range c.runs {
			if d := Decide(p, bash(command)); d.Effect != Allow {
				t.Errorf("%s: %q: %s (%s)", c.name, command, d.Effect, d.Reason)
			}
		}
	}
	p := plantedPolicy("/usr/bin", nil)
	p.Env = nil
	runBash(t, p, []bashCase{{"ls", Ask}})
	p.Env = map[string]string{"HOME": "/home/u"}
	runBash(t, p, []bashCase{{"ls", Ask}})
	p = plantedPolicy("/home/u/tools:/usr/bin", map[string]string{"/home/u/tools/ls": ""}, "Edit(~/tools/**)")
	runBash(t, p, []bashCase{{"ls", Ask}, {"cat README", Allow}})
	p = plantedPolicy("/tmp/s1/bin:/usr/bin", map[string]string{"/tmp/s1/bin/ls": ""})
	p.TempDir = "/tmp/s1"
	runBash(t, p, []bashCase{{"ls", Ask}, {"cat README", Allow}})
	// What runs before may put it there.
	p = plantedPolicy(own+":/usr/bin", nil, "Bash(make:*)", "Bash(make)")
	runBash(t, p, []bashCase{{"make && ls", Ask}, {"ls && make", Allow}, {"make | head -5", Ask}})
	p = plantedPolicy("/usr/bin:"+own, nil, "Bash(make:*)", "Bash(make)")
	runBash(t, p, []bashCase{{"make && ls", Allow}, {"make | head -5", Allow}})
	// The shell too.
	p = plantedPolicy(own+":/usr/bin", map[string]string{own + "/bash": "", "/bin/bash": "/no/missing"})
	plain := p.Look
	p.Look = func(at string, glob bool) ([]Place, bool) {
		if !strings.HasPrefix(at, own) && path.Base(at) == "bash" {
			return []Place{{Path: at, Missing: true}}, true
		}
		return plain(at, glob)
	}
	runBash(t, p, []bashCase{{"ls", Ask}, {"echo x", Ask}})
}

// Goal: variables of the process that make the linker, the C library or a program take code or settings from where the
// agent may write are seen, whoever set them.
func TestVariablesThatLeadIntoTheProject(t *testing.T) {
	for _, c := range []struct {
		name, value string
		asks        []string
		runs        []string
	}{
		{"LD_PRELOAD", testCwd + "/evil.so", []string{"ls", "cat README", "echo x", "git log"}, nil},
		{"LD_PRELOAD", "/usr/lib/x.so " + testCwd + "/evil.so", []string{"ls"}, nil},
		{"LD_PRELOAD", "./evil.so", []string{"ls"}, nil},
		{"LD_PRELOAD", "libjemalloc.so.2", nil, []string{"ls", "git log"}},
		{"LD_PRELOAD", "/usr/lib/x.so", nil, []string{"ls", "git log"}},
		{"LD_LIBRARY_PATH", "/usr/lib:" + testCwd + "/lib", []string{"ls", "echo x"}, nil},
		{"LD_LIBRARY_PATH", "/usr/lib:", []string{"ls"}, nil},
		{"LD_LIBRARY_PATH", "lib", []string{"ls"}, nil},
		{"LD_LIBRARY_PATH", "$ORIGIN/x", []string{"ls"}, nil},
		{"LD_LIBRARY_PATH", "", nil, []string{"ls"}},
		{"LD_LIBRARY_PATH", "/usr/lib/x", nil, []string{"ls"}},
		{"LD_AUDIT", testCwd + "/a.so", []string{"ls"}, nil},
		{"DYLD_INSERT_LIBRARIES", testCwd + "/a.dylib", []string{"ls"}, nil},
		{"GCONV_PATH", testCwd, []string{"ls"}, nil},
		{"LOCPATH", testCwd + "/l", []string{"ls"}, nil},
		{"NLSPATH", "%N", []string{"ls"}, nil},
		{"LC_ALL", testCwd + "/l", []string{"ls"}, nil},
		{"LC_ALL", "C.UTF-8", nil, []string{"ls"}},
		{"TERMINFO", "/data/t", []string{"ls"}, nil},
		{"TZ", ":" + testCwd + "/zone", []string{"ls", "date"}, nil},
		{"TZ", "../x", []string{"date"}, nil},
		{"TZ", "Europe/Berlin", nil, []string{"date", "ls"}},
		{"RIPGREP_CONFIG_PATH", testCwd + "/.rgrc", []string{"rg x"}, []string{"ls", "grep x README"}},
		{"RIPGREP_CONFIG_PATH", "/home/u/.ripgreprc", nil, []string{"rg x"}},
		{"MAGIC", "magic", []string{"file README"}, []string{"ls"}},
		{"GIT_CONFIG_GLOBAL", testCwd + "/gitconfig", []string{"git status", "git log"}, []string{"ls"}},
		{"GIT_CONFIG_GLOBAL", "/home/u/.gitconfig", nil, []string{"git status"}},
		{"GIT_EXTERNAL_DIFF", "./difft --color", []string{"git diff", "git log"}, []string{"ls"}},
		{"GIT_EXTERNAL_DIFF", "difft --color", nil, []string{"git diff"}},
		{"GIT_EXTERNAL_DIFF", "own-diff x", []string{"git diff"}, []string{"ls"}},
		{"GIT_EXEC_PATH", "/data/git", []string{"git status"}, nil},
		{"GIT_SSH_COMMAND", "ssh -i ~/.ssh/k", nil, []string{"git log"}},
		{"GIT_DIR", testCwd + "/other", []string{"git status"}, nil},
		{"GIT_DIR", testCwd + "/.git", nil, []string{"git status"}},
		{"GIT_WORK_TREE", testCwd, nil, []string{"git status"}},
		{"GIT_AUTHOR_NAME", "a/b", nil, []string{"git log"}},
		{"GIT_CONFIG_VALUE_0", "./hook", []string{"git status"}, nil},
		{"GIT_CONFIG_VALUE_0", "explicit", nil, []string{"git status"}},
		{"PYTHONPATH", testCwd + "/src", nil, []string{"ls", "git log"}},
	} {
		const own = testCwd + "/node_modules/.bin"
		p := plantedPolicy(own+":/usr/bin", map[string]string{own + "/own-diff": ""})
		p.Env[c.name] = c.value
		for _, command := range c.asks {
			if d := Decide(p, bash(command)); d.Effect != Ask {
				t.Errorf("%s=%s: %q: %s (%s)", c.name, c.value, command, d.Effect, d.Reason)
			}
		}
		for _, command := range c.runs {
			if d := Decide(p, bash(command)); d.Effect != Allow {
				t.Errorf("%s=%s: %q: %s (%s)", c.name, c.value, command, d.Effect, d.Reason)
			}
		}
	}
}

// Goal: a variable in front of a command, or a new meaning of its name, is no command that only reads, and no rule for
// the program covers it where it changes what runs.
func TestAssignmentsInFront(t *testing.T) {
	for _, name := range []string{"LD_PRELOAD", "LD_LIBRARY_PATH", "GIT_EXTERNAL_DIFF", "GIT_DIR", "GIT_PAGER", "PAGER", "LESSOPEN", "RIPGREP_CONFIG_PATH", "BASH_ENV", "ENV", "PATH", "TERMINFO", "LOCPATH", "GCONV_PATH", "MAGIC", "TZ", "NLSPATH", "LC_ALL", "IFS", "HOME", "POSIXLY_CORRECT"} {
		for _, command := range []string{name + "=./x ls", name + "=./x git log", "export " + name + "=./x; ls", name + "=./x; ls", "env " + name + "=./x ls"} {
			runBash(t, lookingPolicy(ModeDefault), []bashCase{{command, Ask}})
			if !strings.HasPrefix(command, "export") {
				runBash(t, lookingPolicy(ModeDefault, "Bash(ls:*)", "Bash(git log:*)"), []bashCase{{command, Ask}})
			}
		}
		p := lookingPolicy(ModeDefault)
		p.Changed = []string{name}
		runBash(t, p, []bashCase{{"ls", Ask}, {"git log", Ask}})
	}
	runBash(t, lookingPolicy(ModeDefault, "Bash(hash -p ./x ls)", "Bash(alias ls=./x)", "Bash(shopt -s expand_aliases)", "Bash(enable -f ./x ls)", "Bash(source env.sh)"), []bashCase{
		{"hash -p ./x ls; ls", Ask},
		{"shopt -s expand_aliases\nalias ls=./x\nls", Ask},
		{"enable -f ./x ls; ls", Ask},
		{"ls() { ./x; }; ls", Ask},
		{"function ls { ./x; }\nls", Ask},
		{"source env.sh && ls", Ask},
	})
}
