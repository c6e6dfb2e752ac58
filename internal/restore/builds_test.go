package restore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What a builder leaves that is killed at any step goes when somebody looks, without the same place being built again;
// what is there as a whole stays.
func TestWhatAKilledBuilderLeftIsTakenAway(t *testing.T) {
	w := fastWorld(t)
	first(w)
	target := w.known()
	up := filepath.Dir(w.root)
	to, builds := filepath.Join(up, "new"), filepath.Join(up, "builds")
	left := 0
	for n := 0; ; n++ {
		cfg, at := w.config(mover{}), 0
		cfg.Builds = builds
		cfg.Fault = func(string, string) error {
			if at++; at > n {
				return errors.New("killed")
			}
			return nil
		}
		_, err := Materialise(context.Background(), to, w, target, cfg)
		if _, statErr := os.Lstat(filepath.Join(up, building+"new")); statErr == nil {
			left++
		}
		cleared, clearErr := ClearBuilds(context.Background(), builds)
		if clearErr != nil || err != nil && cleared != 1 || err == nil && cleared != 0 {
			t.Fatalf("step %d: %v; cleared %d, %v", n, err, cleared, clearErr)
		}
		alone(t, builds)
		if err == nil {
			break
		}
		alone(t, up, "journals", "root", "builds")
	}
	alone(t, up, "journals", "root", "builds", "new")
	if left < 3 {
		t.Errorf("only %d kills left something", left)
	}
	t.Cleanup(func() { unlock(to) })
}

// What a live builder has stays its own, and what lies there under such a name and was not made by one stays, too.
func TestALiveBuildersDirectoryStays(t *testing.T) {
	w := newWorld(t)
	w.write("f", "x")
	target := w.known()
	up := filepath.Dir(w.root)
	cfg, looked := w.config(mover{}), 0
	cfg.Builds = filepath.Join(up, "builds")
	cfg.Fault = func(string, string) error {
		if n, err := ClearBuilds(context.Background(), cfg.Builds); n != 0 || err != nil {
			t.Errorf("cleared %d of a live builder, %v", n, err)
		}
		looked++
		return nil
	}
	if _, err := Materialise(context.Background(), filepath.Join(up, "new"), w, target, cfg); err != nil || looked < 3 {
		t.Fatalf("%v, looked %d times", err, looked)
	}
	cfg.Fault = func(string, string) error { return errors.New("killed") }
	if _, err := Materialise(context.Background(), filepath.Join(up, "more"), w, target, cfg); err == nil {
		t.Fatal("it was not killed")
	}
	mine := filepath.Join(up, building+"more")
	w.must(os.Rename(mine, mine+"-moved"))
	w.must(os.MkdirAll(filepath.Join(mine, "kept"), 0o700))
	if n, err := ClearBuilds(context.Background(), cfg.Builds); n != 0 || err != nil {
		t.Errorf("cleared %d that somebody else made, %v", n, err)
	}
	if _, err := os.Stat(filepath.Join(mine, "kept")); err != nil {
		t.Error(err)
	}
	w.must(os.WriteFile(filepath.Join(cfg.Builds, "torn"), []byte(`{"to":"/`), 0o600))
	if n, err := ClearBuilds(context.Background(), cfg.Builds); n != 0 || err != nil {
		t.Errorf("a torn record: %d, %v", n, err)
	}
	alone(t, cfg.Builds)
}

// A builder that begins where a killed one has left much, and is killed while it takes that away, leaves it known: what
// is left goes all the same.
func TestWhatTwoKilledBuildersLeftIsTakenAway(t *testing.T) {
	w := newWorld(t)
	w.write("f", "x")
	target := w.known()
	up := filepath.Dir(w.root)
	cfg := w.config(mover{})
	cfg.Builds = filepath.Join(up, "builds")
	cfg.Fault = func(name, _ string) error {
		if name == "build-sync" {
			return errors.New("killed")
		}
		return nil
	}
	to := filepath.Join(up, "new")
	for name, second := range map[string]func(){
		"before it has taken anything away": func() {},
		"with a new directory": func() {
			w.must(os.RemoveAll(filepath.Join(up, building+"new")))
			w.must(os.Mkdir(filepath.Join(up, building+"new"), 0o700))
		},
	} {
		if _, err := Materialise(context.Background(), to, w, target, cfg); err == nil {
			t.Fatal("it was not killed")
		}
		b, err := beginBuild(cfg.Builds, to)
		if err != nil || b == nil {
			t.Fatal(b, err)
		}
		second()
		b.leave() // killed
		if n, err := ClearBuilds(context.Background(), cfg.Builds); n != 1 || err != nil {
			t.Errorf("%s: cleared %d, %v", name, n, err)
		}
		alone(t, up, "root", "builds")
		alone(t, cfg.Builds)
		w.must(os.RemoveAll(filepath.Join(up, building+"new")))
	}
}

// What lies among the records and is none is not waited for.
func TestARecordThatIsNoFileIsNotWaitedFor(t *testing.T) {
	builds := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(builds, "0"), 0o600); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() {
		_, err := ClearBuilds(context.Background(), builds)
		over <- err
	}()
	select {
	case err := <-over:
		if err == nil {
			t.Error("a pipe is a record")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for a pipe")
	}
}
