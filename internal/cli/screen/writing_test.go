package screen_test

import (
	"os"
	"slices"
	"testing"

	"github.com/perdure/perdure/internal/cli/screen"
)

// Goal: what is given to an editor is for its person alone.
func TestTemp(t *testing.T) {
	file, err := screen.Temp(t.TempDir())("日本語\n")
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	b, _ := os.ReadFile(file)
	if err != nil || info.Mode().Perm() != 0o600 || string(b) != "日本語\n" {
		t.Errorf("%v %q, %v", info.Mode(), b, err)
	}
	env := map[string]string{"EDITOR": "vi"}
	if got := screen.Editor(func(k string) string { return env[k] }); !slices.Equal(got, []string{"vi"}) {
		t.Errorf("%q", got)
	}
	env["VISUAL"] = "code --wait"
	if got := screen.Editor(func(k string) string { return env[k] }); !slices.Equal(got, []string{"code", "--wait"}) {
		t.Errorf("%q", got)
	}
}
