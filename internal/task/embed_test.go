//go:build linux || darwin

package task

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A program of somebody else runs commands when it calls RunShimIfAsked or names a program that does, and is told so
// when it does neither, instead of being started again and again.
func TestForeignMain(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "foreign")
	if out, err := exec.Command("go", "build", "-o", exe, "./testdata/foreign").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, `7 "hello\n" <nil>`},
		{[]string{"careless"}, "start: start s/a: " + ErrNoShim.Error()},
		{[]string{"other", exe}, `7 "hello\n" <nil>`},
	} {
		out, _ := exec.Command(exe, append(c.args, t.TempDir())...).CombinedOutput()
		if got := strings.TrimSpace(string(out)); got != c.want {
			t.Errorf("%v: %s, want %s", c.args, got, c.want)
		}
	}
}
