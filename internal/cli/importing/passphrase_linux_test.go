package importing_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// A passphrase that is asked for is not shown, and opens what it was asked for.
func TestAPassphraseIsAskedFor(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("one")
	w.Fails(2, "asks at a terminal", "export", "one", "-o", "y.perdure", "--passphrase")
	p := w.Sit(80, 24, "export", "one", "-o", "x.perdure", "--passphrase")
	p.Sees("Passphrase: ")
	p.Types("correct horse\n")
	p.Sees("The same again: ")
	p.Types("correct horse\n")
	p.Left(0)
	to := there(w)
	p = to.Sit(80, 24, "import", "x.perdure", "--yes")
	p.Sees("It is encrypted. Passphrase: ")
	p.Types("correct horse\n")
	p.Left(0)
	if strings.Contains(p.Shown.String(), "horse") {
		t.Errorf("it was shown: %q", p.Shown.String())
	}
	to.OK("show", "one")
}
