//go:build linux || darwin

package task

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Directories as version 1 writes them, and as a later version might, are read the same for ever.
func TestFormats(t *testing.T) {
	b := newBench(t)
	b.BootID = func() (string, error) { return "boot-1", nil }
	const (
		spec = `{"version":1,"session":"s1","act":"x","argv":["true"],"cwd":"/","boot_id":"boot-1","created":1}`
		run  = `{"version":1,"pid":2147483646,"sid":4,"start_ticks":7,"started":5,"boot_id":"boot-1"}`
		exit = `{"version":1,"code":3,"output_bytes":9,"started":5,"ended":6,"cwd":"/tmp","env":{"A":"1","B":null}}`
		kill = `{"version":1,"signal":"SIGKILL","by":"user","output_bytes":9,"started":5,"ended":6}`
		next = `{"version":9,"code":3,"output_bytes":9,"started":5,"ended":6,"new":{"field":[1]}}`
	)
	for act, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"exited":  {map[string]string{specName: spec, claimName: "1 run\n", runName: run, exitName: exit}, "exited 3 /tmp 9"},
		"killed":  {map[string]string{specName: spec, claimName: "1 run\n", runName: run, exitName: kill}, "killed SIGKILL by user  9"},
		"newer":   {map[string]string{specName: spec, claimName: "9 run later\n", runName: run, exitName: next}, "exited 3  9"},
		"void":    {map[string]string{specName: spec, claimName: "1 void\n"}, "absent   0"},
		"voidwhy": {map[string]string{specName: spec, claimName: "1 void reboot\n"}, "lost reboot  0"},
		"died":    {map[string]string{specName: spec, claimName: "1 run\n", runName: run}, "lost shim_died  0"},
		"torn":    {map[string]string{specName: spec, claimName: "", runName: run}, "lost shim_died  0"},
		"norun":   {map[string]string{specName: spec, claimName: "1 run\n"}, "absent   0"},
		"output":  {map[string]string{specName: spec, "out.0000000000000000": "ab", "out.000000000000000a": "cd", "out.fifo.x": "no"}, "absent   12"},
	} {
		dir := filepath.Join(b.Dir, testSession, act)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range c.files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		st := b.state(act)
		if got := fmt.Sprintf("%s %s %d", code(st), st.Cwd, st.Output); got != c.want {
			t.Errorf("%s: %q, want %q", act, got, c.want)
		}
	}
	if delta := deltaText(b.state("exited").Env); delta != `A="1" -B` {
		t.Errorf("delta %s", delta)
	}
	plan, err := decodePlan([]byte("1\x00boot\x0010\x0020\x0030\x00true\x00/w\x002\x00a\x00\x001\x00K=V\x00appended later\x00"))
	if got := fmt.Sprintf("%+v %v", plan, err); !strings.HasPrefix(got,
		"{BootID:boot KeepBytes:10 TimeoutMS:20 GraceMS:30 Capture:true Cwd:/w Argv:[a ] Env:[K=V] QuotaBytes:0 ") || err != nil {
		t.Errorf("plan %s", got)
	}
}
