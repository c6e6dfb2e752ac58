package permission

import (
	"path"
	"strings"
	"testing"
)

// linkedPolicy is a world with the given symbolic links, absolute names to absolute targets, and nothing else.
func linkedPolicy(mode Mode, links map[string]string, rules ...string) Policy {
	p := testPolicy(mode, rules...)
	p.Env, p.TempDir = map[string]string{"PATH": "/usr/bin"}, "/home/u/.local/share/perdure/tmp/s"
	p.Look = func(at string, glob bool) ([]Place, bool) {
		if strings.Contains(at, "many*") {
			return nil, false
		}
		found := []string{at}
		for name := range links {
			segs, depth := strings.Split(at, "/"), strings.Count(name, "/")+1
			if !glob || len(segs) < depth {
				continue
			}
			if ok, _ := path.Match(strings.Join(segs[:depth], "/"), name); ok {
				found = append(found, path.Join(append([]string{name}, segs[depth:]...)...))
			}
		}
		var out []Place
		for _, at := range found {
			for range 8 { // links in links
				for name, target := range links {
					if at == name || strings.HasPrefix(at, name+"/") {
						at = target + at[len(name):]
					}
				}
			}
			out = append(out, Place{Path: at})
		}
		return out, true
	}
	return p
}

// Goal: a symbolic link, which a clone may bring along, is no way to a protected or denied path under another name,
// whatever rule or mode allows the command.
func TestLinksInCommands(t *testing.T) {
	links := map[string]string{
		testCwd + "/d": testCwd + "/.git/hooks", testCwd + "/e": testCwd + "/.env", testCwd + "/up": testHome, testCwd + "/sub/far": testCwd + "/d",
		testCwd + "/notes": testCwd + "/AGENTS.md", testCwd + "/s": testCwd + "/deep", testCwd + "/plain": testCwd + "/other", testCwd + "/data": "/data",
		"/home/u/.local/share/perdure/tmp/s/l": testHome, testCwd + "/env": "/proc/77/environ",
	}
	for _, p := range []Policy{
		linkedPolicy(ModeDefault, links, "Bash(cp:*)", "Bash(cat:*)", "Bash(touch:*)", "Bash(mv:*)"),
		linkedPolicy(ModeDefault, links, "Bash"),
		linkedPolicy(ModeBypass, links),
	} {
		runBash(t, p, []bashCase{
			{"cp evil d/post-commit", Ask},
			{"cp evil ./d/post-commit", Ask},
			{"cp evil sub/far/post-commit", Ask},
			{"cp evil sub/fa?/post-commit", Ask},
			{"cp evil ?/post-commit", Ask},
			{"cp evil d/../config", Ask}, // of .git
			{"cp -t d evil", Ask},
			{"cp --target-directory=d evil", Ask},
			{"cp evil up/.bashrc", Ask},
			{"cp evil up/.local/share/perdure/x", Ask},
			{"touch notes", Ask},
			{"cat env", Ask},
			{"cp evil /home/u/.local/share/perdure/tmp/s/l/.bashrc", Ask},
			{"cp evil /home/u/.local/share/perdure/tmp/s/x", Allow},
			{"cp evil plain/post-commit", Allow},
			{"cp evil plain/*", Allow},
			{"cp evil data/x", Allow},
			{"cat notes", Allow},
			{"mv a b", Allow},
		})
	}
	for _, mode := range []Mode{ModeDefault, ModeBypass} {
		p := linkedPolicy(mode, links, "Bash(cat:*)", "Bash(cp:*)", "deny Read(.env)", "deny Read(deep/er/key)", "ask Edit(other/**)")
		runBash(t, p, []bashCase{
			{"cat e", Ask}, {"cat ?", Ask}, {"cat sub/../e", Ask}, {"cat s/er/key", Ask}, {"cp -r s x", Ask}, {"cp x plain/y", Ask}, {"cat README", Allow}, {"cat many*", Ask},
		})
	}
	// A pattern that leads to more than is looked at is covered by no prefix rule, for a program that may write.
	p := linkedPolicy(ModeDefault, links, "Bash(cat:*)", "Bash(cp:*)", "Bash(cp a many*)")
	runBash(t, p, []bashCase{{"cp a many*/x", Ask}, {"cat many*/x", Allow}})
	runBash(t, linkedPolicy(ModeBypass, links), []bashCase{{"cp a many*/x", Allow}})
}

// Goal: the session's own temporary directory keeps its exemption where links lead to it, and loses it where a link was
// put in its place.
func TestTemporaryDirectoryBehindLinks(t *testing.T) {
	const own = "/home/u/.local/share/perdure/tmp/s"
	p := linkedPolicy(ModeBypass, map[string]string{"/home/u/.local/share/perdure": "/var/perdure"})
	p.Protected = append(p.Protected, "/var/perdure")
	runBash(t, p, []bashCase{{"touch " + own + "/x", Allow}, {"touch " + own + "/../x", Ask}, {"touch /var/perdure/x", Ask}})
	runBash(t, linkedPolicy(ModeBypass, map[string]string{own: testHome}), []bashCase{{"touch " + own + "/.bashrc", Ask}, {"touch " + own + "/x", Allow}})
}

// A cd with no word leads home: what follows it names files there.
func TestWordsBehindACdHome(t *testing.T) {
	runBash(t, testPolicy(ModeBypass, "deny Read(~/notes/key)"), []bashCase{{"cd && cat notes/key", Ask}, {"cd; cat notes/other", Allow}, {"cat notes/key", Allow}})
}

// Goal: the magic that git has in paths is no way to write a name otherwise.
func TestPathspecMagic(t *testing.T) {
	p := testPolicy(ModeDefault, "Bash(git:*)", "deny Read(.env)", "deny Read(secrets/**)", "deny Read(conf/prod/key)")
	p.Cwd = testCwd + "/sub"
	for _, command := range []string{
		"git log -p -- ':(top).env'", "git log -p -- :/.env", "git diff ':(icase).ENV'", "git log -p ':(top,literal)secrets/key'", "git log -p :/secrets/key", "git show ':/secrets'", "git diff ':!:/secrets'",
		"git log -p ':(top)secrets'", "git log -p ':(top'", "git log -p :/conf/prod/key", "git log -p ':(top)conf/prod/key'", "git log -p ':!:/conf/prod/key'", "git log -p ':^/conf/prod/key'",
	} {
		runBash(t, p, []bashCase{{command, Ask}})
	}
	runBash(t, p, []bashCase{{"git log -- ':(top)src'", Allow}, {"git diff --stat ':!vendor'", Allow}, {"git log :/src/a.go", Allow}, {"git push origin main:topic", Allow}, {"git show HEAD:src", Allow}})
	runBash(t, testPolicy(ModeBypass), []bashCase{{"git rm ':(top).husky/pre-commit'", Ask}, {"git checkout x -- :/.envrc", Ask}})
}
