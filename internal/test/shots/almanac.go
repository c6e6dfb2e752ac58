package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// files are the example: a small project with a bug, the person's configuration, and what the model says.
var files = map[string]string{
	"almanac/go.mod":    "module example.org/almanac\n\ngo 1.26\n",
	"almanac/README.md": "# almanac\n\nReads dates as people write them.\n",
	"almanac/parse.go": `// Package almanac reads dates as people write them.
package almanac

import "fmt"

// Date is a day of the calendar.
type Date struct{ Year, Month, Day int }

// Parse reads "24.12.2026" and "24.12.26".
func Parse(s string) (Date, error) {
	var day, month, year int
	if _, err := fmt.Sscanf(s, "%d.%d.%d", &day, &month, &year); err != nil {
		return Date{}, fmt.Errorf("no date: %q", s)
	}
	return Date{year, month, day}, nil
}
`,
	"almanac/parse_test.go": `package almanac

import "testing"

func TestParse(t *testing.T) {
	for _, text := range []string{"24.12.2026", "24.12.26"} {
		if got, err := Parse(text); err != nil || got != (Date{2026, 12, 24}) {
			t.Errorf("Parse(%q) = %v, %v", text, got, err)
		}
	}
}
`,
	"config/perdure/config.toml": "model = \"scripted/" + place + "/model\"\n\n[windows]\n\"scripted/" + place + "/model\" = 200000\n",
	"model":                      script,
	"notes/todo.md":              "Look at the moon.\n",
}

// lay writes the example below a directory.
func lay(dir string) error {
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, place, dir)), 0o600); err != nil {
			return err
		}
	}
	git := exec.Command("sh", "-c", "git init -q -b main . && git add . && git -c user.name=Ada -c user.email=ada@example.org commit -qm 'Read dates'")
	git.Dir = filepath.Join(dir, "almanac")
	if out, err := git.CombinedOutput(); err != nil {
		return fmt.Errorf("git: %w: %s", err, out)
	}
	return nil
}

const script = `{"turns": [
{"match": "years of two digits", "steps": [
  {"thinking": "26 has to become 2026. Let me see how the year is read.", "text": "I look at the parser first.", "delay_ms": 60, "tools": [
    {"name": "TodoWrite", "input": {"todos": [
      {"content": "Find where the year is read", "status": "in_progress", "activeForm": "Finding where the year is read"},
      {"content": "Read years of two digits", "status": "pending", "activeForm": "Reading years of two digits"},
      {"content": "Run the tests", "status": "pending", "activeForm": "Running the tests"}]}},
    {"name": "Read", "input": {"file_path": "parse.go"}}]},
  {"text": "` + "`Parse` takes the year as it stands, so `26` stays 26." + `", "delay_ms": 60, "tools": [
    {"name": "Edit", "input": {"file_path": "parse.go",
      "old_string": "\treturn Date{year, month, day}, nil",
      "new_string": "\tif year < 100 {\n\t\tyear += 2000 // of this century\n\t}\n\treturn Date{year, month, day}, nil"}}]},
  {"delay_ms": 60, "tools": [{"name": "Bash", "input": {"command": "go vet ./... && go test ./...", "description": "Run the tests"}}]},
  {"delay_ms": 60, "tools": [{"name": "TodoWrite", "input": {"todos": [
      {"content": "Find where the year is read", "status": "completed", "activeForm": "Finding where the year is read"},
      {"content": "Read years of two digits", "status": "completed", "activeForm": "Reading years of two digits"},
      {"content": "Run the tests", "status": "completed", "activeForm": "Running the tests"}]}}]},
  {"text": "Years of two digits are of this century now:\n\n| text | date |\n|---|---|\n| ` + "`24.12.26` | 2026-12-24 |\\n| `24.12.2026`" + ` | 2026-12-24 |\n\n**All tests pass.** Four-digit years are read as before.", "delay_ms": 60}]},
{"match": "names of the months", "steps": [{"text": "The README lists January to December now."}]},
{"match": "leap years", "steps": [{"text": "Every fourth year, but for those that 100 divides and 400 does not."}]},
{"match": "Take a note", "steps": [{"text": "Noted."}]},
{"match": "Publish the release", "steps": [
  {"text": "Everything is ready. I push the tag.", "tools": [{"name": "Bash", "input": {"command": "git tag v1.0.0 && git push origin v1.0.0", "description": "Push the tag"}}]},
  {"text": "Published."}]},
{"match": "400 years", "steps": [
  {"text": "I check each day, century by century.", "tools": [{"name": "Bash", "input": {"command": "for y in $(seq 2000 2400); do echo $y ok; sleep 1; done", "description": "Check all days"}}]},
  {"text": "All days are right."}]}
]}
`
