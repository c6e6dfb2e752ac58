package process

import (
	"os"
	"testing"
)

func TestShimAbove(t *testing.T) {
	tree := map[int]struct {
		parent int
		args   []string
	}{
		10: {5, []string{"perdure", "approvals"}}, 5: {3, []string{"sh"}}, 3: {1, []string{"/proc/self/exe", shimArgument, "/home/x/acts/s/t1"}},
		20: {1, []string{"perdure"}}, 1: {0, []string{"init"}},
		30: {31, []string{"perdure"}}, 31: {1, []string{"sh", shimArgument, "/home/other/acts/s/t1"}},
		50: {51, []string{"perdure"}}, 51: {1, []string{"grep", shimArgument, "word"}},
		40: {40, nil},
	}
	look := func(pid int) (int, []string, error) {
		p, ok := tree[pid]
		if !ok {
			return 0, nil, os.ErrNotExist
		}
		return p.parent, p.args, nil
	}
	for pid, want := range map[int]int{10: 3, 3: 3, 20: 0, 30: 31, 50: 0, 40: 0, 99: 0} {
		if got := ShimAbove(pid, look); got != want {
			t.Errorf("above %d: %d, want %d", pid, got, want)
		}
	}
}
