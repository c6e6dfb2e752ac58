package sessions_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: what a run says at its end of the tasks that go on is short, however many there are, and names the way to all.
func TestManyTasksAreToldShortly(t *testing.T) {
	for _, n := range []int{5, 6, 8} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			w := clitest.New(t)
			var tools []any
			for i := range n {
				tools = append(tools, map[string]any{"name": "Bash", "input": map[string]any{"command": fmt.Sprintf("sleep %d", 1000+i), "run_in_background": true}})
			}
			q, err := json.Marshal(map[string]any{"turns": []any{map[string]any{"steps": []any{map[string]any{"tools": tools}, map[string]any{"text": "x"}}}}})
			if err != nil {
				t.Fatal(err)
			}
			o := w.Run("-p", "--session-id", "s", "--model", w.Scripted(string(q)), "--dangerously-skip-permissions", "go")
			code, said := o.Code, o.Stderr
			defer w.Run("task", "kill", "s", "--all")
			more := fmt.Sprintf("and %d more: perdure task list s", n-5)
			if named := strings.Count(said, ": sleep 10"); code != 0 || named != 5 || strings.Contains(said, more) != (n > 5) {
				t.Errorf("exit %d, %d named:\n%s", code, named, said)
			}
		})
	}
}
