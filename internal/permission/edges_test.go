package permission

import (
	"strings"
	"testing"
)

// A path is odd for each reason by itself: one that is over-long and quite plain, and one that is short and no text.
func TestAPathIsOddForEachReason(t *testing.T) {
	for path, want := range map[string]bool{
		"/" + strings.Repeat("a", maxPath-1): false,
		"/" + strings.Repeat("a", maxPath):   true,
		"/home/u/\xff":                       true,
		"/home/u/日本語":                        false,
	} {
		if got := oddPath(Request{Tool: toolRead, Path: path}); got != want {
			t.Errorf("%.20q of %d bytes: %t", path, len(path), got)
		}
	}
}

// The letters of a plain path are all of them, the first and the last of each range too; what stands beside a range is not.
func TestSimplePathHasAllLetters(t *testing.T) {
	for _, c := range "azAZ09/._-+~" {
		if !simplePath("x" + string(c)) {
			t.Errorf("%q is no letter of a path", c)
		}
	}
	for _, c := range "`{@[:*? \t$日" {
		if simplePath("x" + string(c)) {
			t.Errorf("%q is a letter of a path", c)
		}
	}
}

// Whoever is asked about a file in a directory that git would take for a repository is told so: with the file's name.
func TestAskingNamesWhatGitWouldObey(t *testing.T) {
	path := testCwd + "/bare/config"
	for _, tool := range []string{toolWrite, toolEdit} {
		d := Decide(testPolicy(ModeBypass), Request{Tool: tool, Path: path, GitDir: true})
		if d.Effect != Ask || !d.Always || !strings.Contains(d.Reason, "git would obey "+path) {
			t.Errorf("%s: %+v", tool, d)
		}
	}
}

// Of a path of which a part is not known, .. takes away the directory before it, unless that is what is not known: it may
// be several.
func TestAnUnknownDirectoryIsNotGoneBackFrom(t *testing.T) {
	u := string(rune(markUnknown))
	for form, want := range map[string]string{
		"/a/b/../" + u:           "/a/" + u,
		"/a/" + u + "/../b":      "/a/" + u + "/b",
		"/a/" + u + "/b/../c":    "/a/" + u + "/c",
		"/../" + u:               "/" + u,
		"/a/./" + u + "//b":      "/a/" + u + "/b",
		"/a/b/c/../../d/../" + u: "/a/" + u,
		"/a/b/../c":              "/a/c",
	} {
		if got := cleanForm(form); got != want {
			t.Errorf("%q: %q, want %q", form, got, want)
		}
	}
}

// What the letters of git's short options take is certain for each that is listed, the first and the last one too, and
// for no other.
func TestGitsShortOptions(t *testing.T) {
	for _, c := range "46adefhkmnpPqtuv" {
		if takes, known := gitTakesValue("fetch", "-"+string(c)); takes || !known {
			t.Errorf("-%c takes the next word: %t, known: %t", c, takes, known)
		}
	}
	for _, c := range "xyzXZ35-" {
		if _, known := gitTakesValue("fetch", "-q"+string(c)); known {
			t.Errorf("-q%c is said to be known", c)
		}
	}
	for name, want := range map[string][2]bool{"-o": {true, true}, "-oX": {false, true}, "-qo": {true, true}, "-j": {true, true}, "-S": {false, true}, "-Sq": {false, false}} {
		if takes, known := gitTakesValue("fetch", name); takes != want[0] || known != want[1] {
			t.Errorf("%s: %t %t, want %v", name, takes, known, want)
		}
	}
}

// A descriptor is one or two digits: nothing is none, and neither are three.
func TestDigitsAreFewAndSome(t *testing.T) {
	for s, want := range map[string]bool{"": false, "1": true, "12": true, "123": false, "x": false, "1x": false, "0": true, "9": true, "/": false, ":": false} {
		if got := digits(s, 2); got != want {
			t.Errorf("%q: %t", s, got)
		}
	}
}

// A class of a pattern ends at its bracket, also where a class of characters is begun in it and never ended.
func TestAClassEndsWhereItDoes(t *testing.T) {
	for text, want := range map[string]int{
		"[a]": 2, "[]a]": 3, "[!]a]": 4, "[[:alpha:]]": 10, "[[:x]": 4, "[[.x": 0, "[a": 0, "[a/]": 0, "[[:x:]": 0, "[[:x:]]": 6,
	} {
		if got := classEnd([]rune(text), 0); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// A path may be as long as the system lets it, and not longer, whatever its letters.
func TestALongPathIsOddFromItsBoundOn(t *testing.T) {
	for n, want := range map[int]bool{maxPath: false, maxPath + 1: true} {
		if got := oddSegments(word{text: strings.Repeat("a", n)}); got != want {
			t.Errorf("%d bytes: %t", n, got)
		}
	}
}
