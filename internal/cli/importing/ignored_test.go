package importing_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/bundle"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// withIgnored is a world with a session in a project of which git ignores a file with a key, one that leads out of it,
// and a directory that can be made again.
func withIgnored(t *testing.T) (w *clitest.World, key string) {
	t.Helper()
	w = clitest.New(t)
	project, key := filepath.Join(w.Dir, "project"), "sk-"+"ant-api03-aB3dE5gH7jK9mN1pQ3sT5vW7xY9z"
	outside := filepath.Join(t.TempDir(), "outside")
	for path, text := range map[string]string{
		filepath.Join(project, ".git", "HEAD"): "ref: refs/heads/main\n", filepath.Join(project, ".git", "config"): "[credential]\n\tsecret = of git\n",
		filepath.Join(project, ".gitignore"): ".env\nid_key\nnode_modules/\n", filepath.Join(project, ".env"): "KEY=" + key + "\n",
		filepath.Join(project, "node_modules", "x"): "can be made again\n", filepath.Join(project, "a"): "zero\n", outside: "a key outside\n",
	} {
		clitest.WriteFile(t, path, text)
	}
	if err := os.Symlink(outside, filepath.Join(project, "id_key")); err != nil {
		t.Fatal(err)
	}
	w.App.Dir = project
	model := w.Scripted(`{"turns":[{"match":"first","steps":[{"text":"","tools":[{"name":"Bash","input":{"command":"echo one >> a"}}]},{"text":"done"}]}]}`)
	w.OK("-p", "--session-id", "s", "--dangerously-skip-permissions", "--model", model, "first")
	return w, key
}

// Goal: what is written that git ignores is told before anything is, and what no bundle may have is in none: what git
// keeps, what can be made again, and what a link leads to.
func TestIgnoredFilesAreToldBeforeTheyAreWritten(t *testing.T) {
	w, key := withIgnored(t)
	w.OK("export", "s", "--with-ignored", "-o", "x.perdure")
	b, err := os.ReadFile(filepath.Join(w.App.Dir, "x.perdure"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	if _, err := bundle.Read(bytes.NewReader(b), bundle.Limits{}, bundle.Sink{Blob: func(_ bundle.Blob, in io.Reader) error {
		text, err := io.ReadAll(in)
		all = append(all, string(text))
		return err
	}}); err != nil {
		t.Fatal(err)
	}
	held := strings.Join(all, "|")
	for _, never := range []string{"of git", "can be made again", "a key outside"} {
		if strings.Contains(held, never) {
			t.Errorf("%q is in the bundle: %q", never, held)
		}
	}
	if !strings.Contains(held, key) {
		t.Errorf("what git ignores is not in it: %q", held)
	}
	o := w.InHome(filepath.Join(t.TempDir(), "there")).Run("import", "x.perdure", "--dir", filepath.Join(w.Dir, "new"))
	told, written := strings.Index(o.Stderr, "files that git ignores are in it"), strings.Index(o.Stderr, "written to")
	if o.Code != 0 || told < 0 || told > written {
		t.Errorf("%+v", o)
	}
}

// Goal: a bundle of which its writer was told that no secret is in it has none in what git ignores; and of files it is
// told that they are in it as they are, where nothing was said of secrets too.
func TestRedactionIsNotSaidOfFiles(t *testing.T) {
	w, _ := withIgnored(t)
	w.Fails(2, "as they are", "export", "s", "--with-ignored", "--secrets", "redact", "-o", "x.perdure")
	for _, c := range []struct {
		told bool
		args []string
	}{
		{true, []string{"--secrets", "redact", "-o", "y.perdure"}},
		{true, []string{"-o", "z.perdure"}},
		{false, []string{"--secrets", "keep", "-o", "k.perdure"}}, // who says so knows
	} {
		o := w.Run(append([]string{"export", "s"}, c.args...)...)
		if o.Code != 0 || strings.Contains(o.Stderr, "its files are in it as they are") != c.told {
			t.Errorf("%q: %+v", c.args, o)
		}
	}
}
