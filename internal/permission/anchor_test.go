package permission

import "testing"

// A rule of a directory above means in a session below what it means in that directory.
func TestAnchor(t *testing.T) {
	for _, c := range []struct {
		effect    Effect
		rule, dir string
		hit, miss []string
	}{
		{Deny, "Read(secret.txt)", "/p", []string{"/p/secret.txt", "/p/sub/secret.txt", "/p/sub/SECRET.txt/x"}, []string{"/q/secret.txt", "/p/other"}},
		{Deny, "Read(secrets/**)", "/p", []string{"/p/secrets/a", "/p/sub/secrets/a/b"}, []string{"/p/x", "/secrets/a"}},
		{Ask, "Edit(src/x.go)", "/p", []string{"/p/src/x.go"}, []string{"/p/sub/src/x.go"}},
		{Deny, "Read(./.env)", "/p", []string{"/p/.env"}, []string{"/p/sub/.env"}},
		{Deny, "Read(../up)", "/p/q", []string{"/p/up"}, []string{"/p/q/up"}},
		{Deny, "Read(/abs/x)", "/p", []string{"/abs/x"}, []string{"/p/abs/x"}},
		{Deny, "Read(~/x)", "/p", []string{"/home/u/x"}, []string{"/p/x"}},
		{Deny, "Read(.env)", "/a[b]*c", []string{"/a[b]*c/.env"}, []string{"/ab/.env"}},
		{Deny, "Read(**)", "/p", []string{"/p/x"}, []string{"/q"}},
	} {
		r := Anchor(Rule{Effect: c.effect, Text: c.rule, Source: SourceProject}, c.dir)
		if _, err := ParseRule(r.Effect, r.Text, r.Source); err != nil {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		p := Policy{Mode: ModeBypass, Rules: []Rule{r}, Root: c.dir + "/sub/deeper", Cwd: c.dir, HomeDir: "/home/u"}
		tool := "Read"
		if c.rule[0] == 'E' {
			tool = "Edit"
		}
		for _, abs := range c.hit {
			if d := Decide(p, Request{Tool: tool, Path: abs, RawPath: abs}); d.Effect != c.effect {
				t.Errorf("%s in %s, as %s: %s is %s", c.rule, c.dir, r.Text, abs, d.Effect)
			}
		}
		for _, abs := range c.miss {
			if d := Decide(p, Request{Tool: tool, Path: abs, RawPath: abs}); d.Effect != Allow {
				t.Errorf("%s in %s, as %s: %s is %s", c.rule, c.dir, r.Text, abs, d.Effect)
			}
		}
	}
	for _, same := range []string{"Bash(git push:*)", "Bash", "Read", "mcp__x"} {
		if r := Anchor(Rule{Effect: Ask, Text: same}, "/p"); r.Text != same {
			t.Errorf("%s became %s", same, r.Text)
		}
	}
}
