package sim_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// A run makes much garbage and lives for milliseconds.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
