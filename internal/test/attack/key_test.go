package attack_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/perdure/perdure/internal/test/needs"
)

// The provider's key is in no process's environment while a session runs, and in no memory that another process of the
// same user may read: neither as root nor as an ordinary user.
func TestKeyCannotBeReadFromProcesses(t *testing.T) {
	needs.System(t, "linux")
	if !exists("/proc/self/environ") {
		needs.Not(t, "no /proc here")
	}
	uids := []uint32{uint32(os.Getuid())}
	if uids[0] == 0 {
		uids = append(uids, 65534)
	}
	for _, uid := range uids {
		t.Run(fmt.Sprint("uid ", uid), func(t *testing.T) {
			w := newWorld(t)
			keyed := fmt.Sprint("keyed", uid)
			key := fmt.Sprintf("sk-ant-api03-%05d-canary0123456789", uid)
			w.env = []string{"ANTHROPIC_API_KEY=" + key, "OPENAI_API_KEY=" + key + "2", "KEPT=kept-canary"}
			// The tests' own processes do not hold the key; the names of variables show that the environments are seen.
			w.write(filepath.Join(w.work, "scan.sh"), `
				grep -a -l -s 'KEPT=kept''-canary' /proc/[0-9]*/environ | wc -l
				grep -a -o -h -s 'sk-ant''-api03-`+fmt.Sprintf("%05d", uid)+`-canary.\{4\}' /proc/[0-9]*/environ | wc -l
				agent=$(for p in /proc/[0-9]*; do tr '\0' ' ' <$p/cmdline 2>/dev/null | grep -q -- '-p --session-id keyed`+fmt.Sprint(uid)+`' && basename $p; done 2>/dev/null | head -1)
				echo agent ${agent:+found}
				[ $(id -u) = 0 ] || cat /proc/$agent/environ /proc/$agent/maps 2>&1 | grep -ac denied
				[ $(id -u) = 0 ] || ls /proc/$agent/fd 2>&1 | grep -ac denied
				`+binary+` approvals allow s 2>&1 | grep -c 'outside of sessions'
				env -i HOME=$HOME PERDURE_HOME=$PERDURE_HOME `+binary+` approvals allow s 2>&1 | grep -c 'outside of sessions'
				`)
			args := append(w.model(calls(background("sleep 300")), calls(bash("bash scan.sh 2>&1"))), bypass, "go")
			cmd := w.command(append([]string{"-p", "--session-id", keyed}, args...)...)
			other := func(args ...string) outcome {
				c := w.command(args...)
				c.SysProcAttr = cmd.SysProcAttr
				return w.finish(c)
			}
			if uid != uint32(os.Getuid()) {
				w.giveTo(int(uid))
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
			}
			if o := w.finish(cmd); o.code != 0 {
				t.Fatalf("%s", o)
			}
			o := other("show", keyed, "--messages", "--json")
			got := o.out
			want := `0\nagent found\n`
			if uid != 0 {
				want += `2\n1\n`
			}
			if want += `1\n1`; !strings.Contains(got, want) {
				t.Errorf("want %s in: %s", want, got[max(0, len(got)-3000):])
			}
			// What is read of a task's processes is there for its owner.
			if o := other("task", "list", keyed, "--json"); o.code != 0 || !strings.Contains(o.out, `"running"`) {
				t.Errorf("%s", o)
			}
			if o := other("task", "kill", keyed, "bash_1"); o.code != 0 {
				t.Errorf("%s", o)
			}
		})
	}
}

// giveTo lets another user have this world.
func (w *world) giveTo(uid int) {
	w.t.Helper()
	err := filepath.Walk(w.root, func(path string, _ os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, uid, uid)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	for dir := w.root; len(dir) > 1; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil && info.Mode().Perm()&1 == 0 {
			err = os.Chmod(dir, info.Mode().Perm()|0o011)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
}
