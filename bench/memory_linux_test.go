package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/capture"
)

const memoryEnv = "PERDURE_BENCH_MEMORY"

// What a process takes of memory for each of 300,000 files that it captures, the first time and when nothing has
// changed; the most that it had, and what is alive in the end.
func TestCaptureMemory(t *testing.T) {
	if at := os.Getenv(memoryEnv); at != "" {
		captureForMemory(t, at)
		return
	}
	if os.Getenv("PERDURE_BENCH") == "" {
		return
	}
	at := t.TempDir()
	for d := range 1000 {
		dir := filepath.Join(at, "root", fmt.Sprint("pkg", d/30), fmt.Sprint("dir", d))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for i := range 300 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("source_file_%03d.go", i)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"first capture", "nothing changed"} {
		c := exec.CommandContext(t.Context(), self, "-test.run=^TestCaptureMemory$")
		c.Env = append(os.Environ(), memoryEnv+"="+at)
		out, err := c.Output()
		line, _, _ := strings.Cut(string(out), "\n")
		t.Logf("%s: %s", what, line)
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
}

func captureForMemory(t *testing.T, at string) {
	t.Helper()
	blobs, err := blob.Open(filepath.Join(at, "blobs"), blob.Config{})
	if err != nil {
		t.Fatal(err)
	}
	before := peakMemory(t)
	d, err := capture.Open(filepath.Join(at, "root"), capture.Config{Blobs: blobs, Cache: filepath.Join(at, "cache"), MaxFiles: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Capture(t.Context(), capture.Walk)
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Release()
	peak := peakMemory(t)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("%d bytes a file at most, %d alive\n", (peak-before)/r.Files, int64(m.HeapAlloc)/r.Files)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// peakMemory is the most that this process had in memory so far.
func peakMemory(t *testing.T) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	n, err := strconv.ParseInt(strings.Fields(rest + " ?")[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}
