package sources_test

import (
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m) }
