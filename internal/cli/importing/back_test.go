package importing_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: what went on in another home comes back to the directory that it belonged to here, told before it is taken in,
// with the receipt that closes it there; a fork that was made of it here stays in its family.
func TestASessionComesBack(t *testing.T) {
	w := clitest.New(t)
	w.OK("-p", "--session-id", "one", "--model", w.Scripted(`{"turns":[{"match":"hello","steps":[{"text":"Hi."}]},{"match":"again","steps":[{"text":"Once more."}]}]}`), "hello")
	w.OK("fork", "one", "--id", "two")
	w.OK("export", "one", "-o", "x.perdure")
	there := w.InHome(filepath.Join(t.TempDir(), "there"))
	there.OK("import", "x.perdure", "--dir", filepath.Join(w.Dir, "away"))
	there.OK("-p", "-r", "one", "again")
	there.OK("export", "one", "-o", "y.perdure")
	tree := w.OK("tree", "one")
	w.App.Dir = t.TempDir() // called from elsewhere
	y := filepath.Join(there.Dir, "y.perdure")
	o := w.Run("import", y)
	if o.Code != 0 || !strings.HasPrefix(o.Stdout, "imported one ") || !strings.Contains(o.Stderr, "it comes back") {
		t.Fatalf("%+v", o)
	}
	v := clitest.Lines(t, w.OK("show", "one", "--json"))[0]
	if v["cwd"] != there.Dir || v["lifecycle"] != "open" || len(w.Prompts("one")) != 2 {
		t.Errorf("it is %v in %v after %q", v["lifecycle"], v["cwd"], w.Prompts("one"))
	}
	if now := w.OK("tree", "one"); strings.Count(now, "\n") != strings.Count(tree, "\n") || !strings.Contains(now, "two") {
		t.Errorf("the family was\n%sand is\n%s", tree, now)
	}
	if o := w.Run("import", y); !strings.Contains(o.Stderr, "is here already") {
		t.Errorf("once more: %+v", o)
	}
	w.OK("close", "one")
	if o := there.Run("import", "x.perdure"); !strings.Contains(o.Stderr, "is here already") {
		t.Errorf("there: %+v", o)
	}
	w.OK("export", "one", "-o", "z.perdure")
	there.OK("label", "one", "went=on")
	if o := there.Run("import", filepath.Join(w.App.Dir, "z.perdure")); o.Code != 1 || !strings.Contains(o.Stderr, "the same up to event") {
		t.Errorf("two histories: %+v", o)
	}
	if _, err := os.Stat(filepath.Join(w.Home, "incoming", "one")); err == nil {
		t.Error("what was put aside is left")
	}
}
