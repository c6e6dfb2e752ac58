package proof_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/homes"
)

// patience bounds every wait for something that must happen. Machines may be busy.
const patience = 60 * time.Second

// place is a home on disk with a directory for each session's work, and this process's look at them.
type place struct {
	t    *testing.T
	root string
	dir  string // the home
	home *homes.Home
}

// newPlace opens a home. When the test ends, nothing that was started in it may be left. The directory of the home may
// be prepared before it is opened.
func newPlace(t *testing.T, prepare ...func(dir string)) *place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, root: root, dir: filepath.Join(root, "home")}
	for _, f := range prepare {
		f(p.dir)
	}
	p.home = p.open(homes.Config{})
	t.Cleanup(func() {
		p.nothingLeft()
		p.endAll()
		if err := p.home.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// open opens the home once more, in this process.
func (p *place) open(cfg homes.Config) *homes.Home {
	p.t.Helper()
	if cfg.Environ == nil {
		cfg.Environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.root, "USER=proof"}
	}
	h, err := homes.Open(p.t.Context(), p.dir, cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	return h
}

// work makes a directory for one session to work in.
func (p *place) work(id string) string {
	p.t.Helper()
	dir := filepath.Join(p.root, "work", id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		p.t.Fatal(err)
	}
	return dir
}

// environ is what an agent starts with. Nothing of this process's environment gets in by accident.
func (p *place) environ(more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.root, "USER=proof", "LANG=C.UTF-8", "PERDURE_HOME=" + p.dir,
	}, more...)
}

// nothingLeft fails if a process that began here still lives.
func (p *place) nothingLeft() {
	deadline := time.Now().Add(10 * time.Second)
	for {
		left := processes(p.root)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			p.t.Errorf("left behind: %s", strings.Join(left, "; "))
			return
		}
		<-time.After(pause)
	}
}

// pause is how often a condition is looked at.
const pause = 5 * time.Millisecond

// endAll ends what is left, for a scenario that breaks things on purpose.
func (p *place) endAll() {
	for _, pid := range pids(p.root) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may just have ended
	}
}

// processes describes what mentions the path in its command line or environment, this process apart.
func processes(path string) (out []string) {
	for _, pid := range pids(path) {
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // it may just have ended
		out = append(out, fmt.Sprintf("pid %d: %s", pid, bytes.ReplaceAll(cmdline, []byte{0}, []byte{' '})))
	}
	return out
}

func pids(path string) (out []int) {
	entries, _ := os.ReadDir("/proc") // none: the processes of this machine cannot be seen
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		cmdline, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		environ, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if bytes.Contains(cmdline, []byte(path)) || bytes.Contains(environ, []byte(path)) {
			out = append(out, pid)
		}
	}
	return out
}

// errPatience says that what was waited for did not come.
var errPatience = errors.New("waited in vain")

// until polls a condition.
func until(ctx context.Context, what string, ok func() bool) error {
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			return fmt.Errorf("%w for %s", errPatience, what)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, context.Cause(ctx))
		case <-time.After(pause):
		}
	}
	return nil
}
