package realdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A link or a file on the way is refused, also one that leads to a place inside; what is missing is made, or missing.
func TestNoLinkIsFollowed(t *testing.T) {
	base := t.TempDir()
	if err := os.MkdirAll(filepath.Join(base, "real", "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"in": "real", "out": t.TempDir(), "real/up": "..", "gone": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(base, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, names := range [][]string{{"in"}, {"out"}, {"gone"}, {"file"}, {"in", "sub"}, {"real", "up"}, {"out", "new"}} {
		for _, open := range []func(string, ...string) (*os.Root, error){Open, Make} {
			if root, err := open(base, names...); !errors.Is(err, ErrLink) {
				t.Errorf("%q: %v, %v", names, root, err)
			}
		}
		if err := Check(base, names...); !errors.Is(err, ErrLink) {
			t.Errorf("check %q: %v", names, err)
		}
	}
	top, err := os.OpenRoot(base)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = top.Close() }()
	for _, name := range []string{"in", "out", "gone", "file"} {
		if root, err := Below(top, name); !errors.Is(err, ErrLink) {
			t.Errorf("below: %q: %v, %v", name, root, err)
		}
	}
	if sub, err := Below(top, "real"); err != nil || sub.Close() != nil {
		t.Errorf("below: %v", err)
	}
	if _, err := Open(base, "new", "er"); !errors.Is(err, fs.ErrNotExist) || Check(base, "new", "er") != nil {
		t.Errorf("missing: %v", err)
	}
	root, err := Make(filepath.Join(base, "below"), "new", "er")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	if err := root.WriteFile("x", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(base, "below/new/er")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info, err)
	}
}
