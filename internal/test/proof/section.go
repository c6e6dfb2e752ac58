package proof

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Section renders the README's part: the campaigns, the controls, and the guarantees.
func (f Figures) Section() string {
	var b strings.Builder
	f.campaigns(&b)
	f.controls(&b)
	guarantees(&b)
	return b.String()
}

func (f Figures) campaigns(b *strings.Builder) {
	k, s, p := f.Kill, f.Simulator, f.Power
	b.WriteString("\n| campaign | what it did | lost | repeated or not run | refused | wrong exit codes | else wrong |\n")
	b.WriteString("|---|---|--:|--:|--:|--:|--:|\n")
	fmt.Fprintf(b, "| SIGKILL of the real binary | %s kills in %s sessions, both APIs; %s acknowledged events and %s commands checked, %s of them finished without their agent | %d | %d | %d | %d | %d |\n",
		number(k.Kills), number(k.Rounds), number(k.Acknowledged), number(k.Commands), number(k.Collected), k.Lost, k.Repeated, k.Refused, k.WrongCodes, k.Other)
	fmt.Fprintf(b, "| simulator: death before and after every append and effect | %s points, each run compared with the run without accidents | – | – | – | – | %d |\n",
		number(s.Points), s.Failed)
	fmt.Fprintf(b, "| power loss at every sync, unsynced writes dropped and torn | %s losses | %d | – | – | – | %d corrupt |\n",
		number(p.Losses), p.Lost, p.Corrupt)
	var moments []string
	for _, how := range slices.Sorted(maps.Keys(k.Moments)) {
		moments = append(moments, fmt.Sprintf("%s %s", number(k.Moments[how]), how))
	}
	fmt.Fprintf(b, "\nWhere the SIGKILLs hit: %s.\n", strings.Join(moments, ", "))
}

func (f Figures) controls(b *strings.Builder) {
	b.WriteString("\nA harness that finds nothing proves nothing. These faults were planted, and had to be found:\n\n")
	b.WriteString("| control | planted | caught |\n|---|--:|--:|\n")
	for _, c := range f.Controls {
		fmt.Fprintf(b, "| %s: %s | %s | %s |\n", c.Campaign, c.Fault, number(c.Planted), number(c.Caught))
	}
}

// number puts a comma between thousands.
func number(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func guarantees(b *strings.Builder) {
	b.WriteString("\nWhat is guaranteed at each boundary, and which tests prove it:\n\n")
	b.WriteString("| boundary | the agent is killed | its shim is killed | the power fails | promised | proved by |\n|---|---|---|---|---|---|\n")
	for _, g := range Guarantees() {
		var tests []string
		for _, t := range g.Tests {
			tests = append(tests, fmt.Sprintf("`%s` (%s)", t.Name, t.Dir))
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", g.Boundary, g.Agent, g.Shim, g.Power, g.Promise, strings.Join(tests, ", "))
	}
	b.WriteString("\n")
}

// Guarantee says what holds at one boundary, whatever dies there.
type Guarantee struct {
	Boundary, Agent, Shim, Power, Promise string
	Tests                                 []Test
}

// Test names a test by its directory in the module and its function.
type Test struct{ Dir, Name string }

// Guarantees is the matrix, in the order in which it is shown.
func Guarantees() []Guarantee {
	return []Guarantee{
		{
			Boundary: "log", Agent: "every acknowledged event is there; the next process gets in at once", Shim: "not concerned",
			Power:   "every acknowledged event is there; the store opens",
			Promise: "acknowledged means durable",
			Tests: []Test{
				{"internal/test/proof", "TestKill"},
				{"internal/test/proof", "TestSyncFails"},
				{"internal/test/proof", "TestCorruptByte"},
				{"internal/test/sim", "TestKilledEverywhere"},
				{"internal/sqlite", "TestPowerLoss"},
			},
		},
		{
			Boundary: "command", Agent: "runs on; its real exit code and full output arrive in the next process",
			Shim:    "runs on under another shim; its real code and output arrive, or it is told as outcome unknown",
			Power:   "dies with the machine: told as outcome unknown, unless its end was recorded",
			Promise: "never silently run twice, no code ever guessed",
			Tests: []Test{
				{"internal/test/proof", "TestKill"},
				{"internal/test/proof", "TestShimKilled"},
				{"internal/test/proof", "TestEverythingKilled"},
				{"internal/task", "TestDeathAtEveryStep"},
				{"internal/task", "TestReboot"},
			},
		},
		{
			Boundary: "edit", Agent: "done, or not done and done then: the digests before and after decide", Shim: "not concerned",
			Power:   "file and directory are synced before the log says finished",
			Promise: "never half a file; a file changed by somebody else meanwhile is a conflict, not overwritten",
			Tests:   []Test{{"internal/test/proof", "TestKill"}, {"internal/test/sim", "TestKilledEverywhere"}, {"internal/tools", "TestReplaceKilled"}, {"internal/tools", "TestReplaceSyncs"}},
		},
		{
			Boundary: "outside call", Agent: "a model call is sent again with the same prefix, and counted as lost; another act outside is told as unknown",
			Shim: "not concerned", Power: "as when the agent is killed",
			Promise: "nothing is repeated in silence; never exactly once",
			Tests:   []Test{{"internal/test/proof", "TestKill"}, {"internal/test/sim", "TestKilledEverywhere"}, {"internal/test/sim", "TestControlsAreRed"}},
		},
		{
			Boundary: "output", Agent: "all of it is kept (64 MiB of each command); a task's next look shows only what is new",
			Shim: "goes on at the same byte under another shim", Power: "what was in the log; a dead task's latest output may be gone",
			Promise: "no byte shown twice as new, every gap named",
			Tests:   []Test{{"internal/test/proof", "TestKill"}, {"internal/test/proof", "TestShimKilled"}, {"internal/task", "TestAdopt"}, {"internal/task", "TestKilledTogether"}, {"internal/task", "TestKilledAllTogether"}, {"internal/task", "TestOutputBound"}},
		},
	}
}
