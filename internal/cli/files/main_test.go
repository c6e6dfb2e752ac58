package files_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m) }

// project is a directory below the user's home in which sessions work.
type project struct {
	*clitest.World
	dir string
}

func newProject(t *testing.T) *project {
	t.Helper()
	p := &project{World: clitest.New(t)}
	p.dir = filepath.Join(p.Dir, "project")
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p.App.Dir = p.dir
	return p
}

func (p *project) write(name, text string) {
	p.T.Helper()
	clitest.WriteFile(p.T, filepath.Join(p.dir, name), text)
}

// files are the names in the project with what they hold, links and directories too.
func (p *project) files() map[string]string {
	p.T.Helper()
	out := map[string]string{}
	err := filepath.Walk(p.dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || path == p.dir {
			return err
		}
		rel := strings.TrimPrefix(path, p.dir+"/")
		switch mode := info.Mode(); {
		case mode.IsDir():
			out[rel] = "directory " + mode.Perm().String()
		case mode&os.ModeSymlink != 0:
			to, err := os.Readlink(path)
			out[rel] = "link " + to
			return err
		default:
			b, err := os.ReadFile(path)
			out[rel] = mode.Perm().String() + " " + string(b)
			return err
		}
		return nil
	})
	if err != nil {
		p.T.Fatal(err)
	}
	return out
}

// same fails if the project is not what it was.
func (p *project) same(what string, want map[string]string) {
	p.T.Helper()
	got := p.files()
	for name, text := range want {
		if got[name] != text {
			p.T.Errorf("%s: %s is %q, want %q", what, name, got[name], text)
		}
	}
	for name, text := range got {
		if _, ok := want[name]; !ok {
			p.T.Errorf("%s: %s is there, %q", what, name, text)
		}
	}
	if p.T.Failed() {
		p.T.FailNow()
	}
}

// script is a model that runs one command for each prompt, by the prompt's word.
func script(t *testing.T, commands map[string]string) string {
	t.Helper()
	type call struct {
		Name  string            `json:"name"`
		Input map[string]string `json:"input"`
	}
	type step struct {
		Tools []call `json:"tools,omitempty"`
		Text  string `json:"text,omitempty"`
	}
	type turn struct {
		Match string `json:"match"`
		Steps []step `json:"steps"`
	}
	var turns []turn
	for word, command := range commands {
		turns = append(turns, turn{word, []step{{Tools: []call{{"Bash", map[string]string{"command": command}}}}, {Text: "done"}}})
	}
	b, err := json.Marshal(map[string]any{"turns": turns})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// run runs one prompt of session s.
func (p *project) run(model, word string) {
	p.T.Helper()
	args := []string{"-p", "--dangerously-skip-permissions", "--model", model}
	if p.Run("show", "s", "--json").Code == 0 {
		args = append(args, "-r", "s")
	} else {
		args = append(args, "--session-id", "s")
	}
	if out := p.OK(append(args, word)...); out != "done\n" {
		p.T.Fatalf("%s: %q", word, out)
	}
}
