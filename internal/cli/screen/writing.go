package screen

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/cli/screen/mention"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/ui/composer"
)

// Writing is what a composer asks: the history of a home, the names in a directory, images.
type Writing struct {
	*History
	*mention.FileList
	mention.Images
}

var _ composer.Source = Writing{}

// NewWriting makes the source of a composer for a session that works in an absolute directory.
func NewWriting(home *homes.Home, dir, userHome string, now func() time.Time) Writing {
	return Writing{NewHistory(home, now), mention.NewFileList(dir, now), mention.Images{Dir: dir, UserHome: userHome}}
}

// Editor is the argv of the person's editor, out of $VISUAL or $EDITOR; empty: there is none.
func Editor(getenv func(string) string) []string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if argv := strings.Fields(getenv(name)); len(argv) > 0 {
			return argv
		}
	}
	return nil
}

// Temp makes files for the editor, in a directory: of mode 0600, with a name that says what they are.
func Temp(dir string) func(text string) (string, error) {
	return func(text string) (path string, err error) {
		f, err := os.CreateTemp(dir, "perdure-message-*.md") // its mode is 0600
		if err != nil {
			return "", err
		}
		if _, err = f.WriteString(text); err == nil {
			err = f.Close()
		} else {
			_ = f.Close()
		}
		if err != nil {
			_ = os.Remove(f.Name())
			return "", fmt.Errorf("write the message to a file: %w", err)
		}
		return f.Name(), nil
	}
}
