package session_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// TestMain lets properties run long under PERDURE_SOAK=1, and leaves no files behind when they fail: the seed is
// printed.
func TestMain(m *testing.M) {
	flag.Parse()
	set := map[string]string{"rapid.nofailfile": "true"}
	if os.Getenv("PERDURE_SOAK") == "1" {
		set["rapid.checks"] = "20000"
	}
	for name, value := range set {
		if err := flag.Set(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	os.Exit(m.Run())
}
