//go:build linux || darwin

package task

import (
	"os"
	"path/filepath"
	"testing"
)

// A command may put links into its act's directory. Shim and agent follow none: no other file is overwritten, and what
// another one holds is not taken for a record.
func TestLinksInTheActDirectoryAreNotFollowed(t *testing.T) {
	for _, name := range []string{captureName, spareName, lockName, segmentName(1 << 20)} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			victim := filepath.Join(t.TempDir(), "victim")
			const words = "somebody else's words, which are longer than any record is"
			if err := os.WriteFile(victim, []byte(words), 0o600); err != nil {
				t.Fatal(err)
			}
			spec := b.script("a", "ln -sfn "+victim+` "$PERDURE_ACT/`+name+`"; echo said; exit 3`)
			b.start(spec)
			// Without its lock an act is lost; all else it can do without.
			if st := b.wait("a"); name != lockName && (st.ExitCode == nil || *st.ExitCode != 3) {
				t.Errorf("state %s", code(st))
			}
			if got, err := os.ReadFile(victim); err != nil || string(got) != words {
				t.Errorf("the other file holds %q, %v", got, err)
			}
		})
	}
}

// Goal: what a command puts in the place of the report of its shell makes neither shell, shim nor agent wait, and is
// written to by none of them. The command ends as it would; nothing is reported of it.
func TestCaptureReplaced(t *testing.T) {
	victim := filepath.Join(t.TempDir(), "victim")
	const words = "somebody else's words"
	for kind, put := range map[string]string{
		"pipe": "mkfifo", "directory": "mkdir", "link": "ln -s " + victim, "link to a pipe": "mkfifo ./p; ln -s $PWD/p", "link to nothing": "ln -s " + victim + ".new", "removed": ": ",
	} {
		t.Run(kind, func(t *testing.T) {
			if err := os.WriteFile(victim, []byte(words), 0o600); err != nil {
				t.Fatal(err)
			}
			b := newBench(t)
			spec := b.script("a", `f=$PERDURE_ACT/capture; rm "$f"; `+put+` "$f"; export A=1; echo said; exit 3`)
			spec.Capture = true
			b.start(spec)
			st := b.wait("a")
			if st.ExitCode == nil || *st.ExitCode != 3 || kind != "removed" && (st.Cwd != "" || len(st.Env) > 0) {
				t.Errorf("state %s, cwd %q, env %s", code(st), st.Cwd, deltaText(st.Env))
			}
			if got, err := os.ReadFile(victim); err != nil || string(got) != words {
				t.Errorf("the other file holds %q, %v", got, err)
			}
			if _, err := os.Lstat(victim + ".new"); err == nil {
				t.Error("a file was made behind the link")
			}
			if out, _, _, err := b.Read(testSession, "a", 0, 0); err != nil || string(out) != "said\n" {
				t.Errorf("output %q, %v", out, err)
			}
		})
	}
}
