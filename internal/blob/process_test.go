package blob

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/store"
)

// TestMain is the writing process of TestProcesses if it is told to be.
func TestMain(m *testing.M) {
	if dir := os.Getenv("PERDURE_TEST_BLOB_WRITER"); dir != "" {
		seed, _ := strconv.ParseUint(os.Getenv("PERDURE_TEST_BLOB_SEED"), 10, 64)
		if err := writeForever(dir, seed); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writeForever commits contents, most of which others have, too, and names them in a log of its own, until it is killed.
func writeForever(dir string, seed uint64) error {
	s, err := Open(filepath.Join(dir, "blobs"), Config{PackSize: 100_000})
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(dir, fmt.Sprint("log", seed)), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(seed, 5))
	for {
		b, err := s.Batch(context.Background())
		if err != nil {
			return err
		}
		line := ""
		for range 4 {
			n := rng.Uint64N(40)
			d, err := b.Put(noise(n, 2000+int(n)*200))
			if err != nil {
				return err
			}
			line += d.String() + " "
		}
		if err := b.Commit(); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(log, line); err != nil {
			return err
		}
		if err := b.Close(); err != nil {
			return err
		}
		fmt.Println("batch")
	}
}

// named reads the contents of each log's newest lines; older ones are no roots.
func named(dir string, writers int) ([]store.Digest, error) {
	var all []store.Digest
	for i := range writers {
		b, err := os.ReadFile(filepath.Join(dir, fmt.Sprint("log", i)))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		lines := strings.Split(string(b), "\n")
		lines = lines[:len(lines)-1] // a line that is being written, or was when its writer was killed
		for _, line := range lines[max(0, len(lines)-2):] {
			for _, f := range strings.Fields(line) {
				var d store.Digest
				if err := d.UnmarshalText([]byte(f)); err != nil {
					return nil, err
				}
				all = append(all, d)
			}
		}
	}
	return all, nil
}

// Goal: real processes write, are killed with SIGKILL at any time, and are replaced, while Sweep runs: all that their logs
// name can be read, and nothing is left of the killed ones.
func TestProcesses(t *testing.T) {
	dir := t.TempDir()
	const writers, kills = 3, 12
	ctx, stop := context.WithTimeout(t.Context(), 4*time.Minute)
	defer stop()
	rng := rand.New(rand.NewPCG(1, 6))
	s := openAt(t, filepath.Join(dir, "blobs"), Config{PackSize: 100_000})
	roots := func(context.Context) (func(func(store.Digest) bool), error) {
		ds, err := named(dir, writers)
		return func(yield func(store.Digest) bool) {
			for _, d := range ds {
				if !yield(d) {
					return
				}
			}
		}, err
	}
	none := func(store.Digest) ([]store.Digest, error) { return nil, nil }
	for kill := range kills {
		var cmds []*exec.Cmd
		for i := range writers {
			cmd := exec.CommandContext(ctx, os.Args[0])
			cmd.Env = append(os.Environ(), "PERDURE_TEST_BLOB_WRITER="+dir, fmt.Sprint("PERDURE_TEST_BLOB_SEED=", i))
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			cmds = append(cmds, cmd)
			lines := bufio.NewScanner(out)
			for range 1 + rng.IntN(5) {
				lines.Scan()
			}
			go func() {
				for lines.Scan() {
				}
			}()
		}
		if _, err := s.Sweep(ctx, roots, none, nil); err != nil {
			t.Fatal(err)
		}
		for _, cmd := range cmds {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		ds, err := named(dir, writers)
		if err != nil || len(ds) == 0 {
			t.Fatal(len(ds), err)
		}
		look := openAt(t, filepath.Join(dir, "blobs"), Config{})
		for _, d := range ds {
			if _, err := look.Get(d); err != nil {
				t.Fatalf("kill %d: %v", kill, err)
			}
		}
	}
	if _, err := s.Sweep(ctx, roots, none, nil); err != nil {
		t.Fatal(err)
	}
	r, err := s.Verify(ctx, nil)
	if err != nil || len(r.Damaged) > 0 || r.Torn > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	ds, err := named(dir, writers)
	if err != nil {
		t.Fatal(err)
	}
	live := map[store.Digest]bool{}
	for _, d := range ds {
		live[d] = true
	}
	if r.Bytes > int64(len(live))*10_000*2+100_000 {
		t.Errorf("%d bytes for %d contents that live", r.Bytes, len(live))
	}
	files, err := os.ReadDir(filepath.Join(dir, "blobs", "packs"))
	for _, f := range files {
		if strings.HasSuffix(f.Name(), tempExt) {
			t.Errorf("%s is left", f.Name())
		}
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
	}
	if err != nil {
		t.Error(err)
	}
}
