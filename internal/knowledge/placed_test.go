package knowledge

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Goal: where a project's directory is full or cannot be written, the error says that it is the project's, and not the home.
func TestErrorsOfAProjectsDirectoryNameIt(t *testing.T) {
	for _, shared := range []bool{true, false} {
		for _, cause := range []error{syscall.ENOSPC, syscall.EROFS, syscall.EACCES, syscall.EIO} {
			dir := t.TempDir()
			m, err := Open(Config{Home: t.TempDir(), Dir: dir, InProject: shared, Fault: func(string) error { return cause }})
			if err != nil {
				t.Fatal(err)
			}
			_, added := m.Project.Add(context.Background(), Addition{Text: "a note"}, By{Source: SourceUser})
			_, noted := m.Journal().Add(context.Background(), "an item", time.Now())
			_, users := m.User.Add(context.Background(), Addition{Text: "a note"}, By{Source: SourceUser})
			for what, err := range map[string]error{"memory": added, "journal": noted, "user": users} {
				want := shared && what != "user" && cause != syscall.EIO
				if !errors.Is(err, cause) || errors.Is(err, ErrProject) != want || want && !strings.Contains(err.Error(), dir) {
					t.Errorf("shared %v, %s, %v: %v", shared, what, cause, err)
				}
			}
		}
	}
}
