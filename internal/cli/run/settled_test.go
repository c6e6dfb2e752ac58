package run_test

import (
	"slices"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/cli/run"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
)

// Goal: who opens the screen does not wait for the home to be opened twice: the settings that were read are those of
// the session that comes first, and of the directory. For a session of another project they are read anew, and once.
func TestTheHomeIsOpenedOnceForTheSettingsThatWereRead(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	h := w.Open("{}")
	if _, err := h.Create(t.Context(), engine.Spec{ID: "elsewhere", Agent: session.Agent{Provider: "mine", Model: "m"}, Cwd: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	w.Close(h)
	same, err := run.Stays(t.Context(), w.App, "s", "s", "", "elsewhere", "elsewhere", "s")
	if want := []bool{true, true, false, true, false}; err != nil || !slices.Equal(same, want) {
		t.Errorf("%v, want %v; %v", same, want, err)
	}
}
