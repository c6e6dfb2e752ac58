package task

import (
	"os"
	"testing"
	"time"
)

// A process may call itself anything without being mistaken for another.
func TestParseStat(t *testing.T) {
	const rest = " S 11 12 13 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1000 1 18446744073709551615"
	for _, name := range []string{"sh", "a b", ") R 1 1 1", "((", "\n"} {
		p, err := parseStat(9, []byte("9 ("+name+")"+rest))
		if err != nil || p.process != (process{PID: 9, PPID: 11, PGID: 12, SID: 13, Ticks: 987654, State: 'S'}) {
			t.Errorf("%q: %+v, %v", name, p, err)
		}
	}
	for _, bad := range []string{"", "9", "9 (sh", "9 (sh) S 1", "9 (sh) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x"} {
		if p, err := parseStat(9, []byte(bad)); err == nil {
			t.Errorf("%q became %+v", bad, p)
		}
	}
}

// Every number is where the kernel puts it: what the file says of a known line, and of this very process.
func TestStatNumbers(t *testing.T) {
	const line = "9 (sh) Z 11 12 13 0 -1 4 1 2 3 4 500 60 7 1 20 0 1 0 987654 1000 25 18446744073709551615 " +
		"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 10752\n"
	s, err := parseStat(9, []byte(line))
	want := procStat{
		process: process{PID: 9, PPID: 11, PGID: 12, SID: 13, Ticks: 987654, State: 'Z'},
		own:     5600 * time.Millisecond, cpu: 5680 * time.Millisecond, rss: 25 * int64(os.Getpagesize()), exit: 42 << 8, told: true,
	}
	if err != nil || s != want {
		t.Errorf("%+v, %v; want %+v", s, err, want)
	}
	if s, err := readStat(os.Getpid()); err != nil || s.PPID != os.Getppid() || s.rss < 1<<20 || s.dead() || !s.told {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := readStat(1 << 30); err == nil {
		t.Error("a process that is not there has a stat file")
	}
}

// The kernel's own files say that they are empty, and are read as a whole all the same.
func TestReadKernelFile(t *testing.T) {
	for _, path := range []string{"/proc/self/cgroup", "/proc/self/status", "/proc/self/smaps"} {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readBounded(path)
		if err != nil || len(got) < len(want)/2 || got[len(got)-1] != '\n' {
			t.Errorf("%s: %d bytes of about %d, %v", path, len(got), len(want), err)
		}
	}
}
