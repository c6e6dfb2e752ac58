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
