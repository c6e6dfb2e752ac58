package engine

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// What a person keeps has a name that can be shown, a digest and a size, and says of itself neither which act kept it nor
// when: only the log can.
func TestWhatAPersonKeepsIsAnArtifact(t *testing.T) {
	good := session.Artifact{Name: "report.pdf", Digest: store.Digest{1}, Size: 9, Media: strings.Repeat("m", 255), Act: "t1.s1.c1", Seq: 7, Time: 8, Note: strings.Repeat("é", 501)}
	a := good
	if err := admitArtifact(&a); err != nil || a.Act != "" || a.Seq != 0 || a.Time != 0 || a.Note != strings.Repeat("é", 500) || a.Name != good.Name || a.Size != 9 {
		t.Errorf("%+v, %v", a, err)
	}
	empty := session.Artifact{Name: "empty", Digest: store.Sum(nil)}
	if err := admitArtifact(&empty); err != nil {
		t.Errorf("an empty one: %v", err)
	}
	for what, change := range map[string]func(*session.Artifact){
		"no name": func(a *session.Artifact) { a.Name = "" }, "a name on two lines": func(a *session.Artifact) { a.Name = "a\nb" },
		"no digest": func(a *session.Artifact) { a.Digest = store.Digest{} }, "a size below zero": func(a *session.Artifact) { a.Size = -1 },
		"a long media type": func(a *session.Artifact) { a.Media += "m" },
	} {
		a := good
		if change(&a); admitArtifact(&a) == nil {
			t.Errorf("%s is taken: %+v", what, a)
		}
	}
}

// A path of a restore is what lies below the workspace, in its one form.
func TestAPathOfARestoreHasOneForm(t *testing.T) {
	for _, p := range []string{"a", "a/b", ".env", "..a", "a..", "a b", "-rf", strings.Repeat("a", 4096)} {
		if err := restorePath(p); err != nil {
			t.Errorf("%q: %v", p, err)
		}
	}
	for _, p := range []string{"", ".", "..", "/", "/a", "../a", "a/../b", "a/", "a//b", "./a", "a/.", "a\x00b", strings.Repeat("a", 4097)} {
		if restorePath(p) == nil {
			t.Errorf("%q is taken", p)
		}
	}
}
