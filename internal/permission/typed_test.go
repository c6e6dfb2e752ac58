package permission

import "testing"

// Goal: what is typed into a task is never allowed unless somebody said so for typing; what is denied or asked for as a
// command is so when it is typed.
func TestTyped(t *testing.T) {
	type text struct {
		typed string
		want  Effect
	}
	for _, c := range []struct {
		mode  Mode
		rules []string
		texts []text
	}{
		{ModeDefault, nil, []text{{"ls\n", Ask}, {"", Ask}, {"\x03", Ask}}},
		{ModeAcceptEdits, []string{"Bash", "Bash(ls)", "Bash(ls:*)"}, []text{{"ls", Ask}, {"ls\n", Ask}}},
		{ModePlan, []string{"BashInput"}, []text{{"ls\n", Deny}}},
		{ModeDefault, []string{"BashInput"}, []text{{"ls\n", Allow}, {"print(6*7)\n", Allow}, {"\x03", Allow}, {"perdure approvals allow x\n", Ask}, {"cat .git/config\n", Ask}}},
		{ModeBypass, nil, []text{{"rm -rf /tmp/x\n", Allow}, {"\x1b[A", Allow}, {"perdure takeover x", Ask}}},
		{ModeBypass, []string{"deny Bash"}, []text{{"ls\n", Deny}, {"x = 1\n", Deny}}},
		{ModeBypass, []string{"deny Bash(rm:*)"}, []text{
			{"rm x\n", Deny},
			{"ls; rm x\r", Deny},
			{"\x15rm x\n", Deny},
			{"sudo rm x", Deny},
			{"ls\n", Allow},
			{"y\n", Allow},
			{"r\tx\n", Ask},
			{"\x1b[A\n", Ask},
			{"print('x'\n", Ask},
			{"$X\n", Ask},
		}},
		{ModeBypass, []string{"ask Bash(git push:*)"}, []text{{"git push\n", Ask}, {"git log\n", Allow}}},
		{ModeBypass, []string{"deny Read(.env)"}, []text{{"cat .env\n", Ask}}},
		{ModeBypass, []string{"deny BashInput"}, []text{{"ls\n", Deny}}},
	} {
		p := testPolicy(c.mode, c.rules...)
		for _, x := range c.texts {
			r := Request{Tool: toolBashInput, Command: x.typed, OwnTask: true}
			if d := Decide(p, r); d.Effect != x.want {
				t.Errorf("mode %s, rules %q: %q is %s (%s), want %s", c.mode, c.rules, x.typed, d.Effect, d.Reason, x.want)
			}
			if s := Suggest(r); s != "" {
				t.Errorf("%q: the grant %s is offered", x.typed, s)
			}
		}
	}
	long := make([]byte, 3*maxCommand)
	for i := range long {
		long[i] = 'x'
	}
	if d := Decide(testPolicy(ModeBypass, "deny Bash(rm:*)"), Request{Tool: toolBashInput, Command: string(long)}); d.Effect != Ask {
		t.Errorf("a text too long to read is %s", d.Effect)
	}
}
