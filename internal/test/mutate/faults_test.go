package main

import (
	"go/format"
	"slices"
	"testing"
	"time"
)

const sample = `package p

import "os"

const limit = 7

func f(a, b int) (err error) {
	defer os.Exit(1)
	if a < b && limit == 7 {
		a = b + 1
		println(a)
		return err
	}
	return nil
}
`

// Every kind of fault is found once where it can be planted, and what is planted is Go.
func TestFaults(t *testing.T) {
	found, err := faults("p.go", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	keys := map[string]bool{}
	for _, f := range found {
		said = append(said, f.what)
		keys[f.key("p")] = true
		if _, err := format.Source(f.planted()); err != nil {
			t.Errorf("%s: %v", f.what, err)
		}
	}
	slices.Sort(said)
	want := []string{
		"&& became ||: a < b && limit == 7", "+ became -: b + 1", "< became <=: a < b", "== became !=: limit == 7",
		"condition turned around: a < b && limit == 7", "constant 1 became 2", "constant 1 became 2", "constant 7 became 8",
		"constant 7 became 8", "error forgotten: return err", "left out: a = b + 1", "left out: defer os.Exit(1)", "left out: println(a)",
	}
	if !slices.Equal(said, want) {
		t.Errorf("found\n%q, want\n%q", said, want)
	}
	if len(keys) != len(found) {
		t.Errorf("%d keys for %d faults", len(keys), len(found))
	}
}

// Outcomes are read back as they were kept.
func TestOutcomes(t *testing.T) {
	path := t.TempDir() + "/results"
	for key, outcome := range map[string]string{"p 1 \"\"": caught, "p 2 \"x\"": survived} {
		if err := keep(path, key, outcome, "TestX"); err != nil {
			t.Fatal(err)
		}
	}
	known, err := outcomes(path)
	if err != nil || len(known) != 2 || known["p 2 \"x\""] != survived {
		t.Errorf("%v, %v", known, err)
	}
}

// Of a package's files those are taken that a pattern fits, each once; a pattern that nothing fits is refused.
func TestChosenFiles(t *testing.T) {
	files := []string{"/p/apply.go", "/p/applyrecord.go", "/p/stayed.go"}
	for patterns, want := range map[string][]string{
		"":                             files,
		"stayed.go":                    files[2:],
		"apply*.go":                    files[:2],
		"stayed.go,apply*.go,apply.go": files,
		"apply?ecord.go,[a-b]pply.go":  files[:2],
		"apply*.go,/p/stayed.go":       nil,
		"missing.go":                   nil,
		"stayed.go,[":                  nil,
		"stayed.go,":                   nil,
	} {
		got, err := chosen(files, patterns)
		if !slices.Equal(got, want) || (err != nil) != (want == nil) {
			t.Errorf("%q: %q, %v; want %q", patterns, got, err, want)
		}
	}
}

// The quick tests are the shortest ones that fit into the time, as a pattern for them alone.
func TestQuickTests(t *testing.T) {
	const out = "=== RUN   TestA\n--- PASS: TestA (0.50s)\n    --- PASS: TestA/part (0.10s)\n--- PASS: TestB (0.00s)\n--- SKIP: TestC (0.00s)\n--- PASS: FuzzD (0.30s)\n--- PASS: TestE (9.00s)\nPASS\n"
	for room, want := range map[time.Duration]string{0: "^(TestB)$", time.Second: "^(TestB|FuzzD|TestA)$", time.Minute: "^(TestB|FuzzD|TestA|TestE)$"} {
		if got := quickTests(out, room); got != want {
			t.Errorf("%s: %s, want %s", room, got, want)
		}
	}
}

// Of what failed the first test is named, and a run that failed with no test has no name.
func TestFailedTest(t *testing.T) {
	for out, want := range map[string]string{
		"=== RUN   TestA\n    a_test.go:1: no\n--- FAIL: TestA (0.50s)\n--- FAIL: TestB (0.50s)\nFAIL\n": "TestA",
		"--- FAIL: TestA\n    --- FAIL: TestA/part (0.50s)\n":                                            "TestA",
		"panic: no\n": "",
	} {
		if got := failedTest(out); got != want {
			t.Errorf("%q: %q, want %q", out, got, want)
		}
	}
}
