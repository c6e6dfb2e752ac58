package restore

import "testing"

// Every name that some file system takes for ".git" is one, with each letter that such systems leave out, and none of the
// letters beside those.
func TestNamesThatAreTakenForGit(t *testing.T) {
	for _, r := range []rune{0x200c, 0x200e, 0x200f, 0x202a, 0x202c, 0x202e, 0x206a, 0x206c, 0x206f, 0xfeff} {
		for _, name := range []string{string(r) + ".git", ".gi" + string(r) + "t", ".git" + string(r)} {
			if !isGit(name) {
				t.Errorf("%+q is no git directory", name)
			}
		}
	}
	for _, r := range []rune{0x200b, 0x2010, 0x2029, 0x202f, 0x2069, 0x2070, 0xfefe, 0xff00} {
		if name := ".g" + string(r) + "it"; isGit(name) {
			t.Errorf("%+q is a git directory", name)
		}
	}
	for name, want := range map[string]bool{".git": true, ".GiT": true, ".git. .": true, "git~1": true, "GIT~1 ": true, "git": false, ".gitignore": false, "git~2": false, ".git/x": false, "": false} {
		if isGit(name) != want {
			t.Errorf("%q: %t", name, !want)
		}
	}
}
