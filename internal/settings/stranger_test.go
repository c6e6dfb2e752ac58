package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/internal/test/needs"
)

// Whoever shares a machine can put a configuration into a directory that is open to everybody, such as /tmp: the sessions
// of others who work there or below are neither bound nor stopped by it, and are told of it.
func TestAStrangersFileSaysNothing(t *testing.T) {
	if os.Geteuid() != 0 {
		needs.Not(t, "only root can make the files of another user")
	}
	const stranger = 65534
	for name, c := range map[string]struct {
		mode  os.FileMode
		plant func(dir, file string) error
		rules int
		told  string
	}{
		"a rule":    {0o777 | os.ModeSticky, nil, 0, "another user"},
		"no file":   {0o777 | os.ModeSticky, func(_, file string) error { return os.WriteFile(file, []byte("deny ="), 0o644) }, 0, "another user"},
		"a circle":  {0o777 | os.ModeSticky, func(_, file string) error { _ = os.Remove(file); return os.Symlink(file, file) }, 0, "another user"},
		"nowhere":   {0o777 | os.ModeSticky, func(dir, _ string) error { _ = os.RemoveAll(dir); return os.Symlink("nowhere", dir) }, 0, "another user"},
		"a control": {0o755, nil, 1, ""},
		"in a directory of mine": {0o777 | os.ModeSticky, func(dir, _ string) error {
			return os.Chown(dir, 0, 0)
		}, 1, ""}, // whose owner alone may have put it there
		"in an open one of mine": {0o777 | os.ModeSticky, func(dir, _ string) error {
			if err := os.Chown(dir, 0, 0); err != nil {
				return err
			}
			return os.Chmod(dir, 0o777)
		}, 0, "another user"},
	} {
		t.Run(name, func(t *testing.T) {
			open := t.TempDir()
			mine, dir := filepath.Join(open, "mine"), filepath.Join(open, ".perdure")
			file := filepath.Join(dir, "config.toml")
			for _, err := range []error{
				os.Mkdir(mine, 0o700), os.Mkdir(dir, 0o755), os.WriteFile(file, []byte("[permissions]\ndeny = [\"Bash\"]\n"), 0o644),
				os.Chown(dir, stranger, stranger), os.Chmod(open, c.mode),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			if c.plant != nil {
				if err := c.plant(dir, file); err != nil {
					t.Fatal(err)
				}
			}
			for _, path := range []string{dir, file} {
				if info, err := os.Lstat(path); err == nil && (path == file || info.Mode()&os.ModeSymlink != 0) {
					if err := os.Lchown(path, stranger, stranger); err != nil {
						t.Fatal(err)
					}
				}
			}
			l, err := settings.Load("", mine)
			if told := strings.Join(l.Ignored, "\n"); err != nil || len(l.Rules) != c.rules || !strings.Contains(told, c.told) || c.told == "" && told != "" {
				t.Errorf("%v, rules %v, told %q", err, l.Rules, told)
			}
			if values, err := settings.Origins("", mine); err != nil || len(values) != c.rules {
				t.Errorf("%v, %v", err, values)
			}
		})
	}
}
