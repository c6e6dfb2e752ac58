package proof_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/perdure/perdure/internal/homes"
)

// binary is the perdure command under test, built once. Its path is unique, so that the processes of this run can be
// told from all others.
var binary string

func TestMain(m *testing.M) {
	homes.RunShimIfAsked()
	if os.Getenv("PERDURE_PROOF") == "others" {
		os.Exit(report(others()))
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "perdure-proof-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "perdure")
	build := exec.Command("go", "build", "-o", binary, "github.com/perdure/perdure/cmd/perdure")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build perdure: %v\n%s", err, out)
		return 1
	}
	code := m.Run()
	if code == 0 && proving() {
		return report(publish(noted.Figures))
	}
	return code
}

func report(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// long reports whether the campaigns run in full.
func long() bool { return os.Getenv("PERDURE_SOAK") == "1" || proving() }

// proving reports whether figures are to be written.
func proving() bool { return os.Getenv("PERDURE_PROOF") == "1" }
