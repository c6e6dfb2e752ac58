//go:build linux || darwin

package task

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/command"
)

// fakeCgroups is a directory with the files of a unified hierarchy, of which the kernel's part is played by mkdir.
func fakeCgroups(t *testing.T, own string, hands map[string]string) cgroups {
	t.Helper()
	c := cgroups{mount: t.TempDir(), own: own}
	for at, controllers := range hands {
		dir := filepath.Join(c.mount, at)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte(controllers), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.mkdir = func(path string) error {
		if err := os.Mkdir(path, 0o700); err != nil {
			return err
		}
		for _, name := range []string{"cgroup.procs", "cgroup.kill", "memory.max", "memory.swap.max", "memory.oom.group", "memory.events"} {
			if err := os.WriteFile(filepath.Join(path, name), nil, 0o600); err != nil {
				return err
			}
		}
		return nil
	}
	return c
}

// Goal: a group with a memory limit is made in the nearest place above that hands the controller down, and is told what
// the kernel's file protocol wants.
func TestCgroupFiles(t *testing.T) {
	c := fakeCgroups(t, "/user.slice/app.slice/me.scope", map[string]string{
		"": "cpu memory pids\n", "user.slice": "cpu memory pids\n", "user.slice/app.slice": "memory pids\n", "user.slice/app.slice/me.scope": "\n",
	})
	g, err := c.create("perdure-7-8", 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(c.mount, "user.slice/app.slice/perdure-7-8"); g.dir != want {
		t.Errorf("made at %s, want %s", g.dir, want)
	}
	if err := errors.Join(g.add(1234), g.kill()); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{
		"memory.max": "1073741824", "memory.swap.max": "0", "memory.oom.group": "1", "cgroup.procs": "1234", "cgroup.kill": "1",
	} {
		if b, err := os.ReadFile(filepath.Join(g.dir, name)); err != nil || string(b) != want {
			t.Errorf("%s is %q, want %q: %v", name, b, want, err)
		}
	}
	for events, want := range map[string]bool{"": false, "low 0\noom 3\noom_kill 0\n": false, "oom 1\noom_kill 12\noom_group_kill 1\n": true} {
		if err := os.WriteFile(filepath.Join(g.dir, "memory.events"), []byte(events), 0o600); err != nil {
			t.Fatal(err)
		}
		if g.outOfMemory() != want {
			t.Errorf("%q: out of memory is %v", events, !want)
		}
	}
}

// Goal: where no group can be made that is said, and nothing is left behind.
func TestCgroupRefused(t *testing.T) {
	handed := map[string]string{"a": "memory\n", "a/b": "\n"}
	for name, change := range map[string]func(c *cgroups){
		"no unified hierarchy": func(c *cgroups) { c.own = "" },
		"no controller": func(c *cgroups) {
			_ = os.WriteFile(filepath.Join(c.mount, "a/cgroup.subtree_control"), []byte("cpu memory_recursiveprot\n"), 0o600)
		},
		"not writable": func(c *cgroups) { c.mkdir = func(string) error { return fs.ErrPermission } },
		"a way out":    func(c *cgroups) { c.own = "/../../.." },
		"no such limit": func(c *cgroups) {
			c.mkdir = func(path string) error { return os.Mkdir(path, 0o700) }
		},
	} {
		c := fakeCgroups(t, "/a/b", handed)
		change(&c)
		if g, err := c.create("x", 1); err == nil {
			t.Errorf("%s: made %s", name, g.dir)
		}
		if _, err := os.Stat(filepath.Join(c.mount, "a/x")); err == nil {
			t.Errorf("%s: a group is left behind", name)
		}
	}
	// Of swap and of killing as a group older kernels know nothing; the limit holds without.
	c := fakeCgroups(t, "/a/b", handed)
	c.mkdir = func(path string) error {
		return errors.Join(os.Mkdir(path, 0o700), os.WriteFile(filepath.Join(path, "memory.max"), nil, 0o600))
	}
	if _, err := c.create("x", 1); err != nil {
		t.Error(err)
	}
}

// Goal: a command that the kernel killed for its group's memory limit is told so; without the kernel's word it is not.
func TestCgroupOutOfMemoryIsTold(t *testing.T) {
	dir := t.TempDir()
	for events, want := range map[string]string{"oom_kill 1\n": "limit (memory)", "oom_kill 0\n": "unknown"} {
		if err := os.WriteFile(filepath.Join(dir, "memory.events"), []byte(events), 0o600); err != nil {
			t.Fatal(err)
		}
		s := &shim{
			dir: actDir(t.TempDir()), out: &output{}, enclosure: &cgroup{dir: dir}, end: &ending{status: unix.WaitStatus(unix.SIGKILL)},
			plan: execPlan{Limits: command.Limits{MemoryBytes: 1}},
		}
		if rec := s.exitRecord(); rec.By != want || rec.Signal != "SIGKILL" {
			t.Errorf("%q: %s by %s, want %s", strings.TrimSpace(events), rec.Signal, rec.By, want)
		}
	}
}
