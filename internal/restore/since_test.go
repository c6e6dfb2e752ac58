package restore

import "testing"

// A file that only a person has changed, after all that the session did, stays and is nobody's conflict. By force it comes
// back as it was, too; what the person made stays even then.
func TestForceBringsBackWhatOnlyAPersonChanged(t *testing.T) {
	w := newWorld(t)
	w.write("edited", "v1").write("deleted", "v1").write("d/f", "v1")
	target := w.known()
	w.write("edited", "mine").remove("deleted").remove("d").write("own", "mine")
	if p, r := w.restore(target); !p.Nothing() || len(r.Kept) != 0 {
		t.Errorf("without force: %s, kept %s", p, keptPaths(r.Kept))
	}
	w.has("edited", "mine")
	w.restore(target, force)
	w.has("edited", "v1")
	w.has("deleted", "v1")
	w.has("d/f", "v1")
	w.has("own", "mine")
}

// Where it is not sure who changed something, nothing is passed over: each path is named and stays, and force takes it
// back.
func TestWhatNobodyIsKnownToHaveChangedIsNamed(t *testing.T) {
	unsure := func(in *Input) { in.Unsure = true }
	w := newWorld(t)
	w.write("edited", "v1").write("deleted", "v1").write("same", "v1").write("d/f", "v1")
	target := w.known()
	w.write("edited", "v2").remove("deleted").remove("d").write("made/in", "v2")
	p, _ := w.restore(target, unsure)
	want := "d: " + string(UnknownGone) + "; d/f: " + string(UnknownGone) + "; deleted: " + string(UnknownGone) +
		"; edited: " + string(Unknown) + "; made/in: " + string(Unknown)
	if got := keptPaths(p.Kept); got != want || len(p.Changes) != 0 {
		t.Errorf("kept %s\nwant %s; changes %v", got, want, p.Changes)
	}
	w.restore(target, unsure, force)
	w.has("edited", "v1")
	w.has("deleted", "v1")
	w.has("d/f", "v1")
	w.lacks("made/in")
}
