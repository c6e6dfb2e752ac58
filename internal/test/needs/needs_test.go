package needs

import (
	"runtime"
	"testing"
)

// spy notes what becomes of a test.
type spy struct {
	testing.TB
	skipped, failed bool
}

func (*spy) Helper()                 {}
func (s *spy) Skipf(string, ...any)  { s.skipped = true }
func (s *spy) Fatalf(string, ...any) { s.failed = true; panic(s) }

// Goal: what a machine lacks is told, and is a failure where CI=true is set; another system is none.
func TestNothingIsLeftOutInSilence(t *testing.T) {
	look := func(ci string, do func(testing.TB)) (s spy) {
		t.Setenv("CI", ci)
		defer func() { _ = recover() }()
		do(&s)
		return s
	}
	lacks := func(t testing.TB) { Not(t, "no %s", "thing") }
	if s := look("", lacks); !s.skipped || s.failed {
		t.Errorf("elsewhere: %+v", s)
	}
	failed := spy{}
	t.Setenv("CI", "true")
	func() {
		defer func() { _ = recover() }()
		lacks(&failed)
	}()
	if !failed.failed || failed.skipped {
		t.Errorf("in CI: %+v", failed)
	}
	other := map[string]string{"linux": "darwin"}[runtime.GOOS]
	if other == "" {
		other = "linux"
	}
	for _, ci := range []string{"", "true"} {
		if s := look(ci, func(t testing.TB) { Program(t, "no such program") }); s.skipped == (ci == "true") {
			t.Errorf("a program: %+v", s)
		}
		if s := look(ci, func(t testing.TB) { System(t, other) }); !s.skipped || s.failed {
			t.Errorf("another system: %+v", s)
		}
		if s := look(ci, func(t testing.TB) { System(t, other, runtime.GOOS) }); s.skipped || s.failed {
			t.Errorf("this system: %+v", s)
		}
	}
}
