package bench

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/homes"
)

// fork is what one perdure fork, a process of its own, costs.
type fork struct {
	commits, bytes int      // in the write-ahead log
	syncs          []string // by file
}

// forkOnce runs the command under strace and looks at the write-ahead log before and after.
func forkOnce(t *testing.T, exe, home, parent string) (f fork) {
	t.Helper()
	before := walFrames(t, home)
	trace := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command("strace", "-f", "-y", "-e", "trace=fsync,fdatasync", "-o", trace, exe, "fork", "--conversation", parent)
	cmd.Env = []string{"PERDURE_HOME=" + home, "HOME=" + home, "PATH=" + os.Getenv("PATH")}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	added := walFrames(t, home)[len(before):]
	for _, size := range added {
		if f.bytes += 24 + 4096; size != 0 {
			f.commits++
		}
	}
	b, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if _, file, found := strings.Cut(line, "sync("); found {
			file, _, _ = strings.Cut(file, ">")
			f.syncs = append(f.syncs, filepath.Base(file))
		}
	}
	return f
}

// walFrames reads the pages of the write-ahead log: for each the size of the database if it ends a commit, else 0.
func walFrames(t *testing.T, home string) (frames []uint32) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(home, "perdure.db-wal"))
	if err != nil {
		t.Fatal(err)
	}
	for at := 32; at+24+4096 <= len(b) && string(b[at+8:at+16]) == string(b[16:24]); at += 24 + 4096 {
		frames = append(frames, binary.BigEndian.Uint32(b[at+4:]))
	}
	return frames
}

// Goal: a fork of the conversation is one commit and one sync of the log, of the same bytes whatever its parent's length.
func TestForkFigures(t *testing.T) {
	if os.Getenv("PERDURE_BENCH") == "" {
		return
	}
	exe, home := buildPerdure(t), filepath.Join(t.TempDir(), "home")
	open := func() *homes.Home {
		h, err := homes.Open(t.Context(), home, homes.Config{ShimPath: []string{"/bin/false"}})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	h := open()
	grow(t, h, "n100", 100)
	grow(t, h, "n100000", 100_000)
	times := map[string]time.Duration{}
	for _, parent := range []string{"n100", "n100000"} {
		times[parent] = medianOf(t, 31, func() {
			if _, _, err := h.Fork(t.Context(), parent, 0, "", ""); err != nil {
				t.Fatal(err)
			}
		})
	}
	onDisk(t, h)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	forkOnce(t, exe, home, "n100") // makes the log that the others add to
	short, long := forkOnce(t, exe, home, "n100"), forkOnce(t, exe, home, "n100000")
	t.Logf("of 100 events: %v in the library; the command: %+v", times["n100"], short)
	t.Logf("of 100,000 events: %v in the library; the command: %+v", times["n100000"], long)
	if short.commits != 1 || long.commits != 1 || len(short.syncs) != 1 || len(long.syncs) != 1 {
		t.Errorf("target: one commit, one sync")
	}
	if long.bytes != short.bytes {
		t.Errorf("target: the same bytes")
	}
}
