package permission

import "testing"

// Keeping a file shows it to whoever sees the session: what keeps a file from being read keeps it from being kept. A text
// of the model's own touches no file, and only a rule about the tool itself stops it.
func TestWhatIsNotReadIsNotKept(t *testing.T) {
	file := Request{Tool: "Artifact", Path: testCwd + "/secret/key", RawPath: "secret/key"}
	other := Request{Tool: "Artifact", Path: testCwd + "/report.md", RawPath: "report.md"}
	text := Request{Tool: "Artifact"}
	outside := Request{Tool: "Artifact", Path: "/etc/passwd", RawPath: "/etc/passwd"}
	for _, c := range []struct {
		rule                       string
		file, other, text, outside Effect
	}{
		{"deny Read(secret/**)", Deny, Allow, Allow, Ask},
		{"deny Read", Deny, Deny, Allow, Deny},
		{"ask Read(secret/**)", Ask, Allow, Allow, Ask},
		{"deny Artifact", Deny, Deny, Deny, Deny},
		{"deny Artifact(secret/**)", Deny, Allow, Allow, Ask},
		{"ask Artifact", Ask, Ask, Ask, Ask},
		{"Artifact(//etc/passwd)", Allow, Allow, Allow, Allow},
		{"Write(//etc/**)", Allow, Allow, Allow, Ask},
	} {
		p := testPolicy(ModeDefault, c.rule)
		for r, want := range map[*Request]Effect{&file: c.file, &other: c.other, &text: c.text, &outside: c.outside} {
			if d := Decide(p, *r); d.Effect != want {
				t.Errorf("%s: %+v: %+v, want %s", c.rule, *r, d, want)
			}
		}
	}
	if Suggest(text) != "" {
		t.Errorf("a text has a rule to suggest: %q", Suggest(text))
	}
	if rule, _ := Wider(text); rule != "" {
		t.Errorf("a text has a wider rule: %q", rule)
	}
}
