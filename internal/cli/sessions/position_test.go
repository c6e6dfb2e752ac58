package sessions

import "testing"

func TestPosition(t *testing.T) {
	for in, want := range map[string]struct {
		id  string
		seq int64
	}{"s1": {"s1", 0}, "s1@3": {"s1", 3}, "me@home": {"me@home", 0}, "me@home@9": {"me@home", 9}, "x@": {"x@", 0}} {
		id, seq, err := position(in)
		if err != nil || id != want.id || seq != want.seq {
			t.Errorf("position(%q) = %q, %d, %v", in, id, seq, err)
		}
	}
	if _, _, err := position("s1@99999999999999999999"); err == nil {
		t.Error("a seq beyond 64 bits is taken")
	}
}
