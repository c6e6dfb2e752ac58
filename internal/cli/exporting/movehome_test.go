package exporting_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

func lifecycle(t *testing.T, w *clitest.World, id string) any {
	t.Helper()
	return clitest.Lines(t, w.OK("show", id, "--json"))[0]["lifecycle"]
}

// Goal: a session does not move to where it is. The home that it lives in has all of it, of course, and saying so would
// close the only one there is; by whatever name that home is reached.
func TestAMoveIntoItsOwnHomeIsRefused(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("one")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(w.Home, link); err != nil {
		t.Fatal(err)
	}
	head := w.OK("show", "one", "--json")
	for _, home := range []string{w.Home, link} {
		o := w.Run("export", "one", "--move-to", self(t, w, home, "import", "-", "--dir", filepath.Join(w.Dir, "new")))
		if o.Code != 1 || !strings.Contains(o.Stderr, "session one lives in this home") || !strings.Contains(o.Stderr, "open here as before") {
			t.Errorf("%s: %+v", home, o)
		}
		if now := w.OK("show", "one", "--json"); now != head {
			t.Errorf("%s: the session is another:\n%s\n%s", home, head, now)
		}
	}
	if _, err := os.Stat(filepath.Join(w.Dir, "new")); err == nil {
		t.Error("a directory was made")
	}
	w.OK("export", "one", "-o", "x.perdure")
	if o := w.Run("import", "x.perdure"); o.Code != 0 || !strings.Contains(o.Stderr, "is here already") {
		t.Errorf("a copy: %+v", o)
	}
}

// Goal: a copy of a home is another home, whatever is in it that was there before: the session may be closed here when
// the copy has it. Only a home that holds the word of just this move is the one that it comes from.
func TestACopyOfAHomeIsAnotherHome(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("one")
	if o := w.Run("export", "one", "--move-to", "cat >/dev/null; exit 3"); o.Code == 0 { // leaves what a move leaves
		t.Fatalf("%+v", o)
	}
	home := filepath.Join(t.TempDir(), "copy")
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", w.Home, home).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	o := w.Run("export", "one", "--move-to", self(t, w, home, "import", "-", "--dir", filepath.Join(w.Dir, "new")))
	if to := w.InHome(home); o.Code != 0 || lifecycle(t, w, "one") != "closed" || lifecycle(t, to, "one") != "open" {
		t.Errorf("here %v, in the copy %v: %+v", lifecycle(t, w, "one"), lifecycle(t, to, "one"), o)
	}
}

// A copy that was made while the session moves has that move's word, too: nobody can tell it from the home, so it is
// refused.
func TestACopyThatIsMadeInAMoveIsRefused(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("one")
	home := filepath.Join(t.TempDir(), "copy")
	o := w.Run("export", "one", "--move-to", "cp -a '"+w.Home+"' '"+home+"' && "+self(t, w, home, "import", "-"))
	if o.Code == 0 || lifecycle(t, w, "one") != "open" {
		t.Errorf("%v: %+v", lifecycle(t, w, "one"), o)
	}
}

// Goal: a receipt alone closes nothing. Whoever prints it has to say, too, that its home is another one, which versions
// that know nothing of that do not.
func TestAReceiptWithoutAnotherHomeClosesNothing(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("one")
	takes := self(t, w, filepath.Join(t.TempDir(), "there"), "import", "-", "--dir", filepath.Join(w.Dir, "new"))
	o := w.Run("export", "one", "--move-to", takes+" | grep ^imported")
	if o.Code != 1 || !strings.Contains(o.Stderr, "did not say that its home is another one") || lifecycle(t, w, "one") != "open" {
		t.Errorf("%v: %+v", lifecycle(t, w, "one"), o)
	}
	if o = w.Run("export", "one", "--move-to", takes); o.Code != 0 || lifecycle(t, w, "one") != "closed" {
		t.Errorf("once more: %v: %+v", lifecycle(t, w, "one"), o)
	}
}
