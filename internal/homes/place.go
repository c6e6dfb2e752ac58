package homes

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/perdure/perdure/internal/invalid"
)

// errPlace: the environment names no directory for the sessions.
var errPlace = invalid.New("no place to keep sessions: set PERDURE_HOME or HOME")

// Place is where the sessions of a user are kept: $PERDURE_HOME, else the XDG data directory.
func Place(getenv func(string) string) (string, error) {
	if v := getenv("PERDURE_HOME"); v != "" {
		if err := CheckPlace("PERDURE_HOME", v); err != nil {
			return "", err
		}
		return filepath.Abs(v)
	}
	if v := getenv("XDG_DATA_HOME"); filepath.IsAbs(v) {
		return filepath.Join(v, "perdure"), nil
	}
	if v := getenv("HOME"); filepath.IsAbs(v) {
		return filepath.Join(v, ".local", "share", "perdure"), nil
	}
	return "", errPlace
}

// CheckPlace refuses a directory that begins with a ~, which only a shell knows.
func CheckPlace(what, dir string) error {
	if !strings.HasPrefix(dir, "~") {
		return nil
	}
	return invalid.New(fmt.Sprintf("%s is %s: only a shell expands the ~; write the whole path (./%s is a directory of that name)", what, dir, dir))
}

// placed is the directory of a home that a program opens by this name; empty: the user's.
func placed(dir string, cfg Config) (string, error) {
	var err error
	if dir == "" {
		dir, err = Place((&Home{cfg: cfg}).getenv)
	} else {
		err = CheckPlace("the home", dir)
	}
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return "", fmt.Errorf("open home: %w", err)
	}
	return dir, nil
}
