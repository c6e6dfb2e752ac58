package app

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/perdure/perdure/internal/knowledge"
)

// Goal: who cannot write to a project is not sent to a home that is well; who cannot write to the home is.
func TestHintNamesThePlaceThatCannotBeWritten(t *testing.T) {
	for _, cause := range []error{syscall.EROFS, syscall.ENOSPC, syscall.EACCES} {
		for _, inProject := range []bool{true, false} {
			err := cause
			if inProject {
				err = fmt.Errorf("note: %w", &knowledge.PlaceError{Dir: "/work/shop/.agent", Err: cause})
			}
			var out bytes.Buffer
			a := &App{Stderr: &out}
			if code := a.Report(err); code != ExitFailed {
				t.Errorf("%v: exit %d", err, code)
			}
			elsewhere := inProject || errors.Is(cause, syscall.EROFS) // the home itself is looked at, and it can be written
			if toHome := strings.Contains(out.String(), "PERDURE_HOME"); toHome == elsewhere {
				t.Errorf("%v: %s", err, out.String())
			}
			if inProject && !strings.Contains(out.String(), "/work/shop/.agent cannot be written") {
				t.Errorf("%s", out.String())
			}
		}
	}
}
