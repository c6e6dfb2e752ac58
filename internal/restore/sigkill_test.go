package restore

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/perdure/perdure/store"
)

const childEnv = "PERDURE_TEST_RESTORE_CHILD"

// TestMain is the child of the test with real kills, too.
func TestMain(m *testing.M) {
	if at := os.Getenv(childEnv); at != "" {
		if err := child(at); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// errand is what a child is to do.
type errand struct {
	Root, Dir                   string
	Base, Now, Target, Previous store.Digest
	Undo                        bool
}

// child begins the restore or takes it up, says each step and waits.
func child(at string) error {
	var e errand
	b, err := os.ReadFile(filepath.Join(at, "errand"))
	if err == nil {
		err = json.Unmarshal(b, &e)
	}
	if err != nil {
		return err
	}
	w := &world{root: e.Root, dir: e.Dir, blobs: map[store.Digest][]byte{}}
	names, err := os.ReadDir(filepath.Join(at, "blobs"))
	if err != nil {
		return err
	}
	for _, n := range names {
		b, err := os.ReadFile(filepath.Join(at, "blobs", n.Name()))
		if err != nil {
			return err
		}
		w.keep(b)
	}
	var word [1]byte
	cfg := Config{Content: w, Fault: func(step, at string) error { // it waits to be told to go on
		fmt.Printf("%s %q\n", step, at)
		_, err := os.Stdin.Read(word[:])
		return err
	}}
	ids, err := Pending(e.Dir)
	if err != nil {
		return err
	}
	var j *Journal
	if len(ids) > 0 {
		j, err = Open(e.Dir, ids[0], cfg)
	} else {
		var p *Plan
		if p, err = Make(context.Background(), Input{Root: e.Root, Trees: w, Base: e.Base, Now: e.Now, Target: e.Target}); err == nil {
			j, err = Begin(e.Dir, e.Root, p, cfg)
		}
	}
	if err != nil {
		return err
	}
	run := j.Run
	if e.Undo {
		run = j.Undo
	}
	if _, err := run(context.Background()); err != nil {
		return err
	}
	return j.Close()
}

// A process that is killed for good, again and again, on the way there and then on the way back, loses nothing: the last
// one that is left alone ends where an uninterrupted one does.
func TestRealKillsLoseNothing(t *testing.T) {
	w, target := scene(t)
	at := filepath.Dir(w.root)
	e := errand{Root: w.root, Dir: w.dir, Base: w.base, Now: w.capture(), Target: target}
	before := w.picture()
	w.must(os.Mkdir(filepath.Join(at, "blobs"), 0o700))
	for d, b := range w.blobs {
		w.must(os.WriteFile(filepath.Join(at, "blobs", d.String()), b, 0o600))
	}
	whole, _ := scene(t)
	_, r := whole.restore(whole.first())
	if len(r.Kept) == 0 {
		t.Fatal("the scene has no conflict")
	}
	for _, e.Undo = range []bool{false, true} {
		b, err := json.Marshal(e)
		w.must(err)
		w.must(os.WriteFile(filepath.Join(at, "errand"), b, 0o600))
		kills := 0
		for n := 3; !w.child(at, n); n += 7 {
			if kills++; kills > 100 {
				t.Fatal("it never ends")
			}
		}
		if kills < 5 {
			t.Errorf("killed only %d times", kills)
		}
		if e.Undo {
			same(t, "undone", w.picture(), before)
		} else {
			same(t, "restored", timeless(w.picture()), timeless(whole.picture()))
		}
	}
	j := w.again(w.config(mover{}))
	w.must(j.Forget())
	w.clean()
}

// first is the target of a scene, captured anew.
func (w *world) first() store.Digest {
	t := newWorld(w.t)
	first(t)
	t.write("theirs", "v1").write("lost", "v1")
	d := t.capture()
	for k, b := range t.blobs {
		w.blobs[k] = b
	}
	return d
}

// child runs one and kills it at so many steps; true is that it came to its end before.
func (w *world) child(at string, steps int) bool {
	w.t.Helper()
	self, err := os.Executable()
	w.must(err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childEnv+"="+at)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	w.must(err)
	in, err := cmd.StdinPipe()
	w.must(err)
	w.must(cmd.Start())
	lines := bufio.NewScanner(out)
	for n := 0; n < steps; n++ {
		if !lines.Scan() {
			w.must(cmd.Wait())
			return true
		}
		if n < steps-1 {
			_, err := in.Write([]byte{'\n'})
			w.must(err)
		}
	}
	w.must(cmd.Process.Kill())
	_ = cmd.Wait()
	return false
}
