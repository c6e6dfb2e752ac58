package restore

import "testing"

// A restore tells from its beginning how many paths it has, never goes back, and ends with all of them and with the
// bytes that it wrote, whatever becomes of the paths.
func TestARestoreTellsHowFarItIs(t *testing.T) {
	w := newWorld(t)
	w.write("changes", "at first").write("goes/deep/file", "away").write("mode", "x").write("stays", "same")
	target := w.known()
	w.write("changes", "later").remove("goes").mode("mode", 0o700).write("new/one", "1").write("new/two", "2")
	p := w.plan(target, force)
	cfg := w.config(mover{})
	var told []Step
	cfg.Progress = func(s Step) { told = append(told, s) }
	j, err := Begin(w.dir, w.root, p, cfg)
	w.must(err)
	_, err = j.Run(t.Context())
	w.must(err)
	w.must(j.Close())
	if len(told) < 2 || told[0].Done != 0 || told[0].Of != len(p.ops) {
		t.Fatalf("told %+v of %d paths", told, len(p.ops))
	}
	for i := 1; i < len(told); i++ {
		if told[i].Done < told[i-1].Done || told[i].Of != told[0].Of {
			t.Errorf("after %+v it tells %+v", told[i-1], told[i])
		}
	}
	if last := told[len(told)-1]; last.Done != last.Of || last.Bytes != int64(len("at first")+len("away")) {
		t.Errorf("it ends with %+v", last)
	}
}
