package attack_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/perdure/perdure/internal/homes"
)

// binary is the perdure command under attack, built once.
var binary string

func TestMain(m *testing.M) {
	homes.RunShimIfAsked()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "perdure-attack-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Chmod(dir, 0o755); err != nil { // another user has to run it too
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	binary = filepath.Join(dir, "perdure")
	build := exec.Command("go", "build", "-o", binary, "github.com/perdure/perdure/cmd/perdure")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build perdure: %v\n%s", err, out)
		return 1
	}
	before := rootNames()
	code := m.Run()
	for name := range rootNames() {
		if !before[name] {
			fmt.Fprintf(os.Stderr, "the tests left /%q\n", name)
			code = 1
		}
	}
	return code
}

// rootNames are the entries of the root directory, where no test has any business.
func rootNames() map[string]bool {
	entries, _ := os.ReadDir("/") // what cannot be listed cannot be written to either
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	return names
}
