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
	"unicode/utf8"
)

const module = "github.com/perdure/perdure"

// allowed says which packages of this module each package may import, tests apart. Imports point down: a package
// that is not listed here does not belong to any layer, which is an error too.
var allowed = map[string][]string{
	// The core.
	"internal/session":    {"internal/command", "model", "store", "internal/meter", "modelapi"},
	"internal/permission": {"internal/session", "internal/invalid"},
	"internal/command":    {},
	// Contracts.
	"store":           {},
	"store/storetest": {"internal/memory", "store"},
	"model":           {},
	"tool":            {"model"},
	"store/memory":    {"internal/memory", "store"},
	"view":            {"model", "store"},
	"internal/tools":  {"internal/command", "internal/knowledge", "internal/session", "model", "store", "tool", "internal/lineage", "internal/ignore", "internal/invalid", "internal/picture"},
	// What implements them.
	"internal/memory":             {"store"},
	"internal/sqlite":             {"internal/sys", "internal/realdir", "internal/spare", "internal/sqlite3", "store"},
	"internal/task":               {"internal/command", "internal/realdir", "store"},
	"internal/provider/api":       {"internal/provider/raw", "internal/provider/sse", "modelapi"},
	"internal/provider/raw":       {},
	"internal/provider/sse":       {},
	"internal/provider/toolid":    {"internal/session", "model", "store"},
	"internal/provider/anthropic": {"internal/provider/api", "internal/provider/raw", "internal/provider/toolid", "model", "store", "modelapi"},
	"internal/provider/openai":    {"internal/provider/api", "internal/provider/raw", "internal/provider/toolid", "model", "store", "modelapi"},
	"internal/provider/scripted":  {"internal/provider/raw", "internal/provider/toolid", "internal/session", "internal/short", "model", "store", "modelapi"},
	"internal/provider/pricing":   {"model", "internal/meter"},
	"internal/provider/connect":   {"internal/provider/anthropic", "internal/provider/api", "internal/provider/openai", "internal/provider/raw", "internal/provider/scripted", "modelapi"},
	// What advances sessions.
	"internal/window":       {"internal/session", "model", "store", "view"},
	"internal/instructions": {"internal/sys", "internal/realdir", "store"},
	"internal/engine":       {"internal/command", "internal/sys", "internal/instructions", "internal/lineage", "internal/permission", "internal/plain", "internal/realdir", "internal/session", "internal/tools", "internal/window", "model", "store", "internal/invalid", "internal/meter", "modelapi"},
	// What the binary is made of.
	"internal/handoff":            {"internal/plain", "internal/session"},
	"internal/repo":               {"internal/sys", "internal/short", "internal/realdir", "store"},
	"internal/knowledge":          {"internal/sys", "internal/handoff", "internal/plain", "internal/realdir", "internal/repo"},
	"internal/workflow":           {"internal/knowledge", "internal/permission", "internal/plain", "internal/session", "store"},
	"internal/redact":             {},
	"internal/bundle":             {"store"},
	"internal/seal":               {},
	"internal/spare":              {},
	"internal/sys":                {},
	"internal/realdir":            {"internal/sys"},
	"internal/short":              {"internal/sys"},
	"internal/tree":               {"store"},
	"internal/restore":            {"internal/tree", "store", "internal/sys"},
	"internal/sqlite3":            {},
	"internal/ports":              {"internal/sys", "internal/realdir"},
	"internal/picture":            {},
	"internal/plain":              {},
	"internal/live":               {"internal/plain", "internal/ui/theme", "internal/session", "model", "store"},
	"internal/ui/taskpanel":       {"internal/plain", "internal/ui/list", "internal/ui/theme"},
	"internal/ui/theme":           {},
	"internal/ui/list":            {"internal/plain", "internal/ui/theme"},
	"internal/ui/panels":          {"internal/plain", "internal/ui/diffview", "internal/ui/list", "internal/ui/theme"},
	"internal/ui/rewind":          {"internal/plain", "internal/ui/list", "internal/ui/theme"},
	"internal/ui/diffview":        {"internal/plain", "internal/ui/theme"},
	"internal/ui/markdown":        {"internal/plain", "internal/ui/theme"},
	"internal/settings":           {"internal/command", "internal/permission", "internal/plain", "internal/realdir", "internal/session", "model"},
	"internal/test/modeltest":     {},
	"internal/test/sim":           {"internal/command", "internal/engine", "internal/memory", "internal/permission", "internal/session", "internal/tools", "model", "store", "modelapi"},
	"internal/test/proof":         {},
	"internal/test/attack":        {},
	"internal/test/mutate":        {},
	"internal/test/needs":         {},
	"internal/test/shots":         {},
	"internal/homes":              {"internal/command", "internal/sys", "internal/bundle", "internal/engine", "internal/handoff", "internal/instructions", "internal/knowledge", "internal/permission", "internal/plain", "internal/ports", "internal/provider/connect", "internal/provider/pricing", "internal/realdir", "internal/redact", "internal/repo", "internal/session", "internal/spare", "internal/sqlite", "internal/task", "internal/tools", "internal/window", "model", "store", "view", "internal/search", "internal/workflow", "internal/learn", "internal/blob", "internal/tree", "internal/workspace", "internal/restore", "internal/capture", "internal/progress", "internal/invalid", "internal/meter", "modelapi"},
	"":                            {"internal/command", "internal/engine", "internal/homes", "internal/session", "internal/tools", "model", "store", "tool", "view", "internal/invalid", "modelapi"},
	"internal/demo":               {"internal/command", "internal/homes", "internal/live", "internal/session", "store", "view"},
	"internal/cli/process":        {},
	"internal/cli/display":        {"internal/command", "internal/plain", "internal/ui/theme", "internal/session", "view"},
	"internal/cli/app":            {"internal/cli/display", "internal/ui/theme", "internal/cli/process", "internal/engine", "internal/homes", "internal/knowledge", "internal/permission", "internal/plain", "internal/provider/connect", "internal/session", "internal/settings", "store", "view", "internal/ui/pace", "internal/sys", "internal/progress", "internal/command"},
	"internal/cli/newfile":        {"internal/cli/app"},
	"internal/cli/pending":        {"internal/cli/app", "internal/cli/display", "internal/homes", "internal/permission", "internal/plain", "internal/session", "store", "view", "internal/engine", "internal/settings", "internal/ui/asks"},
	"internal/cli/sessions":       {"internal/cli/app", "internal/cli/display", "internal/cli/pending", "internal/command", "internal/homes", "internal/session", "internal/ui/theme", "model", "store", "view", "internal/cli/background", "internal/engine", "internal/settings", "internal/meter"},
	"internal/cli/run":            {"internal/tree", "internal/workspace", "internal/cli/app", "internal/cli/display", "internal/cli/pending", "internal/cli/sessions", "internal/engine", "internal/homes", "internal/permission", "internal/plain", "internal/session", "internal/settings", "model", "store", "view", "internal/knowledge", "internal/cli/background", "internal/cli/screen", "internal/ui/chat", "internal/ui/picker", "internal/provider/connect", "internal/cli/output"},
	"internal/export":             {"internal/command", "internal/picture", "internal/plain", "internal/session", "model", "store", "view", "internal/meter"},
	"internal/cli/exporting":      {"internal/cli/app", "internal/cli/display", "internal/cli/sessions", "internal/export", "internal/homes", "internal/seal", "internal/session", "store", "internal/cli/newfile"},
	"internal/cli/importing":      {"internal/bundle", "internal/cli/app", "internal/cli/display", "internal/cli/exporting", "internal/homes", "internal/restore", "internal/seal"},
	"internal/cli/manual":         {"internal/cli/app"},
	"internal/cli/asking":         {"internal/cli/app", "internal/cli/display", "internal/cli/pending", "internal/cli/run", "internal/homes", "internal/session", "model", "store", "view", "internal/settings"},
	"internal/cli/tasks":          {"internal/cli/app", "internal/cli/display", "internal/command", "internal/engine", "internal/homes", "internal/plain", "internal/session", "internal/settings", "internal/task", "internal/ui/taskpanel", "store", "view"},
	"internal/cli/care":           {"internal/cli/app", "internal/cli/display", "internal/command", "internal/engine", "internal/homes", "internal/permission", "internal/provider/connect", "internal/realdir", "internal/session", "internal/settings", "internal/task", "store", "view"},
	"internal/cli/handoffs":       {"internal/cli/app", "internal/cli/display", "internal/handoff", "internal/homes", "internal/knowledge", "view", "internal/settings"},
	"internal/cli/notes":          {"internal/cli/app", "internal/cli/display", "internal/knowledge", "internal/homes", "internal/learn", "view"},
	"internal/cli/complete":       {"internal/cli/app", "internal/cli/display", "internal/cli/pending", "internal/cli/sessions", "internal/homes", "internal/permission", "internal/plain", "internal/session", "store", "view", "internal/search", "internal/knowledge", "internal/settings"},
	"internal/cli":                {"internal/cli/app", "internal/cli/asking", "internal/cli/care", "internal/cli/complete", "internal/cli/display", "internal/cli/exporting", "internal/cli/importing", "internal/cli/manual", "internal/cli/handoffs", "internal/cli/notes", "internal/cli/run", "internal/cli/sessions", "internal/cli/tasks", "internal/demo", "internal/homes", "internal/permission", "internal/plain", "internal/cli/lookup", "internal/cli/plans", "internal/cli/inbox", "internal/cli/background", "internal/cli/desk", "internal/cli/screen", "internal/cli/configuring", "internal/cli/files"},
	"internal/cli/clitest":        {"internal/cli", "internal/cli/app", "internal/command", "internal/engine", "internal/homes", "internal/permission", "internal/provider/scripted", "internal/session", "internal/sqlite3", "internal/task", "model", "store", "view", "modelapi"},
	"cmd/perdure":                 {"internal/cli", "internal/cli/app", "internal/cli/process", "internal/homes"},
	"internal/cli/lookup":         {"internal/cli/app", "internal/cli/display", "internal/homes", "internal/search", "internal/settings", "view"},
	"internal/search":             {"internal/sys", "internal/realdir", "internal/sqlite3"},
	"internal/learn":              {"internal/knowledge", "internal/lineage", "internal/plain", "internal/session", "store"},
	"internal/lineage":            {"internal/plain", "internal/session", "model", "store"},
	"internal/test/canary":        {},
	"internal/test/forge":         {"internal/bundle", "internal/session", "internal/tree", "store"},
	"internal/cli/screen":         {"internal/cli/process", "internal/command", "internal/homes", "internal/session", "internal/ui/panels", "model", "store", "internal/repo", "internal/ui/composer", "internal/cli/app", "internal/cli/inbox", "internal/ui/asks", "internal/ui/theme", "internal/cli/display", "internal/cli/pending", "internal/cli/sessions", "internal/engine", "internal/plain", "internal/ui/picker", "view", "internal/cli/screen/talk", "internal/cli/tasks", "internal/permission", "internal/settings", "internal/ui/chat", "internal/ui/diffview", "internal/ui/markdown", "internal/ui/notify", "internal/ui/taskpanel", "internal/ui/transcript", "internal/search", "internal/restore", "internal/tree", "internal/ui/rewind", "internal/workspace", "internal/progress", "internal/meter", "internal/cli/files", "internal/cli/screen/mention", "internal/cli/screen/sources"},
	"internal/cli/plans":          {"internal/cli/app", "internal/cli/display", "internal/engine", "internal/homes", "internal/knowledge", "internal/session", "internal/workflow", "view"},
	"internal/ui/chat":            {"internal/ui/list", "internal/ui/chooser", "internal/ui/pace", "internal/plain", "internal/ui/composer", "internal/ui/textpage", "internal/ui/theme", "internal/ui/transcript", "internal/ui/asks", "internal/ui/notify", "internal/ui/statusline"},
	"internal/ui/composer":        {"internal/plain", "internal/ui/theme"},
	"internal/ui/notify":          {"internal/plain"},
	"internal/ui/statusline":      {"internal/plain", "internal/ui/theme"},
	"internal/ui/textpage":        {"internal/ui/list", "internal/plain", "internal/ui/theme"},
	"internal/ui/transcript":      {"internal/plain", "internal/ui/theme"},
	"internal/cli/inbox":          {"internal/cli/app", "internal/cli/display", "internal/cli/pending", "internal/command", "internal/engine", "internal/homes", "internal/plain", "internal/session", "internal/ui/asks", "internal/ui/theme", "store", "view"},
	"internal/ui/asks":            {"internal/plain", "internal/ui/list", "internal/ui/theme"},
	"internal/cli/background":     {"internal/cli/app", "internal/cli/display", "internal/homes", "internal/provider/connect", "internal/realdir", "internal/session", "store"},
	"internal/ui/board":           {"internal/plain", "internal/ui/list", "internal/ui/markdown", "internal/ui/theme"},
	"internal/ui/chooser":         {"internal/plain", "internal/ui/list", "internal/ui/theme"},
	"internal/ui/picker":          {"internal/plain", "internal/ui/list", "internal/ui/theme"},
	"internal/cli/screen/talk":    {"internal/plain", "internal/session", "internal/ui/chat", "internal/ui/diffview", "internal/ui/transcript", "model", "store", "internal/ui/composer", "modelapi"},
	"internal/cli/desk":           {"internal/cli/app", "internal/cli/background", "internal/cli/display", "internal/cli/pending", "internal/cli/sessions", "internal/homes", "internal/session", "internal/ui/board", "internal/ui/theme", "model", "store", "view"},
	"internal/cli/configuring":    {"internal/cli/app", "internal/cli/display", "internal/provider/connect", "internal/settings"},
	"internal/ui/pace":            {"internal/ui/theme"},
	"internal/blob":               {"internal/sys", "store"},
	"internal/ignore":             {},
	"internal/capture":            {"internal/blob", "internal/ignore", "internal/tree", "store"},
	"internal/workspace":          {"internal/sys", "internal/blob", "internal/capture", "internal/engine", "internal/repo", "internal/session", "store", "internal/restore", "internal/tree", "internal/linemerge", "internal/progress"},
	"internal/cli/files":          {"internal/ui/theme", "internal/cli/app", "internal/cli/display", "internal/cli/sessions", "internal/homes", "internal/plain", "internal/restore", "internal/session", "internal/tree", "internal/workspace", "store", "internal/cli/newfile"},
	"tool/tooltest":               {"model", "tool"},
	"internal/linemerge":          {},
	"internal/progress":           {"internal/plain"},
	"internal/cli/output":         {"internal/cli/app", "internal/cli/display", "internal/engine", "internal/homes", "internal/live", "internal/session", "model", "view", "internal/meter"},
	"internal/invalid":            {},
	"internal/meter":              {"model"},
	"modelapi":                    {"model"},
	"modelapi/providertest":       {"model", "modelapi"},
	"internal/cli/screen/mention": {"internal/picture", "internal/repo", "internal/ui/composer"},
	"internal/cli/screen/sources": {"internal/homes", "internal/session", "internal/tree", "internal/ui/panels", "model", "store"},
	"bench":                       {},
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
		if name != "internal/session" && name != "store" && name != "internal/sqlite" {
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

// eachLine looks at the lines of all Go files whose names end in this.
func eachLine(t *testing.T, end string, look func(path string, n int, line string)) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, end) || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		for i, line := range strings.Split(string(text), "\n") {
			look(path, i+1, line)
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Errorf("%d files, %v", files, err)
	}
}

// Goal: no test is left out in silence. What it lacks goes through package needs, which fails where CI=true is set.
func TestNothingIsSkippedInSilence(t *testing.T) {
	skips := regexp.MustCompile(`\b(t|b|tb)\.Skip(f|Now)?\(`)
	eachLine(t, "_test.go", func(path string, n int, line string) {
		if strings.HasPrefix(path, filepath.Join("internal", "test", "needs")) {
			return
		}
		if skips.MatchString(line) && !strings.Contains(line, "MustCompile") {
			t.Errorf("%s:%d: %s: see package internal/test/needs", path, n, strings.TrimSpace(line))
		}
	})
	if !skips.MatchString("\tt.Skip(\"no\")") || skips.MatchString("f.Skip(50)") {
		t.Error("the pattern finds nothing")
	}
}

// Goal: comments fit a screen of 120 columns, with tabs of four. What is set off in them by a tab, or is the output of
// an example, is as wide as it is.
func TestCommentsFitAScreen(t *testing.T) {
	wide := func(line string) bool {
		text := strings.TrimLeft(line, "\t")
		return strings.HasPrefix(text, "// ") && !strings.HasPrefix(text, "// Output: ") && utf8.RuneCountInString(text)+4*(len(line)-len(text)) > 124
	}
	eachLine(t, ".go", func(path string, n int, line string) {
		if wide(line) {
			t.Errorf("%s:%d: the comment is too wide", path, n)
		}
	})
	if !wide("\t// "+strings.Repeat("word ", 24)) || wide("//\t"+strings.Repeat("word ", 40)) || wide("code // "+strings.Repeat("word ", 40)) {
		t.Error("wide and narrow comments are not told apart")
	}
}
