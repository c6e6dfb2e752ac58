package permission

import "testing"

// Spellings under which a file system that folds letter case, or the forms of Unicode, finds the same file. One form is
// composed, the other is not.
var foldedSpellings = [][]string{
	{".env", ".ENV", ".Env", ".eNV"},
	{"café.key", "cafe\u0301.key", "CAFÉ.KEY", "CAFE\u0301.Key"},
	{"ångström", "a\u030angstro\u0308m", "ÅNGSTRÖM", "\u212bngström"}, // the sign for the unit is the letter
	{"straße.pem", "STRASSE.pem", "strasse.pem", "straẞe.pem"},
	{"keys", "\u212aeys", "KEY\u017f", "key\u017f"}, // the kelvin sign, the long s
	{"ﬁles", "files", "FILES"},
	{"σίγμας", "ΣΊΓΜΑΣ", "σι\u0301γμασ"},
	{"한글", "\u1112\u1161\u11ab\u1100\u1173\u11af"},
	{"ệ", "e\u0323\u0302", "e\u0302\u0323", "\u1eb9\u0302"}, // marks in either order
}

// Goal: where the file system takes two spellings for one file, a deny rule and a protected path hold for both, and an
// allow rule only for its own.
func TestFoldedSpellings(t *testing.T) {
	for _, group := range foldedSpellings {
		for _, rule := range group {
			for _, name := range group {
				p := testPolicy(ModeBypass, "deny Read("+rule+")", "deny Edit(sub/"+rule+"/**)")
				p.Protected = append(p.Protected, "/srv/"+rule)
				for _, r := range []Request{{Tool: "Read", Path: testCwd + "/" + name}, {Tool: "Write", Path: testCwd + "/a/" + name}, {Tool: "Edit", Path: testCwd + "/sub/" + name + "/x"}, {Tool: "Read", Path: testCwd + "/x", RawPath: name}} {
					if d := Decide(p, r); d.Effect != Deny {
						t.Errorf("rule %+q: %s %+q: %s", rule, r.Tool, r.Path, d.Effect)
					}
				}
				if !Hidden(p, testCwd+"/a/"+name) {
					t.Errorf("rule %+q: %+q is not hidden", rule, name)
				}
				for _, command := range []string{"cat '" + name + "'", "cat ./" + name + "*", "touch /srv/" + name, "touch /srv/" + name + "/x", "cat sub/" + name + "/x"} {
					if d := Decide(p, bash(command)); d.Effect == Allow {
						t.Errorf("rule %+q: %+q: allowed", rule, command)
					}
				}
				allow := testPolicy(ModeDefault, "Edit(sub/"+rule+")")
				want := Ask
				if name == rule {
					want = Allow
				}
				if d := Decide(allow, Request{Tool: "Edit", Path: testCwd + "/sub/" + name}); d.Effect != want {
					t.Errorf("allow %+q: %+q: %s, want %s", rule, name, d.Effect, want)
				}
			}
		}
	}
	// Files of other names stay free, and a ? still stands for one letter as it is seen.
	runBash(t, testPolicy(ModeBypass, "deny Read(café.key)", "deny Read(schlüsse?.pem)", "deny Read(한*)"), []bashCase{
		{"cat cafe.key", Allow}, {"cat cafè.key", Allow}, {"cat schlüssel.pem", Ask}, {"cat schlu\u0308ssel.pem", Ask}, {"cat schlüssé.pem", Ask}, {"cat schlussel.pem", Allow}, {"cat 글", Allow}, {"cat 한글", Ask}, {"cat caf?.key", Ask}, {"cat caf*", Ask}, {"cat c?fé.key", Ask},
	})
	p := testPolicy(ModeBypass)
	p.Protected = []string{"/srv/café"}
	runBash(t, p, []bashCase{{"touch /srv/caf?/x", Ask}, {"touch /srv/cafe/x", Allow}, {"touch /srv/CAFE\u0301/x", Ask}})
}
