package permission

import (
	"strconv"
	"strings"
	"testing"
)

// BenchmarkDecide gives the time of one decision with a policy of ten rules.
func BenchmarkDecide(b *testing.B) {
	p := testPolicy(ModeDefault, "Bash(git:*)", "Bash(go test:*)", "Bash(npm test)", "Bash(ls:*)", "Bash(head:*)", "Edit(src/**)", "deny Bash(rm:*)", "deny Read(.env)", "ask Bash(git push:*)", "deny Bash(sudo:*)")
	for _, c := range []struct {
		name string
		r    Request
	}{
		{"simple", bash("git status")},
		{"compound", bash("cd /home/u/proj && git status 2>&1 | head -n 5 && go test ./...")},
		{"nested", bash(`sudo sh -c "cat $(find . -name x) | xargs rm"`)},
		{"16KiB", bash(strings.Repeat("git status;", 1480))},
		{"edit", Request{Tool: "Edit", Path: testCwd + "/src/a.go"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Decide(p, c.r)
			}
		})
	}
	for _, n := range []int{100, 1000} {
		q := p
		for i := range n {
			q.Grants = append(q.Grants, Rule{Effect: Allow, Text: "Bash(make t" + strconv.Itoa(i) + ")", Source: SourceSession})
		}
		b.Run("grants"+strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				Decide(q, bash("git status"))
			}
		})
	}
}
