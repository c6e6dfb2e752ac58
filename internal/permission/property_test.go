package permission

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func rank(e Effect) int { return map[Effect]int{Deny: 0, Ask: 1, Allow: 2}[e] }

func genCommand() *rapid.Generator[string] {
	pieces := append(shellPieces(), "git status", "git push", "rm -rf x", "sudo ", "sh -c '", "cat .git/config", "perdure answer", "ls", "timeout 5 ", "xargs ")
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 12).Draw(t, "pieces"), "")
	})
}

func genRequest() *rapid.Generator[Request] {
	return rapid.Custom(func(t *rapid.T) Request {
		tools := []string{"Bash", "Bash", "Bash", "Read", "Write", "Edit", "Glob", "Grep", "TodoWrite", "KillBash", "mcp__a__b", ""}
		paths := []string{"", "x", testCwd, testCwd + "/src/a.go", testCwd + "/.env", "/etc/passwd", testCwd + "/.git/config", "/home/u/.bashrc", testCwd + "/a\u202e"}
		r := Request{Tool: rapid.SampledFrom(tools).Draw(t, "tool"), OwnTask: rapid.Bool().Draw(t, "own")}
		if r.Tool == "Bash" {
			r.Command = genCommand().Draw(t, "command")
			return r
		}
		r.Path = rapid.SampledFrom(paths).Draw(t, "path")
		r.RawPath = rapid.SampledFrom(paths).Draw(t, "raw")
		r.Pattern = rapid.SampledFrom([]string{"", "*.go", "../*", "/etc/*"}).Draw(t, "pattern")
		return r
	})
}

func genRule(effects ...Effect) *rapid.Generator[Rule] {
	texts := []string{
		"Bash", "Bash(git:*)", "Bash(git push:*)", "Bash(echo:*)", "Bash(rm:*)", "Bash(ls)", "Bash(git status; ls)", "Read", "Edit", "Write", "Read(.env)", "Edit(src/**)", "Read(/etc/**)", "Edit(~/.bashrc)",
		"mcp__a", "TodoWrite", "KillBash", "Bash(sudo:*)", "Bash(x", "Grep",
	}
	sources := []string{SourceFlag, SourceProject, SourceSession}
	return rapid.Custom(func(t *rapid.T) Rule {
		return Rule{Effect: rapid.SampledFrom(effects).Draw(t, "effect"), Text: rapid.SampledFrom(texts).Draw(t, "text"), Source: rapid.SampledFrom(sources).Draw(t, "source")}
	})
}

func genPolicy() *rapid.Generator[Policy] {
	return rapid.Custom(func(t *rapid.T) Policy {
		p := testPolicy(rapid.SampledFrom([]Mode{ModePlan, ModeDefault, ModeAcceptEdits, ModeBypass, ""}).Draw(t, "mode"))
		p.Rules = rapid.SliceOfN(genRule(Allow, Allow, Ask, Deny), 0, 5).Draw(t, "rules")
		p.Grants = rapid.SliceOfN(genRule(Allow), 0, 3).Draw(t, "grants")
		return p
	})
}

// Another deny or ask rule never makes a decision weaker, another allow rule
// never makes it stronger, and the order of rules does not matter.
func TestRulesAreMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, r := genPolicy().Draw(t, "policy"), genRequest().Draw(t, "request")
		before := Decide(p, r)
		at := rapid.IntRange(0, len(p.Rules)).Draw(t, "at")
		extra := genRule(Allow, Ask, Deny).Draw(t, "extra")
		q := p
		q.Rules = append(append(append([]Rule{}, p.Rules[:at]...), extra), p.Rules[at:]...)
		after := Decide(q, r)
		if extra.Effect == Allow && rank(after.Effect) < rank(before.Effect) || extra.Effect != Allow && rank(after.Effect) > rank(before.Effect) {
			t.Fatalf("adding %+v turns %+v into %+v", extra, before, after)
		}
		q.Rules = rapid.Permutation(q.Rules).Draw(t, "order")
		if again := Decide(q, r); again.Effect != after.Effect {
			t.Fatalf("another order turns %+v into %+v", after, again)
		}
	})
}

// A less careful mode never allows less.
func TestModesAreMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, r := genPolicy().Draw(t, "policy"), genRequest().Draw(t, "request")
		last := Deny
		for _, mode := range []Mode{ModePlan, ModeDefault, ModeAcceptEdits, ModeBypass} {
			p.Mode = mode
			d := Decide(p, r)
			if rank(d.Effect) < rank(last) {
				t.Fatalf("mode %s: %+v after %s", mode, d, last)
			}
			last = d.Effect
			if d != Decide(p, r) {
				t.Fatal("two answers for one question")
			}
		}
	})
}

// A command is allowed only if each of its parts is, in either order; and what
// is denied stays denied with anything around it.
func TestJoiningNeverWidens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genPolicy().Draw(t, "policy")
		p.Mode = ModeDefault
		p.Grants = nil
		a, b := genCommand().Draw(t, "a"), genCommand().Draw(t, "b")
		join := rapid.SampledFrom([]string{";", "\n", " && ", " || ", " | "}).Draw(t, "join")
		sole := func(c string) bool { s := analyse(bash(c)); return !s.broken && !strings.ContainsAny(c, "#\\<") }
		if !sole(a) || !sole(b) || refusedBytes(bash(a)) != "" || refusedBytes(bash(b)) != "" {
			return // it joins otherwise than it reads
		}
		da, db, both := Decide(p, bash(a)), Decide(p, bash(b)), Decide(p, bash(a+join+b))
		if both.Rule == "Bash(git status; ls)" {
			return // exactly this text was allowed
		}
		if both.Effect == Allow && (da.Effect != Allow || db.Effect != Allow) {
			t.Fatalf("%q: allowed, its parts: %+v, %+v", a+join+b, da, db)
		}
		if analyse(bash(a + join + b)).broken {
			return // bash ends at the error, and what is behind it is compared with no rule
		}
		if (da.Effect == Deny || db.Effect == Deny) && both.Effect != Deny {
			t.Fatalf("%q: %+v, its parts: %+v, %+v", a+join+b, both, da, db)
		}
	})
}

// spent is the processor time of this process: on a busy machine the clock says more.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// No command of permitted length takes long: the parser's recursion and the
// views of wrappers are bounded.
func TestHostileSizes(t *testing.T) {
	for _, unit := range []string{
		"(", "((", "$((", "$(", "`", "\\`", "{", "[[ ( ", "if ", "$[", "${a:-", "\"$(", "'", "<<E\n", "a|", "a&&", "a;", "!", "! ", "sudo ", "ssh ", "sudo ssh ", "sh -c ", "eval ", "xargs ", "watch 'a' ", "env -S ", "$'\\x41'",
		"case a in a) ", "for i in ", "while ", "time ", "coproc ", "function f ", "f() ", "a,", "a=", "a:", "../", "~/", "/", ".git/", "{a,", "@(", "*/", "[", "git -c a=b ", "git rebase -x 'a' ", "find . -exec ", "timeout ", "cd a;", "$(( a[", "\\\n#", "# \\\n",
		"ssh 'ssh ", "eval \"eval ",
	} {
		for _, tail := range []string{"", "x", ")", "'"} {
			command := strings.Repeat(unit, (maxCommand-1)/len(unit)) + tail
			p := testPolicy(ModeBypass, "deny Bash(rm:*)", "Bash(git:*)", "deny Read(.env)", "ask Bash(git push:*)")
			start := spent()
			d := Decide(p, bash(command))
			if took := spent() - start; took > 3*time.Second {
				t.Errorf("%q repeated: %v (%s)", unit, took, d.Effect)
			} else if took > 100*time.Millisecond {
				t.Logf("%q repeated: %v", unit, took)
			}
		}
	}
}
