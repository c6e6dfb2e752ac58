//go:build linux || darwin

package task

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
)

// Goal: somebody who may write to a session's directory, as its commands may, puts a link in the place of an act's
// directory while that is being made or its shim is being started. Nothing is written to where the link leads, and the
// command does not run with records that are found there.
func TestLinkInThePlaceOfANewDirectory(t *testing.T) {
	for _, when := range []string{"act-made", "act-filled", "prepared"} {
		for name, target := range map[string]string{"to a place outside": "", "to another act": "other"} {
			t.Run(when+" "+name, func(t *testing.T) {
				b := newBench(t)
				b.run("other", "echo the record of another")
				b.left("other")
				victim := t.TempDir()
				if target != "" {
					victim = string(b.dirOf(target))
				}
				before := names(t, victim)
				swap := func(step string) {
					if step == when {
						b.swap(victim)
					}
				}
				b.Fault = swap
				hooked(t, swap)
				_ = b.Start(t.Context(), b.script("a", "echo x >> ran")) // what became of it, the directory says
				if st, err := b.Settle(t.Context(), testSession, "a"); err != nil || st.Status != command.Lost && st.Status != command.Absent {
					t.Errorf("settled as %+v, %v", st, err)
				}
				if exists(filepath.Join(b.cwd, "ran")) {
					t.Error("it ran")
				}
				if after := names(t, victim); after != before {
					t.Errorf("where the link leads there is now: %s", after)
				}
			})
		}
	}
}

// swap puts a link in the place of the only new directory of the session.
func (b *bench) swap(target string) {
	b.t.Helper()
	session := filepath.Join(b.Dir, testSession)
	entries, err := os.ReadDir(session)
	if err != nil {
		b.t.Error(err)
	}
	for _, e := range entries {
		if name := filepath.Join(session, e.Name()); e.Name() == "a" || strings.HasPrefix(e.Name(), newPrefix) {
			if err := os.Rename(name, filepath.Join(b.t.TempDir(), "away")); err != nil {
				b.t.Error(err)
			}
			if err := os.Symlink(target, name); err != nil {
				b.t.Error(err)
			}
		}
	}
}

// names lists what a directory has, with the content of each file.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Error(err)
	}
	var all []string
	for _, e := range entries {
		text := ""
		if e.Type().IsRegular() {
			b, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Error(err)
			}
			text = string(b)
		}
		all = append(all, e.Name()+"="+text)
	}
	return strings.Join(all, "; ")
}
