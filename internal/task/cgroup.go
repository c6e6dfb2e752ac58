//go:build linux || darwin

package task

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Where the kernel's unified hierarchy (cgroup v2) is, and who says where a process is in it.
const (
	cgroupMount = "/sys/fs/cgroup"
	cgroupOwn   = "/proc/self/cgroup"
)

// maxCgroupDepth bounds how far up a place for a new group is looked for.
const maxCgroupDepth = 32

// cgroups is the hierarchy as a shim sees it. mkdir is the system's; on a file system that is no hierarchy, tests make
// with it what the kernel would.
type cgroups struct {
	mount string
	own   string // the shim's own group, as /proc/self/cgroup has it; "" where there is no unified hierarchy
	mkdir func(path string) error
}

// systemCgroups is the hierarchy of this machine.
func systemCgroups() cgroups {
	c := cgroups{mount: cgroupMount, mkdir: func(path string) error { return os.Mkdir(path, 0o755) }}
	text, err := readBounded(cgroupOwn)
	if err != nil {
		return c
	}
	for line := range strings.Lines(string(text)) {
		if own, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			c.own = own
		}
	}
	if _, err := os.Stat(filepath.Join(c.mount, "cgroup.controllers")); err != nil {
		c.own = "" // version 1, or both mixed: the unified one has no controllers then
	}
	return c
}

// cgroup is a group of one command's processes.
type cgroup struct{ dir string }

// errNoCgroup says that no group with a memory limit can be made here.
var errNoCgroup = errors.New("no delegated cgroup with a memory controller")

// create makes a group with a memory limit, in the nearest group above this process that hands the memory controller to
// its children and may be written to. A group that has processes of its own cannot: that is the kernel's rule.
func (c cgroups) create(name string, memory int64) (*cgroup, error) {
	if c.own == "" {
		return nil, errNoCgroup
	}
	at := filepath.Clean("/" + c.own)
	for range maxCgroupDepth {
		hands, err := readBounded(filepath.Join(c.mount, at, "cgroup.subtree_control"))
		if err == nil && slices.Contains(strings.Fields(string(hands)), "memory") {
			g := &cgroup{dir: filepath.Join(c.mount, at, name)}
			if err := c.mkdir(g.dir); err != nil {
				return nil, fmt.Errorf("%w: %w", errNoCgroup, err)
			}
			if err := g.limit(memory); err != nil {
				g.remove()
				return nil, err
			}
			return g, nil
		}
		if at == "/" {
			break
		}
		at = filepath.Dir(at)
	}
	return nil, errNoCgroup
}

// limit bounds the memory of all processes in the group together. When it is reached and nothing can be given back, the
// kernel kills all of them: half a tree is of no use. Swap is bounded where there is some.
func (g *cgroup) limit(memory int64) error {
	if err := g.write("memory.max", strconv.FormatInt(memory, 10)); err != nil {
		return err
	}
	for name, value := range map[string]string{"memory.swap.max": "0", "memory.oom.group": "1"} {
		if err := g.write(name, value); err != nil && !missing(err) {
			return err
		}
	}
	return nil
}

// add moves a process, and what it will start, into the group.
func (g *cgroup) add(pid int) error { return g.write("cgroup.procs", strconv.Itoa(pid)) }

// kill ends every process in the group at once. Older kernels have no such file; then others have to.
func (g *cgroup) kill() error { return g.write("cgroup.kill", "1") }

// outOfMemory says whether the kernel killed processes of the group for its limit.
func (g *cgroup) outOfMemory() bool {
	text, err := readBounded(filepath.Join(g.dir, "memory.events"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "oom_kill" && f[1] != "0" {
			return true
		}
	}
	return false
}

// remove deletes the group. One that still has processes stays; the kernel sees to that.
func (g *cgroup) remove() { _ = os.Remove(g.dir) }

func (g *cgroup) write(name, value string) error {
	f, err := os.OpenFile(filepath.Join(g.dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}
