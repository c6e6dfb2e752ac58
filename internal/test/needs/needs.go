// Package needs is for tests that need something of the machine: a user, a mount, a program. A machine without it leaves
// the test out, and says so. Where CI=true is set that is a failure: a test that is left out there is one that nobody
// runs, and nobody would see it.
package needs

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
)

// Not leaves a test out because the machine lacks something, which the words name. With CI=true it fails.
func Not(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("with CI=true no test is left out: "+format, args...)
	}
	t.Skipf(format, args...)
}

// Program leaves a test out on a machine where a program is not installed. With CI=true it fails.
func Program(t testing.TB, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		Not(t, "%s is not installed", name)
	}
}

// System leaves a test out on every system but those named, as in GOOS. That is never a failure,
// but for a name that is no system's: nobody would ever run such a test.
func System(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if !slices.Contains([]string{"linux", "darwin"}, name) {
			t.Fatalf("%q is no system that this is for", name)
		}
	}
	if !slices.Contains(names, runtime.GOOS) {
		t.Skipf("it is about %v, this is %s", names, runtime.GOOS)
	}
}
