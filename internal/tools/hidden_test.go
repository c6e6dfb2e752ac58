package tools

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/model"
)

// Goal: what the rules hide is in no search's result, a directory with all that is in it.
func TestSearchesLeaveOutWhatIsHidden(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a.txt", "secret/b.txt", "c.env"} {
		w.put(name, "needle\n")
	}
	env := w.Env
	env.Hidden = func(abs string) bool { return filepath.Base(abs) == "secret" || strings.HasSuffix(abs, ".env") }
	for name, input := range map[string]string{"Glob": `{"pattern":"**/*"}`, "Grep": `{"pattern":"needle"}`} {
		r, err := Find(Builtin(), name).(Runner).Run(t.Context(), Call{Input: []byte(input)}, env)
		if err != nil {
			t.Fatal(err)
		}
		got := model.Text(r.Content)
		if !strings.Contains(got, "a.txt") || strings.Contains(got, "b.txt") || strings.Contains(got, "c.env") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
