package care

import (
	"strings"
	"testing"
)

func TestScopeCheck(t *testing.T) {
	for _, c := range []struct {
		cgroup    string
		container bool
		level     string
		words     string
	}{
		{"0::/user.slice/user-1000.slice/session-3.scope\n", false, levelWarn, "session-3.scope"},
		{"0::/user.slice/user-1000.slice/user@1000.service/app.slice/vte-spawn-1.scope\n", false, levelWarn, "vte-spawn-1.scope"},
		{"0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-r12.scope\n", false, levelOK, "scope of their own"},
		{"0::/system.slice/ci.service\n", false, levelWarn, "ci.service"},
		{"0::/\n", true, levelWarn, "container"},
		{"0::/\n", false, levelOK, "no scope"},
		{"0::/system.slice/docker-abc.scope\n", false, levelWarn, "container"},
		{"0::/kubepods.slice/x\n", false, levelWarn, "container"},
		{"12:pids:/a\n1:name=systemd:/user.slice/session-9.scope\n0::/\n", false, levelWarn, "session-9.scope"},
		{"", false, levelOK, "no scope"},
		{"garbage", false, levelOK, "no scope"},
	} {
		if got := scopeCheck(c.cgroup, c.container); got.Level != c.level || !strings.Contains(got.Text, c.words) {
			t.Errorf("%q: %+v, want %s with %q", c.cgroup, got, c.level, c.words)
		}
	}
}
