package settings

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/perdure/perdure/internal/realdir"
)

// readProject reads a project's file. One that another user put into a directory that is open to everybody is nobody's
// rule here: it says nothing, whatever is in it, and told is the reason.
func readProject(file string) (s source, told string, err error) {
	for path := file; path != projectOf(file); path = filepath.Dir(path) {
		if err := strange(path); err != nil {
			return source{file: file}, fmt.Sprintf("%s: all of it (%v)", file, err), nil
		}
	}
	s, err = read(file)
	return s, "", err
}

// strange looks at what lies in a directory, and not at where it leads. What cannot be looked at is left to the reading.
func strange(path string) error {
	info, err := os.Lstat(path)
	dir, derr := os.Stat(filepath.Dir(path))
	if err == nil && derr == nil {
		return realdir.Stranger(info, dir)
	}
	return nil
}
