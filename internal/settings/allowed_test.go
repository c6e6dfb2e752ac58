package settings_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/settings"
)

func ruleTexts(l settings.Loaded) string {
	var out []string
	for _, r := range l.Rules {
		out = append(out, fmt.Sprintf("%s %s %s", r.Effect, r.Text, r.Source))
	}
	return strings.Join(out, "|")
}

// A remembered rule holds in its project, behind links too, and nowhere else; one without a project everywhere; taken
// back it holds nowhere. The user's own file is not touched.
func TestRememberedRules(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	user := write(t, filepath.Join(dir, "cfg", "perdure", "config.toml"), "# mine\n[permissions]\ndeny = [\"Bash(rm:*)\"]\n")
	file := settings.AllowedFile(user)
	here, other := filepath.Join(dir, "here"), filepath.Join(dir, "other")
	for _, d := range []string{here, other} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(here, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for _, r := range []settings.Remembered{
		{Rule: "Bash(npm test)", Project: here, By: "anna", At: at}, {Rule: "Bash(make 日本語)", At: at}, {Rule: "Bash(npm test)", Project: here, At: at},
	} {
		if _, err := settings.Remember(t.Context(), file, r); err != nil {
			t.Fatal(err)
		}
	}
	const denied, everywhere = "deny Bash(rm:*) user", "allow Bash(make 日本語) remembered"
	for project, want := range map[string]string{
		here: denied + "|allow Bash(npm test) remembered here|" + everywhere, filepath.Join(dir, "link"): denied + "|allow Bash(npm test) remembered here|" + everywhere,
		other: denied + "|" + everywhere, "": denied + "|" + everywhere, dir: denied + "|" + everywhere,
	} {
		l, err := settings.Load(user, project)
		if err != nil || ruleTexts(l) != want {
			t.Errorf("in %q: %v, %q", project, err, ruleTexts(l))
		}
	}
	// A project that was moved away has none, and neither has what is linked in its place.
	if err := errors.Join(os.Rename(here, here+"2"), os.Symlink(here+"2", here)); err != nil {
		t.Fatal(err)
	}
	for _, project := range []string{here, here + "2"} {
		if l, err := settings.Load(user, project); err != nil || ruleTexts(l) != denied+"|"+everywhere {
			t.Errorf("moved, in %q: %v, %q", project, err, ruleTexts(l))
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info.Mode(), err)
	}
	gone, err := settings.Forget(t.Context(), file, func(r settings.Remembered) bool { return r.Rule == "Bash(npm test)" })
	if err != nil || len(gone) != 1 || gone[0].By != "anna" || gone[0].Project != here {
		t.Errorf("forgotten: %v, %v", gone, err)
	}
	if l, err := settings.Load(user, other); err != nil || ruleTexts(l) != denied+"|"+everywhere {
		t.Errorf("after it: %v, %q", err, ruleTexts(l))
	}
	if text, err := os.ReadFile(user); err != nil || !strings.HasPrefix(string(text), "# mine\n") {
		t.Errorf("the user's own file: %q, %v", text, err)
	}
}

// What a repository writes into its own directory remembers nothing: only the user's file does.
func TestAProjectRemembersNothing(t *testing.T) {
	dir := t.TempDir()
	user := filepath.Join(dir, "cfg", "perdure", "config.toml")
	project := filepath.Join(dir, "p")
	text := fmt.Sprintf("[[allow]]\nrule = 'Bash(rm -rf /)'\nproject = %q\nat = 2026-01-02T03:04:05Z\n", project)
	for _, name := range []string{"allowed.toml", ".perdure/allowed.toml", ".config/perdure/allowed.toml"} {
		write(t, filepath.Join(project, name), text)
	}
	if l, err := settings.Load(user, project); err != nil || len(l.Rules) != 0 {
		t.Errorf("%v, %v", l.Rules, err)
	}
}

// A file that is not understood, whole or in part, widens nothing, says so, and is not written over.
func TestAllowedThatIsNotUnderstood(t *testing.T) {
	for name, text := range map[string]string{
		"no toml": "[[allow]\n", "a newer one": "[[allow]]\nrule = 'Bash(a)'\nat = 2026-01-02T03:04:05Z\nuntil = 2026-01-02T03:04:05Z\n",
		"a bad rule": "[[allow]]\nrule = 'Bash(a'\n", "a relative project": "[[allow]]\nrule = 'Bash(a)'\nproject = 'x'\n", "a deny": "[[deny]]\nrule = 'Bash(a)'\n",
	} {
		user := filepath.Join(t.TempDir(), "config.toml")
		file := write(t, settings.AllowedFile(user), text)
		l, err := settings.Load(user, "")
		if err != nil || len(l.Rules) != 0 || len(l.Ignored) != 1 || !strings.Contains(l.Ignored[0], "allowed.toml") {
			t.Errorf("%s: %v, %v, %q", name, err, l.Rules, l.Ignored)
		}
		if _, err := settings.Remember(t.Context(), file, settings.Remembered{Rule: "Bash(b)"}); !errors.Is(err, settings.ErrConfig) {
			t.Errorf("%s: written over: %v", name, err)
		}
		if got, _ := os.ReadFile(file); string(got) != text {
			t.Errorf("%s: it is %q now", name, got)
		}
	}
	if _, err := settings.Remember(t.Context(), "", settings.Remembered{Rule: "Bash(b)"}); !errors.Is(err, settings.ErrConfig) {
		t.Errorf("no place: %v", err)
	}
	if _, err := settings.Remember(t.Context(), filepath.Join(t.TempDir(), "a.toml"), settings.Remembered{Rule: "Bash(b"}); !errors.Is(err, permission.ErrRule) {
		t.Errorf("no rule: %v", err)
	}
}

// Two terminals that answer at once lose neither answer.
func TestConcurrentAnswersAreAllRemembered(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "allowed.toml")
	var wg sync.WaitGroup
	const writers, each = 8, 5
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if _, err := settings.Remember(t.Context(), file, settings.Remembered{Rule: fmt.Sprintf("Bash(make %d %d)", w, i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	list, err := settings.ReadAllowed(file)
	if err != nil || len(list) != writers*each {
		t.Errorf("%d of %d are remembered, %v", len(list), writers*each, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".allowed-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A link that people keep in place of the file stays one.
func TestALinkedFileStaysALink(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "cfg", "allowed.toml")
	kept := write(t, filepath.Join(dir, "dotfiles", "allowed.toml"), "")
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o700), os.Symlink(kept, file)); err != nil {
		t.Fatal(err)
	}
	if _, err := settings.Remember(t.Context(), file, settings.Remembered{Rule: "Bash(b)"}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(file)
	list, rerr := settings.ReadAllowed(kept)
	if err != nil || info.Mode()&os.ModeSymlink == 0 || rerr != nil || len(list) != 1 {
		t.Errorf("%v, %v; %v, %v", info, err, list, rerr)
	}
}
