package homes

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Dotfiles that are kept elsewhere, and a home that is a symbolic link, are protected where they really lie; what has no
// link adds nothing.
func TestStartupPathsFollowLinks(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"real/dotfiles/nvim", "real/.config", "plain"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"home": "real", "real/.config/nvim": "../dotfiles/nvim"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	getenv := func(home string) func(string) string {
		return func(name string) string {
			return map[string]string{"HOME": filepath.Join(root, home), "KUBECONFIG": "/etc/k:relative:/"}[name]
		}
	}
	got := startupPaths(getenv("home"))
	for _, want := range []string{"real/.bashrc", "real/.config/perdure", "real/dotfiles/nvim", "real/bin", "home/bin", "real/.local/share/systemd", "home/.local/share/applications"} {
		if !slices.Contains(got, filepath.Join(root, want)) {
			t.Errorf("%s is not protected: %q", want, got)
		}
	}
	if slices.Contains(got, "/") || !slices.Contains(got, "/etc/k") {
		t.Errorf("of KUBECONFIG: %q", got)
	}
	if plain := startupPaths(getenv("plain")); len(plain) != 5 { // three of the data directory, bin, and what the variable names
		t.Errorf("without links: %q", plain)
	}
}

// What PATH has, and the known places, count under their own names and where links lead; what is relative does not.
func TestProgramPathsFollowLinks(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "kept/shims"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("kept", filepath.Join(root, ".asdf")); err != nil {
		t.Fatal(err)
	}
	got := programPaths(func(name string) string {
		return map[string]string{"HOME": root, "PATH": "/usr/bin:bin::" + root + "/own/x/", "GOPATH": root + "/gp", "GOBIN": root + "/gb"}[name]
	})
	for _, want := range []string{"/usr/bin", root + "/own/x", root + "/.asdf/shims", root + "/kept/shims", root + "/.cargo/bin", root + "/go/bin", root + "/gp/bin", root + "/gb"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing: %q", want, got)
		}
	}
	for _, not := range []string{"bin", "", ".", "shims"} {
		if slices.Contains(got, not) {
			t.Errorf("%q counts", not)
		}
	}
}
