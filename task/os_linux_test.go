package task

import "testing"

// A process may call itself anything without being mistaken for another.
func TestParseStat(t *testing.T) {
	const rest = " S 11 12 13 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1000 1 18446744073709551615"
	for _, name := range []string{"sh", "a b", ") R 1 1 1", "((", "\n"} {
		p, err := parseStat(9, []byte("9 ("+name+")"+rest))
		if err != nil || p != (process{PID: 9, PPID: 11, PGID: 12, SID: 13, Ticks: 987654, State: 'S'}) {
			t.Errorf("%q: %+v, %v", name, p, err)
		}
	}
	for _, bad := range []string{"", "9", "9 (sh", "9 (sh) S 1", "9 (sh) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x"} {
		if p, err := parseStat(9, []byte(bad)); err == nil {
			t.Errorf("%q became %+v", bad, p)
		}
	}
}
