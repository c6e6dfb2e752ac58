// Command mutate plants one small fault at a time into a package and runs the package's own tests: a fault that they do
// not notice is printed. The quick tests run first, and the others only for what those let pass. It changes no file of
// the tree: the go command is given an overlay. What was tried is kept in a file and not tried again, so that a run of
// hours can be interrupted.
//
//	go run ./internal/test/mutate -seed 1 -max 50 ./internal/session ./internal/sqlite
//	go run ./internal/test/mutate -files 'readonly*.go,onlyreads.go' ./internal/permission
//
// A survivor may be equivalent to what it replaces. Whoever looks at it decides that, not this program.
//
// A fault in internal/task may have its tests end processes that are none of theirs. Let it run among processes of its own,
// with a shell as process 1, which reaps:
//
//	unshare --pid --fork --mount-proc sh -c 'make mutate MUTATE_PKG=./internal/task; true'
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The outcomes of a planted fault.
const (
	caught   = "caught"   // a test failed
	slow     = "slow"     // the tests did not end: a fault that hangs, or a machine that is busier than it was at first
	survived = "survived" // all tests passed
	invalid  = "invalid"  // it does not compile
	unbuilt  = "unbuilt"  // the build failed by itself: this one is not kept, and tried again by the next run
)

func main() {
	seed := flag.Uint64("seed", 1, "order in which faults are planted")
	most := flag.Int("max", 100, "faults for each package; 0 is all of them")
	kept := flag.String("results", ".mutate.tsv", "file in which outcomes are kept")
	only := flag.String("files", "", "plant into these files of the packages alone: patterns of their names, parted by commas")
	skip := flag.String("skip", "", "tests that are left out, as for go test: a survivor may be what these would catch")
	these := flag.String("run", "", "tests that are run alone, as for go test")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for _, pkg := range flag.Args() {
		if err := run(ctx, &trial{pkg: pkg, these: *these, skip: *skip}, *only, *kept, *seed, *most); err != nil {
			fmt.Fprintln(os.Stderr, "mutate:", err)
			os.Exit(1)
		}
	}
}

// run plants faults into one package and prints its score.
func run(ctx context.Context, t *trial, only, kept string, seed uint64, most int) error {
	pkg := t.pkg
	t.ctx = ctx
	files, err := sources(ctx, pkg)
	if err == nil {
		files, err = chosen(files, only)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", pkg, err)
	}
	var all []fault
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found, err := faults(path, b)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if most > 0 && most < len(all) {
		all = all[:most]
	}
	known, err := outcomes(kept)
	if err != nil {
		return err
	}
	counts, inRow := map[string]int{}, 0
	for _, f := range all {
		outcome := known[f.key(pkg)]
		if outcome == "" {
			var by string
			if outcome, by, err = t.try(f); err == nil {
				inRow = 0
				err = keep(kept, f.key(pkg), outcome, by)
			} else if _, ok := errors.AsType[*unbuiltError](err); ok {
				if inRow++; inRow < mostUnbuilt {
					fmt.Fprintf(os.Stderr, "mutate: %s: %v\n", f.place(), err)
					outcome, err = unbuilt, nil
				}
			}
			if err != nil {
				return err
			}
		}
		if counts[outcome]++; outcome == survived {
			fmt.Printf("%s: survived: %s\n", f.place(), f.what)
		}
	}
	noticed := counts[caught] + counts[slow]
	tried := noticed + counts[survived]
	fmt.Printf("%s: %d of %d planted faults were caught (%.0f %%), %d of them since the tests did not end; %d did not compile; "+
		"%d were not tried, since the build failed by itself; seed %d\n",
		pkg, noticed, tried, 100*float64(noticed)/float64(max(tried, 1)), counts[slow], counts[invalid], counts[unbuilt], seed)
	return nil
}

// sources names a package's files that are built here, without its tests.
func sources(ctx context.Context, pkg string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=Dir,GoFiles", pkg)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", pkg, err)
	}
	var listed struct {
		Dir     string
		GoFiles []string
	}
	if err := json.Unmarshal(out, &listed); err != nil {
		return nil, err
	}
	for i, name := range listed.GoFiles {
		listed.GoFiles[i] = filepath.Join(listed.Dir, name)
	}
	return listed.GoFiles, nil
}

// chosen are the files whose names fit one of the patterns, or all of them if there is no pattern. A pattern that nothing
// fits is an error: a run that planted nothing would look like a good one.
func chosen(files []string, patterns string) ([]string, error) {
	if patterns == "" {
		return files, nil
	}
	var fit []string
	for pattern := range strings.SplitSeq(patterns, ",") {
		before := len(fit)
		for _, path := range files {
			ok, err := filepath.Match(pattern, filepath.Base(path))
			if err != nil {
				return nil, fmt.Errorf("%q: %w", pattern, err)
			}
			if ok {
				fit = append(fit, path)
			}
		}
		if len(fit) == before {
			return nil, fmt.Errorf("no file is called %q", pattern)
		}
	}
	slices.Sort(fit)
	return slices.Compact(fit), nil
}

// outcomes reads what earlier runs found.
func outcomes(path string) (map[string]string, error) {
	known := map[string]string{}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // It was only read.
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if key, outcome, ok := strings.Cut(lines.Text(), "\t"); ok {
			known[key], _, _ = strings.Cut(outcome, "\t")
		}
	}
	return known, lines.Err()
}

// keep adds a line: the fault, what became of it, and the test that noticed it.
func keep(path, key, outcome, by string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s\t%s\t%s\n", key, outcome, by)
	return errors.Join(err, f.Close())
}

// trial runs a package's tests: of each fault the quick ones first, which notice most.
type trial struct {
	ctx    context.Context
	pkg    string
	these  string        // tests that are run alone, as a pattern; empty: all
	skip   string        // tests that are left out, as a pattern
	dir    string        // of the package, where its tests run
	normal time.Duration // what all tests take without a fault; 0 before the first
	quick  string        // the tests, as a pattern, that together take a small part of it
}

// quickPart is how small, and quickMost how long at most, the quick tests are together.
const (
	quickPart = 10
	quickMost = 20 * time.Second
)

// begin runs the tests without a fault.
func (t *trial) begin(scratch string) error {
	out, err := exec.CommandContext(t.ctx, "go", "list", "-f", "{{.Dir}}", t.pkg).Output()
	if err != nil {
		return fmt.Errorf("go list %s: %w", t.pkg, err)
	}
	t.dir = strings.TrimSpace(string(out))
	binary := filepath.Join(scratch, "tests")
	if out, err := t.build(binary, ""); err != nil {
		return fmt.Errorf("the tests of %s do not build: %w\n%s", t.pkg, err, out)
	}
	begun := time.Now()
	if out, err = t.test(30*time.Minute, binary, "-test.v", "-test.run="+t.these, "-test.skip="+t.skip); err != nil {
		return fmt.Errorf("the tests of %s fail without a fault: %w\n%s", t.pkg, err, out)
	}
	t.normal = time.Since(begun)
	t.quick = quickTests(string(out), min(t.normal/quickPart, quickMost))
	return nil
}

// quickTests reads from what the tests print how long each takes, and gives a pattern for as many as fit into the time,
// the shortest first.
func quickTests(out string, room time.Duration) string {
	type timed struct {
		name  string
		taken time.Duration
	}
	var tests []timed
	for line := range strings.Lines(out) {
		rest, ok := strings.CutPrefix(line, "--- PASS: ")
		name, figure, _ := strings.Cut(strings.TrimSpace(rest), " (")
		taken, err := time.ParseDuration(strings.TrimSuffix(figure, ")"))
		if ok && err == nil {
			tests = append(tests, timed{name, taken})
		}
	}
	slices.SortStableFunc(tests, func(a, b timed) int { return cmp.Compare(a.taken, b.taken) })
	var names []string
	for _, test := range tests {
		if room -= test.taken; room < 0 {
			break
		}
		names = append(names, test.name)
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// failedTest reads from what the tests print which one failed first.
func failedTest(out string) string {
	for line := range strings.Lines(out) {
		if _, rest, ok := strings.Cut(line, "--- FAIL: "); ok {
			name, _, _ := strings.Cut(rest, " ")
			return strings.TrimSpace(name)
		}
	}
	return ""
}

// try runs the tests with a fault, and says which one noticed it. One that makes them take five times as long is caught.
func (t *trial) try(f fault) (outcome, by string, err error) {
	dir, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return "", "", err
	}
	defer func() { _ = os.RemoveAll(dir) }() // What stays is in the directory for such things.
	if t.normal == 0 {
		if err := t.begin(dir); err != nil {
			return "", "", err
		}
	}
	changed, overlay, binary := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "tests")
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{f.path: changed}})
	if err == nil {
		err = errors.Join(os.WriteFile(changed, f.planted(), 0o600), os.WriteFile(overlay, text, 0o600))
	}
	if err != nil {
		return "", "", err
	}
	if out, err := t.build(binary, overlay); t.ctx.Err() != nil {
		return "", "", t.ctx.Err()
	} else if err != nil && !refusedGo(err, out) {
		return "", "", &unbuiltError{err, out}
	} else if err != nil {
		return invalid, "", nil
	}
	limit := 5*t.normal + 10*time.Second
	skip := t.quick
	if t.skip != "" {
		skip += "|" + t.skip
	}
	begun := time.Now()
	out, err := t.test(limit, binary, "-test.run="+t.quick)
	if err == nil {
		begun = time.Now()
		out, err = t.test(limit, binary, "-test.run="+t.these, "-test.skip="+skip)
	}
	switch {
	case t.ctx.Err() != nil:
		return "", "", t.ctx.Err()
	case err != nil && time.Since(begun) >= limit:
		return slow, failedTest(string(out)), nil
	case err != nil:
		return caught, failedTest(string(out)), nil
	}
	return survived, "", nil
}

// build makes the package's test binary.
func (t *trial) build(binary, overlay string) ([]byte, error) {
	return exec.CommandContext(t.ctx, "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, t.pkg).CombinedOutput()
}

// test runs it where go test would.
func (t *trial) test(limit time.Duration, binary string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(t.ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, append([]string{"-test.short", "-test.failfast", "-test.timeout=" + limit.String()}, args...)...)
	cmd.Dir, cmd.WaitDelay = t.dir, time.Second
	return cmd.CombinedOutput()
}
