package perdure_test

import (
	"go/parser"
	gotoken "go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure"
)

// programs are the complete programs of the README.
func programs(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, block := range strings.Split(string(b), "```go\n")[1:] {
		if code, _, ended := strings.Cut(block, "\n```"); ended && strings.HasPrefix(code, "package main") {
			out = append(out, code+"\n")
		}
	}
	return out
}

// mainLines counts the lines of a program's main function that say something.
func mainLines(code string) (n int) {
	_, body, _ := strings.Cut(code, "\nfunc main() {\n")
	for line := range strings.Lines(body) {
		if line == "}\n" {
			return n
		}
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			n++
		}
	}
	return n
}

// The programs of the README build and run as they stand there. The first one is small, and needs nothing.
func TestProgramsOfTheReadme(t *testing.T) {
	all := programs(t)
	if len(all) < 2 {
		t.Fatalf("the README has %d programs", len(all))
	}
	if n := mainLines(all[0]); n > 10 {
		t.Errorf("the first program has %d lines in main", n)
	}
	for i, code := range all {
		dir := t.TempDir()
		file := filepath.Join(dir, "main.go")
		if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(gotoken.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range parsed.Imports {
			if path := strings.Trim(imp.Path.Value, `"`); strings.Contains(path, ".") && path != module {
				t.Errorf("program %d imports %s", i, path)
			}
		}
		exe := filepath.Join(dir, "program")
		if out, err := exec.Command("go", "build", "-o", exe, file).CombinedOutput(); err != nil {
			t.Fatalf("program %d: %v\n%s", i, err, out)
		}
		for range 2 {
			cmd := exec.Command(exe)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "PERDURE_HOME="+filepath.Join(dir, "home"))
			if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "error") {
				t.Errorf("program %d: %v\n%s", i, err, out)
			}
		}
		if i == 0 {
			keptOne(t, filepath.Join(dir, "home"))
		}
	}
}

// keptOne looks for the session that the first program keeps.
func keptOne(t *testing.T, dir string) {
	t.Helper()
	h, err := perdure.Open(t.Context(), dir, perdure.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	if v, err := h.View(t.Context(), "my-agent", false); err != nil || v.Head.Seq < 4 || len(v.Faults) > 0 {
		t.Errorf("kept: %+v, %v", v, err)
	}
}
