package task

import (
	"bytes"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Goal: output that went with the FIFO is never lost without a word, at whatever point of its work a shim was killed.
// What it was just doing may have touched the newest segment after the command had printed for the last time.
func TestOutputNobodyHeldIsSaidToBeMissing(t *testing.T) {
	const first = "first\n"
	rows := map[string]struct {
		kept string // after first
		last func(t *testing.T, o *output, d actDir)
	}{
		"nobody can tell": {"", func(*testing.T, *output, actDir) {}},
		"none of it":      {"", func(t *testing.T, o *output, _ actDir) { prints(t, o, "second\n") }},
		"a part of it only": {string(pattern(smallStep)), func(t *testing.T, o *output, _ actDir) {
			prints(t, o, string(pattern(2*smallStep)))
			later(t)
			steps(t, o)
		}},
		// The kernel stamps a file before it looks whether the process that writes to it is to die.
		"a step was broken off": {"", func(t *testing.T, o *output, d actDir) { prints(t, o, "second\n"); later(t); touched(t, o, d) }},
		// What is spliced into a FIFO leaves no time there.
		"printed by splice": {"", func(t *testing.T, o *output, _ actDir) { splices(t, o, "second\n") }},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			d := actDir(t.TempDir())
			if err := writeFile(d.path(runName), []byte("{}"), false); err != nil {
				t.Fatal(err)
			}
			later(t)
			o, err := openOutput(d, execPlan{})
			if err != nil {
				t.Fatal(err)
			}
			prints(t, o, first)
			later(t)
			steps(t, o)
			later(t)
			row.last(t, o, d)

			next, err := reopenOutput(d, execPlan{})
			if err != nil {
				t.Fatal(err)
			}
			if l, err := d.list(); err != nil || l.unread != nil {
				t.Errorf("while it is held, output is said to be missing after %v, %v", l.unread, err)
			}
			next.closeAll()
			o.closeAll()

			last, err := reopenOutput(d, execPlan{})
			if err != nil {
				t.Fatal(err)
			}
			defer last.closeAll()
			kept, err := os.ReadFile(d.path(segmentName(0)))
			if want := first + row.kept; err != nil || !bytes.Equal(kept, []byte(want)) {
				t.Fatalf("%d bytes are kept, want %d, %v", len(kept), len(want), err)
			}
			l, err := d.list()
			if err != nil || l.unread == nil || *l.unread != int64(len(kept)) {
				t.Errorf("output is said to be missing after %v, want %d, %v", l.unread, len(kept), err)
			}
		})
	}
}

// closeAll lets go of the FIFO, as the death of a shim does.
func (o *output) closeAll() {
	o.fifo.Close()
	unix.Close(o.come.fifo)
	unix.Close(o.come.copy[0])
	unix.Close(o.come.copy[1])
	if o.child != nil {
		o.child.Close()
	}
	if o.seg != nil {
		o.closeSegment()
	}
}

func prints(t *testing.T, o *output, text string) {
	t.Helper()
	if _, err := o.child.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func steps(t *testing.T, o *output) {
	t.Helper()
	if n, err := o.step(); n <= 0 || err != nil {
		t.Fatalf("a step moved %d bytes, %v", n, err)
	}
}

// touched is what a step leaves that was broken off before it moved a byte.
func touched(t *testing.T, o *output, d actDir) {
	t.Helper()
	now := time.Now()
	if err := os.Chtimes(d.path(segmentName(o.bases[0])), now, now); err != nil {
		t.Fatal(err)
	}
}

func splices(t *testing.T, o *output, text string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = w.WriteString(text)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if n, err := unix.Splice(int(r.Fd()), nil, int(o.child.Fd()), nil, len(text), 0); int(n) != len(text) || err != nil {
		t.Fatalf("spliced %d bytes, %v", n, err)
	}
}

// later waits until the times of files have gone on.
func later(t *testing.T) {
	t.Helper()
	path := t.TempDir() + "/clock"
	stamp := func() int64 {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		var info unix.Stat_t
		if err := unix.Stat(path, &info); err != nil {
			t.Fatal(err)
		}
		os.Remove(path)
		return info.Mtim.Nano()
	}
	begin := stamp()
	eventually(t, "time goes on", func() bool { return stamp() > begin+int64(20*time.Millisecond) })
}
