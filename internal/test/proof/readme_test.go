package proof_test

import (
	"errors"
	"os"
	"testing"

	"github.com/perdure/perdure/internal/test/proof"
)

// The README shows the figures that were counted last, and nothing else. PERDURE_PROOF=render writes them into it anew,
// for a change of words.
func TestReadmeShowsTheFigures(t *testing.T) {
	if proving() {
		return // they are being made
	}
	f, err := proof.Load(figuresFile)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	want, err := proof.Insert(string(text), f.Section())
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("PERDURE_PROOF") == "render" {
		if err := os.WriteFile(readme, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Errorf("README.md and internal/test/proof/figures.json disagree: run make proof")
	}
	if _, err := proof.Insert("a README without markers", ""); !errors.Is(err, proof.ErrMarkers) {
		t.Errorf("a text without markers: %v", err)
	}
}

// The figures that are shown are those of a full campaign in which nothing was broken and every control was caught.
func TestFigures(t *testing.T) {
	if proving() {
		return // they are being made
	}
	f, err := proof.Load(figuresFile)
	if err != nil {
		t.Fatal(err)
	}
	k := f.Kill
	if k.Kills < 1000 || k.Acknowledged == 0 || k.Collected == 0 || f.Simulator.Points < 2000 || f.Power.Losses < 100 {
		t.Errorf("too little was done: %+v", f)
	}
	if n := k.Lost + k.Repeated + k.Refused + k.WrongCodes + k.Other + f.Simulator.Failed + f.Power.Lost + f.Power.Corrupt; n != 0 {
		t.Errorf("promises were broken: %+v", f)
	}
	for _, c := range f.Controls {
		if c.Caught == 0 {
			t.Errorf("control %s: %s was not caught", c.Campaign, c.Fault)
		}
	}
}
