package homes

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The file of remembered rules and the user's configuration are protected also where each of them is a link of its own,
// as of people who keep their dotfiles in a repository, and below an XDG_CONFIG_HOME of any name.
func TestRulesAreProtectedWhereTheyLie(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"home/.config/perdure", "xdg/perdure", "dotfiles"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"home/.config/perdure/allowed.toml": "dotfiles/a.toml", "home/.config/perdure/config.toml": "dotfiles/c.toml", "xdg/perdure/allowed.toml": "dotfiles/x.toml",
	} {
		if err := os.WriteFile(filepath.Join(root, target), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(root, target), filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	got := startupPaths(func(name string) string {
		return map[string]string{"HOME": filepath.Join(root, "home"), "XDG_CONFIG_HOME": filepath.Join(root, "xdg")}[name]
	})
	for _, want := range []string{"dotfiles/a.toml", "dotfiles/c.toml", "dotfiles/x.toml", "xdg/perdure"} {
		if !slices.Contains(got, filepath.Join(root, want)) {
			t.Errorf("%s is not protected: %q", want, got)
		}
	}
}
