package perdure_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/perdure/perdure"

// allowed says which packages of this module each package may import, tests apart. Imports point down: a package
// that is not listed here does not belong to any layer, which is an error too.
var allowed = map[string][]string{
	// The core.
	"session":    {},
	"permission": {"session"},
	// Contracts.
	"store":           {"session"},
	"store/storetest": {"session", "store", "store/memory"},
	"model":           {"session"},
	"tool":            {"session"},
	// What implements them.
	"store/memory":                {"session", "store"},
	"store/sqlite":                {"internal/realdir", "internal/spare", "internal/sqlite3", "session", "store"},
	"internal/task":               {"internal/realdir", "session"},
	"internal/provider/api":       {"internal/provider/raw", "model", "session", "internal/provider/sse"},
	"internal/provider/raw":       {"session", "model"},
	"internal/provider/sse":       {"model"},
	"internal/provider/toolid":    {"session", "model"},
	"internal/provider/anthropic": {"model", "session", "internal/provider/api", "internal/provider/raw", "internal/provider/sse", "internal/provider/toolid"},
	"internal/provider/openai":    {"model", "session", "internal/provider/api", "internal/provider/raw", "internal/provider/sse", "internal/provider/toolid"},
	"internal/provider/scripted":  {"model", "session", "internal/provider/api", "internal/provider/raw", "internal/provider/toolid"},
	"internal/provider/pricing":   {"session"},
	"internal/provider/connect":   {"model", "internal/provider/api", "internal/provider/raw", "internal/provider/anthropic", "internal/provider/openai", "internal/provider/scripted"},
	// What advances sessions.
	"internal/engine": {"internal/realdir", "session", "permission", "store", "model", "tool"},
	// What the binary is made of.
	"internal/redact":         {},
	"internal/spare":          {},
	"internal/realdir":        {},
	"internal/sqlite3":        {},
	"internal/ports":          {"internal/realdir"},
	"internal/plain":          {},
	"internal/live":           {"internal/plain", "session"},
	"internal/ui/taskpanel":   {"internal/plain"},
	"internal/settings":       {"internal/plain", "permission", "session"},
	"internal/test/modeltest": {},
	"internal/test/sim":       {"internal/engine", "model", "permission", "session", "store", "store/memory", "tool"},
	"internal/test/proof":     {"session"},
	"internal/test/attack":    {},
	"internal/test/mutate":    {},
	"internal/test/needs":     {},
	"":                        {"internal/engine", "internal/ports", "internal/realdir", "internal/redact", "internal/spare", "model", "internal/provider/connect", "internal/provider/pricing", "session", "store", "store/sqlite", "internal/task", "tool", "permission"},
	"internal/cli":            {"", "internal/engine", "internal/realdir", "internal/settings", "internal/provider/connect", "permission", "session", "store", "store/sqlite", "internal/task", "internal/demo", "internal/live", "internal/plain", "internal/ui/taskpanel"},
	"internal/demo":           {"", "internal/live", "session"},
	"cmd/perdure":             {"", "internal/cli"},
	"bench":                   {},
}

// heavy names dependencies that the core and the store must not pull in.
var heavy = []string{"cobra", "anthropic", "openai", "charm.land", "modelcontextprotocol", "mvdan.cc/sh"}

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,Deps", "./...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v: %s", err, stderr.String())
	}
	var ps []pkg
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return ps
		} else if err != nil {
			t.Fatal(err)
		}
		ps = append(ps, p)
	}
}

func local(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, module)
	return strings.TrimPrefix(rest, "/"), ok
}

// Imports follow the layers, and every package has a place in them.
func TestLayers(t *testing.T) {
	for _, p := range packages(t) {
		name, _ := local(p.ImportPath)
		may, listed := allowed[name]
		if !listed {
			t.Errorf("package %q has no layer: add it to the map, or move it", name)
			continue
		}
		for _, imp := range p.Imports {
			if dep, ok := local(imp); ok && !slices.Contains(may, dep) {
				t.Errorf("%q imports %q, which is not below it", name, dep)
			}
		}
	}
}

// A session can be kept without a provider, a terminal UI or a shell parser.
func TestStoreStaysLight(t *testing.T) {
	for _, p := range packages(t) {
		name, _ := local(p.ImportPath)
		if name != "session" && name != "store" && name != "store/sqlite" {
			continue
		}
		for _, dep := range p.Deps {
			for _, h := range heavy {
				if strings.Contains(dep, h) {
					t.Errorf("%s pulls in %s", name, dep)
				}
			}
		}
	}
}

// A program may link any database/sql driver under any name: nothing of this module registers one.
func TestNoDatabaseDriverIsLinked(t *testing.T) {
	for _, p := range packages(t) {
		if slices.Contains(p.Deps, "database/sql") {
			t.Errorf("%s pulls in database/sql", p.ImportPath)
		}
	}
}

// Goal: no test is left out in silence. What it lacks goes through package needs, which fails where CI=true is set.
func TestNothingIsSkippedInSilence(t *testing.T) {
	skips := regexp.MustCompile(`\b(t|b|tb)\.Skip(f|Now)?\(`)
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, filepath.Join("internal", "test", "needs")) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		for i, line := range strings.Split(string(text), "\n") {
			if skips.MatchString(line) && !strings.Contains(line, "MustCompile") {
				t.Errorf("%s:%d: %s: see package internal/test/needs", path, i+1, strings.TrimSpace(line))
			}
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Errorf("%d files, %v", files, err)
	}
	if !skips.MatchString("\tt.Skip(\"no\")") || skips.MatchString("f.Skip(50)") {
		t.Error("the pattern finds nothing")
	}
}
