package bench

import (
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/capture"
)

// captured is a big project that is captured, by this and by git with a GIT_DIR of its own elsewhere.
type captured struct {
	t     *testing.T
	root  string
	files []string
	git   string
	base  string
	blobs *blob.Store
	dir   *capture.Dir
}

// bigProject makes a project of so many files, pieces of Go's own sources; 50,000 are 400 MB in 3,485 directories. Sizes
// are log-normal, with a median of 3.6 KB: so the files of large repositories are.
func bigProject(t *testing.T, n int) (root string, files []string) {
	t.Helper()
	root = filepath.Join(t.TempDir(), "project")
	r := rand.New(rand.NewPCG(1, 2))
	text := sources(t)
	dirs := []string{root}
	for len(dirs) <= n*3485/50_000 {
		dir := filepath.Join(dirs[r.IntN(len(dirs))], fmt.Sprintf("d%04d", len(dirs)))
		if len(dir)-len(root) > 80 {
			continue
		}
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		size := min(int(math.Exp(r.NormFloat64()*1.2+math.Log(3600))), 400_000)
		at := r.IntN(len(text) - size)
		path := filepath.Join(dirs[r.IntN(len(dirs))], fmt.Sprintf("f%05d.go", i))
		if err := os.WriteFile(path, text[at:at+size], 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	return root, files
}

// sources are 60 MB of Go's own.
func sources(t *testing.T) (text []byte) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(out)), "src"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || len(text) > 60<<20 {
			return err
		}
		b, err := os.ReadFile(path)
		text = append(text, b...)
		return err
	})
	if err != nil || len(text) < 10<<20 {
		t.Fatalf("%d bytes of sources: %v", len(text), err)
	}
	return text
}

func newCaptured(t *testing.T, n int) *captured {
	t.Helper()
	c := &captured{t: t, base: t.TempDir()}
	c.root, c.files = bigProject(t, n)
	c.git = filepath.Join(c.base, "git")
	c.run("init", "-q")
	var err error
	if c.blobs, err = blob.Open(filepath.Join(c.base, "blobs"), blob.Config{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.blobs.Close() })
	c.open(true)
	return c
}

func (c *captured) open(watch bool) {
	c.t.Helper()
	var err error
	c.dir, err = capture.Open(c.root, capture.Config{Blobs: c.blobs, Cache: filepath.Join(c.base, "stat"), Watch: watch})
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *captured) run(args ...string) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), "git", args...)
	cmd.Dir = c.root
	cmd.Env = []string{"GIT_DIR=" + c.git, "GIT_WORK_TREE=" + c.root, "PATH=" + os.Getenv("PATH"), "HOME=" + c.base}
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func (c *captured) timeGit() time.Duration {
	start := time.Now()
	c.run("add", "-A")
	c.run("write-tree")
	return time.Since(start)
}

func (c *captured) time(rung capture.Rung) time.Duration {
	c.t.Helper()
	start := time.Now()
	r, err := c.dir.Capture(c.t.Context(), rung)
	took := time.Since(start)
	if err == nil {
		err = r.Release()
	}
	if err != nil || r.Rung != rung {
		c.t.Fatalf("%s, asked for %s: %v", r.Rung, rung, err)
	}
	return took
}

// edit writes ten files anew.
func (c *captured) edit(round int) {
	c.t.Helper()
	for i := range 10 {
		path := c.files[(round*997+i*4999)%len(c.files)]
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			c.t.Fatal(err)
		}
		_, err = fmt.Fprintf(f, "\nround %d\n", round)
		if err := f.Close(); err != nil {
			c.t.Fatal(err)
		}
		if err != nil {
			c.t.Fatal(err)
		}
	}
}

// room is what a directory takes on the disk, in bytes.
func room(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		var st unix.Stat_t
		if err == nil {
			err = unix.Lstat(path, &st)
		}
		bytes += st.Blocks * 512
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// settle waits until what was written just now can no longer change without another stamp: so long a walk reads it again.
func (c *captured) settle() {
	c.t.Helper()
	for start := time.Now(); time.Since(start) < 40*time.Millisecond; {
		c.time(capture.Walk)
	}
	c.time(capture.Walk)
}

// Goals, of 50,000 files of 400 MB in all: a first capture takes at most 0.7 of git's time and 0.5 of its room; with
// nothing changed a walk takes at most 1.15 of the bare walk with as many workers, and 0.6 of git, a hint at most 1 ms;
// ten edited files are durable in a tenth of git's time; a process that begins pays at most 30 ms for what is known.
func TestCaptureFigures(t *testing.T) {
	if os.Getenv("PERDURE_BENCH") == "" {
		return
	}
	c := newCaptured(t, 50_000)
	first, firstGit := c.time(capture.Walk), c.timeGit()
	ours, gits := room(t, filepath.Join(c.base, "blobs")), room(t, filepath.Join(c.git, "objects"))
	t.Logf("first: %.1f s, git %.1f s: %.2f (0.7); room %d MB, git %d MB: %.2f (0.5)", first.Seconds(), firstGit.Seconds(),
		first.Seconds()/firstGit.Seconds(), ours>>20, gits>>20, float64(ours)/float64(gits))
	c.settle()
	var toBare, toGit, hints, edits []float64
	for round := range 15 {
		bare, walk, git := bareWalk(t, c.root, 2), c.time(capture.Walk), c.timeGit()
		toBare, toGit = append(toBare, walk.Seconds()/bare.Seconds()), append(toGit, walk.Seconds()/git.Seconds())
		hints = append(hints, c.time(capture.Hint).Seconds()*1000)
		c.edit(round)
		edit := c.time(capture.Hint)
		edits = append(edits, edit.Seconds()/c.timeGit().Seconds())
		c.settle()
	}
	t.Logf("nothing changed: walk to the bare walk %.2f (1.15), to git %.2f (0.6); hint %.3f ms (1)", median(toBare), median(toGit), median(hints))
	t.Logf("ten files edited, durable: %.3f of git (0.1)", median(edits))
	if err := c.dir.Close(); err != nil {
		t.Fatal(err)
	}
	var opens []float64
	for range 9 {
		start := time.Now()
		c.open(false)
		opens = append(opens, time.Since(start).Seconds()*1000)
		if err := c.dir.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("opening with what is known of 50,000 files: %.1f ms (30)", median(opens))
}
