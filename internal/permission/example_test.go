package permission_test

import (
	"fmt"

	"github.com/perdure/perdure/internal/permission"
)

func ExampleDecide() {
	rule, err := permission.ParseRule(permission.Allow, "Bash(git log:*)", permission.SourceFlag)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := permission.Policy{Mode: permission.ModeDefault, Rules: []permission.Rule{rule}, Root: "/src", Cwd: "/src"}
	for _, command := range []string{"git log -3", "git log -3; rm -rf /", "cat .git/config"} {
		d := permission.Decide(p, permission.Request{Tool: "Bash", Command: command})
		fmt.Printf("%s: %s\n", d.Effect, d.Reason)
	}
	// Output:
	// allow: allowed by Bash(git log:*)
	// ask: no rule allows rm
	// ask: the command names .git/config, which is protected: this asks in every mode
}
