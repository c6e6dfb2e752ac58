package knowledge

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// Goal: a project that cannot be written is told apart from a home that cannot: the error names the project's directory,
// and only where the knowledge lies in the project.
func TestPlaceThatCannotBeWrittenIsNamed(t *testing.T) {
	for _, cause := range []error{syscall.ENOSPC, syscall.EROFS, fs.ErrPermission} {
		for _, shared := range []bool{true, false} {
			w := newWorld(t)
			w.cfg.InProject = shared
			w.cfg.Fault = func(step string) error {
				if strings.HasPrefix(step, "apply ") || step == "journal" {
					return cause
				}
				return nil
			}
			m := w.open()
			_, added := m.Project.Add(context.Background(), Addition{Text: "PostgreSQL"}, By{})
			_, noted := m.Journal().Add(context.Background(), "Completed: it", testTime)
			_, own := m.User.Add(context.Background(), Addition{Text: "short answers"}, By{})
			for what, err := range map[string]error{"memory": added, "journal": noted, "user": own} {
				var place *PlaceError
				if !errors.Is(err, cause) {
					t.Errorf("%s: %v", what, err)
				}
				if named := errors.As(err, &place); named != (shared && what != "user") {
					t.Errorf("%s, in the project %v: %v", what, shared, err)
				} else if named && (place.Dir != m.Project.Dir() || !strings.HasPrefix(err.Error(), place.Dir+" cannot be written")) {
					t.Errorf("%s: %v", what, err)
				}
			}
		}
	}
}
