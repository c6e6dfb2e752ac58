package pending

import "testing"

func TestIsAct(t *testing.T) {
	for in, want := range map[string]bool{"t1.s2.b3": true, "t1.s2.b3.a4": true, "t1.s2": false, "": false, "t1.s2.bx": false, "t1.s2.b3.a4.c5": false, "s1": false} {
		if IsAct(in) != want {
			t.Errorf("isAct(%q) = %v", in, !want)
		}
	}
}
