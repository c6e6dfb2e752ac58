//go:build linux || darwin

package task

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pattern is n bytes whose content tells their offset.
func pattern(n int) []byte {
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "%015d\n", b.Len())
	}
	return b.Bytes()[:n]
}

// checkKept walks all output from an offset and compares it with what was printed. It returns kept bytes and gaps.
func checkKept(t *testing.T, b *bench, act string, from int64, want []byte) (kept, gaps int64) {
	t.Helper()
	for pos := from; ; {
		chunk, next, gap, err := b.Read(testSession, act, pos, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if next == pos {
			if pos != int64(len(want)) {
				t.Errorf("output ends at %d, want %d", pos, len(want))
			}
			return kept, gaps
		}
		start := pos + gap
		if next != start+int64(len(chunk)) || !bytes.Equal(chunk, want[start:next]) {
			t.Fatalf("read from %d: gap %d, next %d, %d bytes that differ", pos, gap, next, len(chunk))
		}
		kept, gaps, pos = kept+int64(len(chunk)), gaps+gap, next
	}
}

// However small the bound, there are two segments; without one it is 64 MiB.
func TestSegmentPlan(t *testing.T) {
	type plan struct {
		size  int64
		count int
	}
	for keep, want := range map[int64]plan{
		-1: {8 << 20, 8}, 0: {8 << 20, 8}, 1: {4 << 10, 2}, 12 << 10: {4 << 10, 3}, 256 << 10: {32 << 10, 8},
		64 << 20: {8 << 20, 8}, 128 << 20: {8 << 20, 16},
	} {
		if size, count := segmentPlan(keep); (plan{size, count}) != want {
			t.Errorf("%d bytes: %d segments of %d, want %+v", keep, count, size, want)
		}
	}
}

// Output beyond the bound keeps its beginning and its end, and every reader learns what it missed.
func TestOutputBound(t *testing.T) {
	b := newBench(t)
	const total, keep = 3_000_001, 256 << 10
	want := pattern(total)
	if err := os.WriteFile(filepath.Join(b.cwd, "in"), want, 0o600); err != nil {
		t.Fatal(err)
	}
	spec := b.script("a", "cat in")
	spec.KeepBytes = keep
	b.start(spec)
	st := b.wait("a")
	if code(st) != "exited 0" || st.Output != total {
		t.Errorf("%s with %d bytes", code(st), st.Output)
	}
	size, _ := segmentPlan(keep)
	kept, gaps := checkKept(t, b, "a", 0, want)
	if kept+gaps != total || kept > keep || kept < keep-size {
		t.Errorf("kept %d, missed %d of %d, bound %d", kept, gaps, total, keep)
	}
	if first, _, gap, _ := b.Read(testSession, "a", 0, int(size)+1); gap != 0 || int64(len(first)) != size {
		t.Errorf("the first segment has %d bytes after a gap of %d", len(first), gap)
	}
	if kept, gaps := checkKept(t, b, "a", total-6*size, want); kept != 6*size || gaps != 0 {
		t.Errorf("of the last %d bytes kept %d, missed %d\n%s", 6*size, kept, gaps, b.log("a"))
	}
	if kept, gaps := checkKept(t, b, "a", total/2, want); kept+gaps != total-total/2 || gaps == 0 {
		t.Errorf("from the middle: kept %d, missed %d", kept, gaps)
	}
	if chunk, next, gap, err := b.Read(testSession, "a", total+5, 0); len(chunk) != 0 || next != total+5 || gap != 0 || err != nil {
		t.Errorf("beyond the end: %d bytes, next %d, gap %d, %v", len(chunk), next, gap, err)
	}
	if _, _, _, err := b.Read(testSession, "none", 0, 0); !errors.Is(err, ErrMissing) {
		t.Errorf("unknown act: %v", err)
	}
	if _, _, _, err := b.Read(testSession, "a", -1, 0); !errors.Is(err, ErrInvalid) {
		t.Errorf("negative offset: %v", err)
	}
}

// A flood costs the bound on disk, and the shim's memory does not grow with it.
func TestOutputFlood(t *testing.T) {
	b := newBench(t)
	size := int64(256 << 20)
	if os.Getenv("PERDURE_SOAK") != "" {
		size = 10 << 30
	}
	spec := b.script("a", fmt.Sprintf("head -c %d /dev/zero; until [ -e stop ]; do sleep 0.01; done", size))
	spec.KeepBytes = 4 << 20
	b.start(spec)
	within(t, 5*time.Minute, "all is printed", func() bool { return b.state("a").Output == size })
	shim := b.processesOf("a", shimArg)[0]
	_, peak, _ := strings.Cut(procFile(shim.PID, "status"), "VmHWM:")
	var kib int
	fmt.Sscan(peak, &kib)
	if kib == 0 || kib > 24<<10 {
		t.Errorf("the shim's memory peaked at %d KiB", kib)
	}
	var disk int64
	segs, err := actDir(filepath.Join(b.Dir, testSession, "a")).segments()
	for _, s := range segs {
		disk += s.end - s.base
	}
	if err != nil || disk > 4<<20 {
		t.Errorf("%d bytes on disk, %v", disk, err)
	}
	os.WriteFile(filepath.Join(b.cwd, "stop"), nil, 0o600)
	if st := b.wait("a"); code(st) != "exited 0" || st.Output != size {
		t.Errorf("%s, %d bytes", code(st), st.Output)
	}
}

// A reader that follows while segments rotate away under it never sees a wrong byte.
func TestReadWhileRotating(t *testing.T) {
	b := newBench(t)
	const total = 500_000
	want := pattern(total)
	if err := os.WriteFile(filepath.Join(b.cwd, "in"), want, 0o600); err != nil {
		t.Fatal(err)
	}
	spec := b.script("a", "split -b 5000 in part.; for f in part.*; do cat $f; done")
	spec.KeepBytes = 32 << 10
	b.start(spec)
	var pos int64
	eventually(t, "the reader reaches the end", func() bool {
		for {
			chunk, next, gap, err := b.Read(testSession, "a", pos, 0)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(chunk, want[pos+gap:next]) {
				t.Fatalf("wrong bytes after %d", pos+gap)
			}
			if next == pos {
				return pos == total
			}
			pos = next
		}
	})
	if st := b.wait("a"); st.Output != total {
		t.Errorf("%s, %d bytes", code(st), st.Output)
	}
}

// The disk refuses output for a while: the command does not notice, the hole is named, and what follows is kept.
func TestOutputRefused(t *testing.T) {
	b := newBench(t)
	d := actDir(filepath.Join(b.Dir, testSession, "a"))
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.path(spareName), bytes.Repeat([]byte{' '}, spareRoom), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := openOutput(d, execPlan{KeepBytes: 8 * minSegment})
	if err != nil {
		t.Fatal(err)
	}
	defer o.fifo.Close()
	defer o.child.Close()
	print := func(b []byte) {
		o.child.Write(b)
		o.drain()
	}
	want := pattern(6 * minSegment)
	print(want[:minSegment])
	block := d.path(segmentName(minSegment))
	if err := os.Mkdir(block, 0o700); err != nil { // no file can be opened where a directory is
		t.Fatal(err)
	}
	print(want[minSegment : minSegment+100])
	print(want[minSegment+100 : 2*minSegment])
	o.seg, _ = os.Open(os.DevNull) // and a write to this fails
	print(want[2*minSegment : 3*minSegment])
	if end, _, _, err := outputEnd(d); err != nil || end != o.end() {
		t.Errorf("a reader counts %d bytes, %v", end, err)
	}
	os.Remove(block)
	for i := range minSegment / 16 { // a disk that stays full does not cost what is kept
		if o.seg == nil {
			o.openSegment()
		}
		o.seg.Close()
		o.seg, _ = os.Open(os.DevNull)
		print(want[3*minSegment+16*i : 3*minSegment+16*i+16])
	}
	print(want[4*minSegment:])
	if o.end() != int64(len(want)) {
		t.Errorf("counted %d bytes of %d", o.end(), len(want))
	}
	kept, gaps := checkKept(t, b, "a", 0, want)
	if gaps != 2*minSegment+100 || kept+gaps != int64(len(want)) { // the refused chunk, and the refused write
		t.Errorf("kept %d, missed %d", kept, gaps)
	}
}

// A command sees no descriptor but its three, its own group and session, a parent that is its shim, and is the one
// that the kernel kills first.
func TestCommandSurroundings(t *testing.T) {
	b := newBench(t)
	leak, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer leak.Close()
	if _, err := dupInheritable(leak); err != nil { // as if the agent's own parent had left one open
		t.Fatal(err)
	}
	spec := b.script("a", "")
	spec.Argv = []string{"/bin/sh", "-c", `ls /proc/self/fd | tr '\n' ' '; cat /proc/self/oom_score_adj; ps -o pgid=,sid=,ppid= -p $$; env; cat /proc/$PPID/oom_score_adj; grep SigIgn /proc/self/status`}
	spec.Env = []string{"PATH=" + os.Getenv("PATH"), "ONLY=this", actKey + "=/other"}
	b.start(spec)
	st := b.wait("a")
	lines := strings.Split(b.output("a"), "\n")
	if !strings.HasPrefix(lines[0], "0 1 2 3 ") || strings.Count(lines[0], " ") != 4 {
		t.Errorf("descriptors: %s", lines[0]) // 3 is the listing itself
	}
	ids := strings.Fields(lines[1])
	if len(ids) != 3 || ids[0] != strconv.Itoa(st.PID) || ids[1] != ids[2] || ids[1] == strconv.Itoa(os.Getpid()) {
		t.Errorf("pgid, sid, ppid: %v of %d", ids, st.PID)
	}
	rest := strings.Join(lines[2:], "\n")
	act := actKey + "=" + filepath.Join(b.Dir, testSession, "a") + "\n"
	if !strings.Contains(rest, "ONLY=this") || strings.Count(rest, "PERDURE") != 1 || !strings.Contains(rest, act) || strings.Contains(rest, "GOGC") {
		t.Errorf("environment: %s", rest)
	}
	if own := ignoredSignals(t); !strings.Contains(rest, own) {
		t.Errorf("ignored signals: %s, the agent's own are %s", rest, own)
	}
	var mine, shims int
	fmt.Sscan(lines[0][len("0 1 2 3 "):], &mine)
	for _, l := range lines[2:] {
		if n, err := strconv.Atoi(l); err == nil {
			shims = n
		}
	}
	if mine <= shims {
		t.Errorf("oom score of the command %d, of the shim %d", mine, shims)
	}
}

// ignoredSignals is the line of this process's status that names the signals it ignores: whoever started it may have
// had some ignored already.
func ignoredSignals(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "SigIgn:") {
			return strings.TrimSpace(line)
		}
	}
	t.Fatal("no SigIgn in the process's status")
	return ""
}

// Goal: a pipe that a command puts where the next piece of its output is to be kept makes its shim wait for nobody: what
// was printed counts, it is dropped like what a disk refuses, and what follows is kept.
func TestPipeInThePlaceOfASegment(t *testing.T) {
	for name, read := range map[string]bool{"that nobody reads": false, "that somebody reads": true} {
		t.Run(name, func(t *testing.T) {
			d := actDir(t.TempDir())
			o, err := openOutput(d, execPlan{})
			if err != nil {
				t.Fatal(err)
			}
			pipe := d.path(segmentName(0))
			if err := unix.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			if read {
				r, err := os.OpenFile(pipe, os.O_RDWR, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
			}
			done := make(chan struct{})
			go func() {
				o.child.WriteString("first\n")
				o.drain()
				os.Remove(pipe)
				o.child.WriteString("second\n")
				o.drain()
				close(done)
			}()
			select {
			case <-done:
			case <-time.After(20 * time.Second):
				t.Fatal("it waits for the pipe")
			}
			kept, err := os.ReadFile(d.path(segmentName(6)))
			if string(kept) != "second\n" || err != nil || o.end() != 13 {
				t.Errorf("%q is kept of %d bytes, %v", kept, o.end(), err)
			}
		})
	}
}
