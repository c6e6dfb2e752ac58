package proof_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/perdure/perdure/internal/test/proof"
)

// The files in which the figures stand.
const (
	figuresFile = "figures.json"
	readme      = "../../../README.md"
)

// noted gathers the figures of this run.
var noted struct {
	sync.Mutex
	proof.Figures
}

func note(f func(*proof.Figures)) {
	noted.Lock()
	defer noted.Unlock()
	f(&noted.Figures)
}

// planted notes a control.
func planted(campaign, fault string, planted, caught int) {
	note(func(f *proof.Figures) {
		f.Controls = append(f.Controls, proof.Control{Campaign: campaign, Fault: fault, Planted: planted, Caught: caught})
	})
}

// Every test that the guarantees name exists.
func TestGuaranteesNameTests(t *testing.T) {
	for _, g := range proof.Guarantees() {
		for _, x := range g.Tests {
			files, err := filepath.Glob(filepath.Join("../../..", x.Dir, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			found := slices.ContainsFunc(files, func(file string) bool {
				b, err := os.ReadFile(file)
				return err == nil && bytes.Contains(b, []byte("\nfunc "+x.Name+"(t *testing.T)"))
			})
			if !found {
				t.Errorf("%s: there is no %s in %s", g.Boundary, x.Name, x.Dir)
			}
		}
	}
}

// publish adds the figures of the other campaigns and writes all of them down.
func publish(f proof.Figures) error {
	if err := simulate(&f); err != nil {
		return err
	}
	if err := losePower(&f); err != nil {
		return err
	}
	slices.SortFunc(f.Controls, func(a, b proof.Control) int { return strings.Compare(a.Campaign+a.Fault, b.Campaign+b.Fault) })
	text, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	made, err := proof.Insert(string(text), f.Section())
	if err != nil {
		return err
	}
	return errors.Join(f.Save(figuresFile), os.WriteFile(readme, []byte(made), 0o644))
}

// testLine is one line of go test -json.
type testLine struct{ Action, Test, Output string }

// campaign runs tests of another package and returns what they said. A failed test is an error.
func campaign(dir, pattern string, environ ...string) ([]testLine, error) {
	cmd := exec.Command("go", "test", "-json", "-count=1", "-timeout=55m", "-run", pattern, ".")
	cmd.Dir = filepath.Join("../../..", dir)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "PERDURE_") }), environ...)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("campaign of %s: %w: %s", dir, err, out)
	}
	var lines []testLine
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var l testLine
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			return lines, nil
		} else if err != nil {
			return nil, fmt.Errorf("campaign of %s: %w", dir, err)
		}
		lines = append(lines, l)
	}
}

// others measures the other campaigns anew and keeps the figures of the kills.
func others() error {
	f, err := proof.Load(figuresFile)
	if err != nil {
		return err
	}
	f.Simulator, f.Power = proof.Simulator{}, proof.Power{}
	f.Controls = slices.DeleteFunc(f.Controls, func(c proof.Control) bool { return c.Campaign == simulator || c.Campaign == powerLoss })
	return publish(f)
}

// The names of the other campaigns.
const (
	simulator = "simulator"
	powerLoss = "power loss"
)

// errSilent says that a campaign passed without the figures that are expected of it.
var errSilent = errors.New("campaign told no figures")

var simPoints = regexp.MustCompile(`: (\d+)(?: of \d+)? points(?: in all)?\n$`)

func simulate(f *proof.Figures) error {
	lines, err := campaign("internal/test/sim", "Killed|ControlsAreRed")
	if err != nil {
		return err
	}
	for _, l := range lines {
		if m := simPoints.FindStringSubmatch(l.Output); m != nil {
			f.Simulator.Points += atoi(m[1])
		}
		if name, ok := strings.CutPrefix(l.Test, "TestControlsAreRed/"); ok && l.Action == "pass" {
			f.Controls = append(f.Controls, proof.Control{Campaign: simulator, Fault: strings.ReplaceAll(name, "_", " "), Planted: 1, Caught: 1})
		}
	}
	if f.Simulator.Points < 2000 {
		return fmt.Errorf("simulator: %w: %d points", errSilent, f.Simulator.Points)
	}
	return nil
}

var powerLosses = regexp.MustCompile(`(?:synchronous=(\w+): )?(\d+) power losses: (\d+) lost, (\d+) corrupt\n$`)

func losePower(f *proof.Figures) error {
	lines, err := campaign("internal/sqlite", "TestPowerLoss", "PERDURE_SOAK=1")
	if err != nil {
		return err
	}
	for _, l := range lines {
		m := powerLosses.FindStringSubmatch(l.Output)
		switch {
		case m == nil:
		case m[1] == "":
			f.Power = proof.Power{Losses: atoi(m[2]), Lost: atoi(m[3]), Corrupt: atoi(m[4])}
		default:
			f.Controls = append(f.Controls, proof.Control{
				Campaign: powerLoss, Fault: "synchronous=" + m[1] + " (of all losses, those that lost or corrupted something)",
				Planted: atoi(m[2]), Caught: max(atoi(m[3]), atoi(m[4])),
			})
		}
	}
	if f.Power.Losses == 0 {
		return fmt.Errorf("power loss: %w", errSilent)
	}
	return nil
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s) // the pattern let only digits through
	return n
}
