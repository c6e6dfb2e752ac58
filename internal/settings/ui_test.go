package settings_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/settings"
)

// Goal: what the terminal is told is the user's to say, each by itself; a project says it in vain; a wrong value is an
// error that says what is right.
func TestUI(t *testing.T) {
	dir := t.TempDir()
	all := settings.Switches{Title: true, Bell: true, Notify: true, Status: true, Rewind: true, Titles: true}
	for text, want := range map[string]settings.Switches{
		"": all, "[ui]\nbell = true\n": all, "[ui]\nbell = false\nnotify = false\n": {Title: true, Status: true, Rewind: true, Titles: true},
		"[ui]\ntitle = false\nstatus = false\ntmux_passthrough = true\n": {Bell: true, Notify: true, Rewind: true, Titles: true, Passthrough: true}, "[ui]\nrewind = false\n": {Title: true, Bell: true, Notify: true, Status: true, Titles: true},
	} {
		l, err := settings.Load(write(t, filepath.Join(dir, "user.toml"), text), "")
		if got := l.UI.Switches(); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for text, words := range map[string]string{
		"[ui]\nbell = \"loud\"\n": ":2: ui.bell: it must be true or false, and is a text", "ui = 1\n": "ui: it must be a table", "[ui]\nbel = true\n": `did you mean "ui.bell"?`,
	} {
		if _, err := settings.Load(write(t, filepath.Join(dir, "user.toml"), text), ""); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v", text, err)
		}
	}
	project := filepath.Join(dir, "project")
	write(t, filepath.Join(project, ".perdure", "config.toml"), "[ui]\nbell = false\n")
	l, err := settings.Load(write(t, filepath.Join(dir, "user.toml"), ""), project)
	if err != nil || l.UI.Switches() != all || !slices.ContainsFunc(l.Ignored, func(s string) bool { return strings.Contains(s, ": ui (a project may only narrow)") }) {
		t.Errorf("%+v %q, %v", l.UI, l.Ignored, err)
	}
}
