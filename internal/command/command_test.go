package command_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
)

// Of two bounds of a kind the smaller one holds, and none is no bound.
func TestNarrowTakesTheSmallerOfEachBound(t *testing.T) {
	a := command.Limits{CPUSeconds: 1, MemoryBytes: 9, OpenFiles: 4}
	b := command.Limits{CPUSeconds: 2, MemoryBytes: 8, WallMS: 5}
	want := command.Limits{CPUSeconds: 1, MemoryBytes: 8, OpenFiles: 4, WallMS: 5}
	if a.Narrow(b) != want || b.Narrow(a) != want {
		t.Errorf("%+v and %+v, want %+v", a.Narrow(b), b.Narrow(a), want)
	}
	if (command.Limits{OpenFiles: -1}).Valid() || !want.Valid() || !(command.Limits{}).Valid() {
		t.Error("a bound below zero is taken, or a good one or none refused")
	}
}

// A value of the environment is bytes: one that is no text comes back as it went in, and a removal stays one.
func TestEnvironmentKeepsBytes(t *testing.T) {
	raw, text := "a\xff\x00b", "text"
	in := command.EnvDelta{"RAW": &raw, "TEXT": &text, "GONE": nil}
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out command.EnvDelta
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	gone, there := out["GONE"]
	if len(out) != 3 || *out["RAW"] != raw || *out["TEXT"] != text || !there || gone != nil {
		t.Errorf("%s became %v", b, out)
	}
	if err := json.Unmarshal([]byte(`{"A":{"bytes":7}}`), &out); err == nil {
		t.Error("a number is taken for bytes")
	}
	if err := json.Unmarshal([]byte(`["A"]`), &out); err == nil {
		t.Error("a list is taken for an environment")
	}
	if err := json.Unmarshal([]byte(`null`), &out); err != nil || out != nil {
		t.Errorf("none became %v, %v", out, err)
	}
}

// A state says that output may be missing only where some may be, and from which byte on.
func TestMissingOutputIsToldWhereItBegins(t *testing.T) {
	if got := (command.State{Output: 9}).MissingText(); len(got) != 0 {
		t.Errorf("nothing is missing: %q", got)
	}
	after := int64(7)
	if got := (command.State{MissingAfter: &after}).MissingText(); len(got) != 1 || !strings.Contains(got[0], "after byte 7 ") {
		t.Errorf("%q", got)
	}
}
