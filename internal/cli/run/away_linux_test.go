package run_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// Whoever looks at the list of sessions while the model works, and comes back, has stopped nothing: the turn goes on.
// Whoever goes to another session instead is told there that the turn stands still.
func TestLookingAtTheListStopsNoTurn(t *testing.T) {
	w := clitest.New(t)
	slow := strings.Repeat("word ", 60)
	model := w.Scripted(`{"turns":[{"match":"go","steps":[{"text":"Begun. ` + slow + `","delay_ms":50}]},{"match":"more","steps":[{"text":"Anew. ` + slow + `","delay_ms":200}]}]}`)
	w.Create("other")
	ann := w.Sit(100, 30, "--session-id", "mine", "--model", model)
	ann.Sees("what is to be done?")
	ann.Types("go\r")
	ann.Sees("Begun.")
	ann.Types("/resume\r")
	ann.Sees("type to search")
	ann.Types("\x1b")
	clitest.Until(t, "the turn ends", func() bool { return strings.Contains(w.OK("log", "mine"), "turn.ended") })
	ann.Types("more\r")
	ann.Sees("Anew.")
	ann.Types("/resume other\r")
	ann.Sees("mine was left in mid-turn")
}
