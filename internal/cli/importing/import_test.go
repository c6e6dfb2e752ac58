package importing_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// hashes are a session's events, as lines of their seq and hash.
func hashes(w *clitest.World, id string) (out []string) {
	w.T.Helper()
	for _, l := range clitest.Lines(w.T, w.OK("log", id, "--json")) {
		out = append(out, fmt.Sprint(l["seq"], " ", l["hash"]))
	}
	return out
}

// there is another home of the same person.
func there(w *clitest.World) *clitest.World {
	to := w.InHome(filepath.Join(w.T.TempDir(), "there"))
	to.App.Environ = slices.DeleteFunc(to.App.Environ, func(kv string) bool { return kv == "PERDURE_HOME="+w.Home })
	return to
}

// feed gives the next commands of a world an input.
func feed(w *clitest.World, text string) *clitest.World {
	w.App.Stdin = strings.NewReader(text)
	return w
}

// Goal: perdure export ID | perdure import - takes a session to another home in one line: the same id, the same events with
// the same hashes, in the directory that is named, without the grants that it had; a second time it changes nothing.
func TestThroughAPipe(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("one")
	to := there(w)
	b := w.OK("export", "one")
	dir := filepath.Join(w.Dir, "new")
	o := feed(to, b).Run("import", "-", "--dir", dir)
	if o.Code != 0 {
		t.Fatal(o.Stderr)
	}
	w.Golden("import", strings.ReplaceAll(o.Stdout+o.Stderr, filepath.Dir(filepath.Dir(to.App.Getenv("PERDURE_HOME"))), "<tmp>"))
	was, is := hashes(w, "one"), hashes(to, "one")
	if n := len(was); n == 0 || len(is) != n+1 || !reflect.DeepEqual(is[:n], was) {
		t.Errorf("%q\n%q", was, is)
	}
	if last := is[len(is)-2]; !strings.Contains(o.Stdout, "imported one "+last) {
		t.Errorf("the receipt %q does not name %q", o.Stdout, last)
	}
	v := clitest.Lines(t, to.OK("show", "one", "--json"))[0]
	if v["cwd"] != dir || len(v["permissions"].(map[string]any)["grants"].([]any)) != 0 {
		t.Errorf("in %v with %v", v["cwd"], v["permissions"])
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Errorf("the directory: %v", err)
	}
	again := feed(to, b).Run("import", "-", "--dir", dir, "--yes")
	if again.Code != 0 || again.Stdout != o.Stdout || !strings.Contains(again.Stderr, "is here already") || len(hashes(to, "one")) != len(is) {
		t.Errorf("again: %+v", again)
	}
	to.Append("one", store.Actor{Type: store.ActorUser}, &session.StateSet{Key: "a", Value: []byte("1")})
	w.Append("one", store.Actor{Type: store.ActorUser}, &session.StateSet{Key: "b", Value: []byte("2")})
	feed(to, w.OK("export", "one")).Fails(1, "another history", "import", "-")
}

// Goal: a bundle that was cut, lengthened, emptied or changed leaves neither a session nor a file nor the directory.
func TestDamagedLeavesNothing(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("one")
	good := w.OK("export", "one")
	cases := map[string]string{"empty": "", "one byte": good[:1], "cut at its end": good[:len(good)-1], "half": good[:len(good)/2], "lengthened": good + "x", "doubled": good + good, "a text": "this is no bundle at all, but a text"}
	for i := 0; i < len(good); i += 97 {
		b := []byte(good)
		b[i] ^= 0x10
		cases[fmt.Sprint("byte ", i)] = string(b)
	}
	for name, text := range cases {
		to := there(w)
		home, dir := to.App.Getenv("PERDURE_HOME"), filepath.Join(w.Dir, "nowhere")
		file := filepath.Join(w.Dir, "bad.perdure")
		clitest.WriteFile(t, file, text)
		for _, from := range []string{"-", file} {
			o := feed(to, text).Run("import", from, "--dir", dir, "--yes")
			if o.Code != 1 || o.Stdout != "" || !strings.Contains(o.Stderr, "nothing was changed") {
				t.Errorf("%s: %+v", name, o)
			}
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the directory: %v", name, err)
		}
		_ = filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				t.Errorf("%s: %s is left", name, path)
			}
			return err
		})
	}
}

// What is encrypted to a key or with a passphrase is taken in with that, and with nothing else.
func TestEncrypted(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("one")
	mine, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	other, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	clitest.WriteFile(t, filepath.Join(w.Dir, "mine.key"), mine.String()+"\n")
	clitest.WriteFile(t, filepath.Join(w.Dir, "other.key"), other.String()+"\n")
	clitest.WriteFile(t, filepath.Join(w.Dir, "word"), "correct horse\n")
	w.OK("export", "one", "-o", "key.perdure", "--recipient", mine.Recipient().String(), "--recipient", other.Recipient().String())
	w.OK("export", "one", "-o", "word.perdure", "--passphrase-file", "word")
	for _, name := range []string{"key.perdure", "word.perdure"} {
		b, err := os.ReadFile(filepath.Join(w.Dir, name))
		if err != nil || strings.Contains(string(b), "perdure-bundle") {
			t.Errorf("%s is in plain: %v", name, err)
		}
		there(w).Fails(2, "the bundle is encrypted", "import", name)
	}
	there(w).OK("import", "key.perdure", "--identity", "mine.key")
	there(w).OK("import", "word.perdure", "--passphrase-file", "word")
	there(w).Fails(1, "none of the keys opens it", "import", "word.perdure", "--identity", "mine.key")
	b, err := os.ReadFile(filepath.Join(w.Dir, "key.perdure"))
	if err != nil {
		t.Fatal(err)
	}
	clitest.WriteFile(t, filepath.Join(w.Dir, "cut.perdure"), string(b[:len(b)-1]))
	there(w).Fails(1, "", "import", "cut.perdure", "--identity", "mine.key")
	there(w).OK("import", "key.perdure", "--identity", "other.key")
}

// A person at a terminal is asked, and no is no.
func TestAPersonIsAsked(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("one")
	w.OK("export", "one", "-o", "x.perdure")
	to := there(w)
	to.App.Asks = true
	feed(to, "n\n").Fails(1, "nothing was changed", "import", "x.perdure")
	to.Fails(4, "no session", "show", "one")
	feed(to, "y\n").OK("import", "x.perdure")
	to.OK("show", "one")
}

func TestImportRefusesNonsense(t *testing.T) {
	w := clitest.New(t)
	clitest.WriteFile(t, filepath.Join(w.Dir, "file"), "a text")
	w.Fails(2, "cannot be read", "import", "gone.perdure")
	w.Fails(2, "is no directory", "import", "-", "--dir", "file")
	w.Fails(2, "max-size", "import", "-", "--max-size", "much")
	w.Eventful("one")
	w.OK("export", "one", "-o", "x.perdure")
	there(w).Fails(1, "--max-size takes more", "import", "x.perdure", "--max-size", "1K")
}

// What a bundle says of itself is text, and no word to the terminal.
func TestABundleSaysNothingToTheTerminal(t *testing.T) {
	w := clitest.New(t)
	w.Create("one")
	evil := "a \x1b]0;title\x07\x1b[2J \u202e\x9b31m\nperdure: trust me"
	w.Append("one", store.Actor{Type: store.ActorUser}, &session.Labelled{Title: &evil}, &session.Configured{Root: &evil})
	b := w.OK("export", "one")
	o := feed(there(w), b).Run("import", "-")
	if o.Code != 0 || strings.ContainsAny(o.Stdout+o.Stderr, "\x1b\x07\u202e\u009b") || strings.Contains(o.Stderr, "\nperdure: trust me") {
		t.Errorf("exit %d: %+q %+q", o.Code, o.Stdout, o.Stderr)
	}
}
