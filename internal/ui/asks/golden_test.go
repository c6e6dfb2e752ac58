package asks

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

var rewrite = flag.Bool("rewrite", false, "write the golden frames anew")

// The frames that people see, at three sizes.
func TestFrames(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 12}, {120, 40}} {
		var b strings.Builder
		frame := func(name string, m *Model) {
			fmt.Fprintf(&b, "=== %s\n", name)
			for line := range strings.Lines(ansi.Strip(m.View()) + "\n") {
				b.WriteString(strings.TrimRight(line, " \n") + "\n")
			}
		}
		f := &fake{clock: testNow, details: map[string]Detail{}, became: "denied by anna"}
		a, d := approval("a1", "cd web && npm test | tee log > 'ファイル 1'")
		d.Rows = append(d.Rows, Row{Aside, "  which runs"}, Row{Step, "    cd web"}, Row{Step, "    npm test"}, Row{Step, "    | tee log   writes 'ファイル 1'"})
		f.add(a, d)
		e, ed := approval("a2", "Edit main.go")
		ed.Rows = []Row{{About, "Edit"}, {About, "works on /p/main.go"}, {Aside, "  @@ -1,3 +1,3 @@"}, {Removed, "  -\tprintln(\"hello\")"}, {Added, "  +\tprintln(\"こんにちは 👩‍👩‍👧\")"}}
		ed.Wider, ed.Project = Rule{}, ""
		f.add(e, ed)
		f.add(question("q1", "Which database should the new service use? The old one is out of support.", "PostgreSQL 17", "stay with MySQL", "SQLite, as long as one process writes"))
		m := paged(f, size[0], size[1], false)
		m.SetSize(size[0], m.Height(size[1]))
		frame("strip", m)
		f.do(m, m.Focus())
		m.SetSize(size[0], m.Height(size[1]*2/3))
		frame("just opened", m)
		f.read(m)
		f.press(m, "right", "right")
		frame("an answer is selected", m)
		f.press(m, "esc", "w", "嫌", "!")
		frame("words", m)
		f.press(m, "esc", "tab")
		m.SetSize(size[0], m.Height(size[1]*2/3))
		f.read(m)
		frame("edit", m)
		f.press(m, "tab", "down")
		m.SetSize(size[0], m.Height(size[1]*2/3))
		f.read(m)
		frame("question", m)
		f.asks = f.asks[:2]
		f.do(m, m.Refresh())
		frame("gone", m)
		f.add(Ask{ID: "n1", Kind: Notice, Session: "s3", Title: "買い物", Line: "the model call failed: 401", Asked: testNow}, Detail{Rows: []Row{{Warning, "the model call failed: 401 unauthorized"}}, Hint: "perdure -p --resume s3"})
		p := paged(f, size[0], size[1], true)
		frame("page", p)
		f.press(p, "k")
		frame("page, a notice", p)
		f.press(p, "?")
		frame("help", p)
		path := filepath.Join("testdata", fmt.Sprintf("frames%dx%d.golden", size[0], size[1]))
		if *rewrite {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || string(want) != b.String() {
			t.Errorf("%s differs (rewrite with -rewrite): %v\n%s", path, err, b.String())
		}
	}
}
