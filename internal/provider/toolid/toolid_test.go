package toolid

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/model"
)

// An id that is fit stays; a missing, odd or repeated one is replaced by one that every API takes, is new in the
// history, and is the same for every attempt of the act.
func TestClaim(t *testing.T) {
	history := []model.Message{{Blocks: []model.Block{{Tool: &model.ToolUse{ID: "toolu_1"}}, {}}}}
	for _, c := range []struct{ id, act, want string }{
		{"toolu_2", "t1.s2.b0.a1", "toolu_2"},
		{"", "t1.s2.b0.a1", "call_t1_s2_b0_3"},
		{"", "t1.s2.b0.a7", "call_t1_s2_b0_3"},
		{"toolu_1", "t1.s2.b0.a1", "call_t1_s2_b0_3"},
		{"a b", "t1.s2.b0.a1", "call_t1_s2_b0_3"},
		{strings.Repeat("x", 65), "", "call__3"},
	} {
		u := InHistory(history)
		if got := u.Claim(c.id, c.act, 3, Fit); got != c.want {
			t.Errorf("%q: got %q, want %q", c.id, got, c.want)
		}
		again := u.Claim(c.want, c.act, 3, Fit)
		if again == c.want || !Fit(again) {
			t.Errorf("%q is given twice: %q", c.want, again)
		}
	}
	if got := (Used{}).Claim("", strings.Repeat("€", 99), 1, Fit); !Fit(got) {
		t.Errorf("got %q", got)
	}
	if !Present("functions.Bash:0") || Present(" ") || Present("a\n") || Present(strings.Repeat("x", 257)) {
		t.Error("Present")
	}
}

func TestPortable(t *testing.T) {
	a, b := Portable("functions.Bash:0"), Portable("functions.Bash:1")
	if a == b || !Fit(a) || !Fit(b) || a != Portable("functions.Bash:0") || Portable("toolu_1") != "toolu_1" {
		t.Errorf("got %q %q", a, b)
	}
}
