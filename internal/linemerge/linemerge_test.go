package linemerge

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestMerge(t *testing.T) {
	for _, c := range []struct{ name, base, mine, theirs, want string }{
		{"different lines", "1\n2\n3\n4\n5\n", "one\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\n", "one\n2\n3\n4\nfive\n"},
		{"one deletes, one adds", "1\n2\n3\n4\n", "2\n3\n4\n", "1\n2\n3\n4\n5\n", "2\n3\n4\n5\n"},
		{"both alike", "1\n2\n3\n", "1\ntwo\n3\n", "1\ntwo\n3\n", "1\ntwo\n3\n"},
		{"no end of line", "1\n2\n3", "one\n2\n3", "1\n2\nthree", "one\n2\nthree"},
		{"only one changed", "1\n", "1\n", "", ""},
		{"from nothing", "", "", "1\n", "1\n"},
		{"carriage returns", "1\r\n2\r\n3\r\n", "one\r\n2\r\n3\r\n", "1\r\n2\r\nthree\r\n", "one\r\n2\r\nthree\r\n"},
	} {
		if got, ok := Merge(c.base, c.mine, c.theirs); !ok || got != c.want {
			t.Errorf("%s: %q, %v", c.name, got, ok)
		}
	}
}

func TestConflicts(t *testing.T) {
	for _, c := range []struct{ name, base, mine, theirs string }{
		{"the same line", "1\n2\n3\n", "1\ntwo\n3\n", "1\nzwei\n3\n"},
		{"neighbours", "1\n2\n3\n", "1\ntwo\n3\n", "1\n2\nthree\n"},
		{"added at one place", "1\n", "1\n2\n", "1\n3\n"},
		{"changed and deleted", "1\n2\n3\n", "1\n3\n", "1\ntwo\n3\n"},
		{"both made it", "", "1\n", "2\n"},
		{"line ends of all lines", "1\n2\n3\n4\n", "1\r\n2\r\n3\r\n4\r\n", "1\n2\n3\nfour\n"},
	} {
		if got, ok := Merge(c.base, c.mine, c.theirs); ok {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// edit changes, deletes and adds some lines; each new line is like no other.
func edit(r *rand.Rand, lines []string, by string) []string {
	out := slices.Clone(lines)
	for n := range 1 + r.IntN(4) {
		at := r.IntN(len(out) + 1)
		switch fresh := fmt.Sprintf("%s %d", by, n); {
		case at == len(out) || r.IntN(3) == 0:
			out = slices.Insert(out, at, fresh)
		case r.IntN(2) == 0:
			out = slices.Delete(out, at, at+1)
		default:
			out[at] = fresh
		}
	}
	return out
}

func text(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// What is merged here git merges to the same text: the other way round git, which looks into conflicts more closely, may
// merge more.
func TestLikeGit(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	clean, conflicts := 0, 0
	for range 300 {
		var base []string
		for i := range 3 + r.IntN(30) {
			base = append(base, fmt.Sprint("line ", i))
		}
		all := [3]string{text(edit(r, base, "mine")), text(base), text(edit(r, base, "theirs"))}
		args := []string{"merge-file", "-p", "-q"}
		for i, s := range all {
			name := filepath.Join(dir, fmt.Sprint(i))
			if err := os.WriteFile(name, []byte(s), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, name)
		}
		want, gitErr := exec.Command("git", args...).Output()
		got, ok := Merge(all[1], all[0], all[2])
		switch {
		case !ok:
			conflicts++
		case gitErr != nil || got != string(want):
			t.Fatalf("mine %q\nbase %q\ntheirs %q\ngot %q\ngit %q, %v", all[0], all[1], all[2], got, want, gitErr)
		default:
			clean++
		}
	}
	if clean < 30 || conflicts < 30 {
		t.Errorf("%d merged, %d not: this shows too little", clean, conflicts)
	}
}

// Whatever the texts are: a side that changed nothing takes nothing away from the other, sides alike are that side, and
// it does not matter which is which.
func FuzzMerge(f *testing.F) {
	f.Add("1\n2\n3\n", "1\n3\n", "1\n2\n3\n4")
	f.Add("\n\n\n", "\n\n", "\n\n\n\n")
	f.Add("a\nb\na\nb\n", "a\nb\n", "a\na\nb\nb")
	f.Add("\x00\xff\r\n", "\r", "")
	f.Fuzz(func(t *testing.T, base, mine, theirs string) {
		if got, ok := Merge(base, mine, base); !ok || got != mine {
			t.Errorf("theirs changed nothing: %q, %v", got, ok)
		}
		if got, ok := Merge(base, base, theirs); !ok || got != theirs {
			t.Errorf("mine changed nothing: %q, %v", got, ok)
		}
		if got, ok := Merge(base, mine, mine); !ok || got != mine {
			t.Errorf("both alike: %q, %v", got, ok)
		}
		one, ok := Merge(base, mine, theirs)
		if other, okToo := Merge(base, theirs, mine); ok != okToo || one != other {
			t.Errorf("%q %v, and the other way %q %v", one, ok, other, okToo)
		}
	})
}
