package ignore_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/ignore"
	"github.com/perdure/perdure/internal/test/needs"
)

// pattern is a line of an ignore file as chance writes it.
func pattern(r *rand.Rand) string {
	parts := []string{"a", "b", "ab", "c.o", "*", "?", "**", "/", "/", "[ab]", "[!a]", "[^b]", "[a-c]", "*.o", "a*", "*b", `\*`, `\!a`, `\ `, ".", "é", "[[:alpha:]]", "[]a]", "[!]a]", "[a", "***", "[a-]", `[\]`, "\t", "#"}
	var b strings.Builder
	if r.IntN(4) == 0 {
		b.WriteByte('!')
	}
	for range 1 + r.IntN(5) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	switch r.IntN(8) {
	case 0:
		b.WriteByte('/')
	case 1:
		b.WriteString("/**")
	case 2:
		b.WriteByte(' ')
	}
	return b.String()
}

// Goal: whatever stands in an ignore file, what is ignored here is what git ignores: patterns and paths are made by chance,
// git itself is asked.
func TestRulesAgreeWithGitOnWhatChanceWrites(t *testing.T) {
	needs.Program(t, "git")
	rounds, seed := 60, uint64(1)
	if os.Getenv("PERDURE_SOAK") != "" {
		rounds, seed = 3000, rand.Uint64()
	}
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // chance for a test
	dir := t.TempDir()
	run(t, dir, "init", "-q", ".")
	names := []string{"a", "b", "ab", "c.o", "*", "!a", "é", "a b", "abc"}
	var paths []string
	for _, one := range names {
		write(t, filepath.Join(dir, one, "c.o"), "x")
		paths = append(paths, one+"/c.o", one)
		for _, two := range names {
			write(t, filepath.Join(dir, one, two+"d", "a"), "x")
			paths = append(paths, one+"/"+two+"d", one+"/"+two+"d/a")
		}
	}
	for round := range rounds {
		var outer, inner []string
		for range 1 + r.IntN(4) {
			outer = append(outer, pattern(r))
		}
		for range r.IntN(3) {
			inner = append(inner, pattern(r))
		}
		texts := [2]string{strings.Join(outer, "\n"), strings.Join(inner, "\n")}
		write(t, filepath.Join(dir, ".gitignore"), texts[0])
		write(t, filepath.Join(dir, "ab", ".gitignore"), texts[1])
		cmd := exec.CommandContext(t.Context(), "git", "-C", dir, "-c", "core.excludesFile=/dev/null", "check-ignore", "-z", "--stdin")
		cmd.Stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
		out, err := cmd.Output()
		if err != nil && cmd.ProcessState.ExitCode() != 1 {
			t.Fatalf("git: %v", err)
		}
		want := map[string]bool{}
		for p := range strings.SplitSeq(string(out), "\x00") {
			want[p] = true
		}
		top := (*ignore.Rules)(nil).Add("", []byte(texts[0]))
		below := top.Add("ab", []byte(texts[1]))
		for _, p := range paths {
			if got := ignored(dir, top, below, p); got != want[p] {
				t.Errorf("round %d: %s: ignored %t, git says %t, by %s", round, p, got, want[p], fmt.Sprintf("%q", texts))
			}
		}
	}
}

// ignored asks as a walk does, which does not go into what is ignored.
func ignored(dir string, top, below *ignore.Rules, path string) bool {
	parts := strings.Split(path, "/")
	for i := range parts {
		rules := top
		if i > 0 && parts[0] == "ab" {
			rules = below
		}
		at := strings.Join(parts[:i+1], "/")
		info, err := os.Lstat(filepath.Join(dir, at))
		if rules.Ignored(at, err == nil && info.IsDir()) {
			return true
		}
	}
	return false
}

// Every file can be read and every path asked for, at a cost that the pattern's length bounds.
func FuzzRules(f *testing.F) {
	f.Add([]byte("build/**\n!build/keep\n*.[oa]\n"), "build/keep")
	f.Add([]byte(strings.Repeat("*a", 200)), strings.Repeat("a", 4000))
	f.Add([]byte("**/"+strings.Repeat("**/", 150)+"x"), strings.Repeat("a/", 2000))
	f.Fuzz(func(t *testing.T, file []byte, path string) {
		r := (*ignore.Rules)(nil).Add("", file)
		if r.Ignored(path, false) && r == nil {
			t.Error("no rule, and it is ignored")
		}
	})
}
