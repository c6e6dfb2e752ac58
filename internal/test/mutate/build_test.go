package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// toolchain puts a go command into the place of the real one: it has one package of one file, whose tests pass, and with a
// fault planted it builds as the script says.
func toolchain(t *testing.T, build string) (kept string) {
	t.Helper()
	dir := t.TempDir()
	script := fmt.Sprintf(`#!/bin/sh
case "$1 $2" in
"list -json=Dir,GoFiles") echo '{"Dir":"%[1]s","GoFiles":["p.go"]}'; exit ;;
"list -f") echo '%[1]s'; exit ;;
esac
overlay= binary=
while [ $# -gt 0 ]; do
	case "$1" in
	-overlay) overlay=$2 ;;
	-o) binary=$2 ;;
	esac
	shift
done
if [ -n "$overlay" ]; then
	%[2]s
fi
printf '#!/bin/sh\necho "--- PASS: TestP (0.00s)"\n' >"$binary"
chmod 700 "$binary"
`, dir, build)
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "p.go"), []byte(sample), 0o600), os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o700)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return filepath.Join(dir, "results.tsv")
}

// Goal: a fault that does not compile is none; where the build failed by itself, nothing is known of the fault, so that
// it is tried again, and where that goes on the run ends with what was said.
func TestAFailedBuildSaysNothingOfAFault(t *testing.T) {
	for name, c := range map[string]struct {
		build string
		most  int
		ends  string // what the error says; empty: there is none
		kept  string // outcome of each fault; empty: none is known
	}{
		"no Go":            {`printf '# p\n./p.go:9:2: declared and not used: x\n' >&2; exit 1`, 4, "", invalid},
		"builds":           {`:`, 4, "", survived},
		"killed compiler":  {`echo 'p: /usr/lib/go/pkg/tool/linux_amd64/compile: signal: killed' >&2; exit 1`, 4, "signal: killed", ""},
		"killed command":   {`kill -9 $$`, 4, "signal: killed", ""},
		"full disk":        {`printf '# p\n./p.go:9:2: write /tmp/go-build1/b001/_pkg_.a: no space left on device\n' >&2; exit 1`, 4, "no space left", ""},
		"out of memory":    {`printf '# p\nfatal error: runtime: out of memory\n./p.go:1:1: x\n' >&2; exit 2`, 4, "out of memory", ""},
		"a failure or two": {`echo 'go: open x: too many open files' >&2; exit 1`, mostUnbuilt - 1, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			kept := toolchain(t, c.build)
			err := run(t.Context(), &trial{pkg: "p"}, "", kept, 1, c.most)
			if (err == nil) != (c.ends == "") || err != nil && !strings.Contains(err.Error(), c.ends) {
				t.Errorf("it ends with %v, want %q", err, c.ends)
			}
			known, err := outcomes(kept)
			if err != nil || (len(known) == 0) != (c.kept == "") {
				t.Errorf("known: %v, %v", known, err)
			}
			for fault, outcome := range known {
				if outcome != c.kept {
					t.Errorf("%s: %s, want %s", fault, outcome, c.kept)
				}
			}
		})
	}
}
