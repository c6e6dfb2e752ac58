package run_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: a scripted model whose file is not there is told as not found, as everything else that is not there, and leaves
// no session behind.
func TestAMissingScriptIsNotFound(t *testing.T) {
	w := clitest.New(t)
	file := filepath.Join(w.Dir, "missing.json")
	o := w.Fails(app.ExitMissing, "no such script: "+file, "-p", "--model", "scripted/"+file, "hi")
	if strings.Contains(o.Stderr, "perdure list") {
		t.Errorf("a remedy of something else: %s", o.Stderr)
	}
	w.Fails(app.ExitMissing, "no such script: "+file, "start", "--model", "scripted/"+file, "hi")
	w.Fails(app.ExitFailed, "is a directory", "-p", "--model", "scripted/"+w.Dir, "hi")
	if got := w.OK("list", "--json"); got != "" {
		t.Errorf("sessions are left: %s", got)
	}
}
