package homes_test

import (
	"os"
	"testing"

	"github.com/perdure/perdure/internal/homes"
)

// A program that runs commands asks first whether it was started as a shim.
func TestMain(m *testing.M) {
	homes.RunShimIfAsked()
	os.Exit(m.Run())
}
