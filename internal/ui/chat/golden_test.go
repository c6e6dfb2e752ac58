package chat

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/ui/asks"
	"github.com/perdure/perdure/internal/ui/transcript"
)

var rewrite = flag.Bool("rewrite", false, "write the golden frames anew")

// The screens that people see, at three sizes.
func TestFrames(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 12}} {
		var b strings.Builder
		at(t, size[0], size[1], nil, func(p *person) {
			frame := func(name string) { fmt.Fprintf(&b, "=== %s\n%s", name, p.screen()) }
			frame("nothing yet")
			call := transcript.Item{ID: CallID("a1"), Kind: transcript.Tool, Call: transcript.Call{Act: "a1", Name: "Bash", About: "make test", State: transcript.Running, Started: time.Now()}}
			p.send(Changed{Items: []transcript.Item{
				{ID: "t1", Text: "直して: the build is red", With: []string{"image/png 3.0 KiB"}},
				{ID: "k1", Kind: transcript.Thinking, Text: "let me see"},
				{ID: "s1", Kind: transcript.Text, Text: "I look at `main.go`:\n\n- one\n- two"},
				{ID: CallID("a0"), Kind: transcript.Tool, Call: transcript.Call{Act: "a0", Name: "Edit", About: "main.go", State: transcript.Done, Outcome: "+1 -1", Diff: []transcript.Diff{{Name: "main.go", Old: "a\nb\n", New: "a\nc\n"}}}},
				call,
			}, Stand: working()})
			frame("it works")
			p.press("tab", "up", "enter")
			frame("browse, an edit is open")
			p.press("esc")
			p.send(Changed{Queues: true, Queue: []Queued{{Key: "q1", Text: "and then"}, {Key: "q2", Text: "and after that the documentation"}}})
			p.s.waits = []asks.Ask{{ID: "w1", Kind: asks.Approval, Line: "Bash make install", Asked: time.Now()}}
			p.send(Changed{Stand: stand(func(s *Stand) { s.Waits, s.Halted = 1, "the limit of 10 calls is reached; enter tries again" })})
			p.write("what I write")
			frame("it waits, messages are queued")
			p.press("ctrl+f")
			p.write("look")
			frame("search")
			p.press("esc")
			p.send(Gone{Text: "another process has taken this session over: enter goes back to it"})
			frame("gone")
		})
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
