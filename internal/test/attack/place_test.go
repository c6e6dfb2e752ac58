package attack_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The directory of a session may be gone, or closed to us, when it is resumed: the model is told, nothing crashes.
func TestDirectoryGone(t *testing.T) {
	w := newWorld(t)
	m := w.model(calls(bash("pwd")), step{Text: "one"}, calls(bash("pwd")), calls(read("f"), write("g")), step{Text: "two"})
	elsewhere := filepath.Join(w.root, "gone")
	if err := os.Mkdir(elsewhere, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := w.command(run1("s", m, bypass)...)
	cmd.Dir = elsewhere
	if o := w.finish(cmd); o.code != 0 {
		t.Fatal(o)
	}
	if err := os.Remove(elsewhere); err != nil {
		t.Fatal(err)
	}
	o := w.perdure("-p", "-r", "s", bypass, "go on")
	if o.code != 1 || !strings.Contains(o.stderr, "--cwd DIR") {
		t.Errorf("a directory that is gone is not told with a way on: %s", o)
	}
	if o := w.perdure("-p", "-r", "s", bypass, "--cwd", w.work, "go on"); o.code != 0 {
		t.Errorf("the way on: %s", o)
	}
	w.verify("s")
	t.Logf("%q", w.results("s"))
	// and perdure itself in a directory that is no more
	cmd = exec.CommandContext(t.Context(), "bash", "-c", "mkdir -p d && cd d && rmdir ../d && exec \"$@\"", "bash", binary, "-p", "-c", "hello")
	cmd.Dir, cmd.Env = w.work, w.environ()
	if o := w.finish(cmd); o.code == 0 || o.stderr == "" || strings.Contains(o.stderr, "panic") {
		t.Errorf("run in a removed directory: %s", o)
	}
}

// Homes with odd names work; homes that cannot be used say so.
func TestOddHomes(t *testing.T) {
	w := newWorld(t)
	m := w.model(calls(bash("env | grep ^PERDURE_HOME; echo $TMPDIR; touch \"$TMPDIR/x\"")))
	if err := os.Symlink(w.user, filepath.Join(w.root, "alias")); err != nil {
		t.Fatal(err)
	}
	for _, home := range []string{"relative/home", "with space and 'quotes' $x", "ünï✓", "a\nb", "../work/x/../y", filepath.Join(w.root, "alias", "h"), strings.Repeat("d", 200) + "/" + strings.Repeat("e", 200)} {
		w.env = []string{"PERDURE_HOME=" + home}
		for _, more := range []string{"-p", "again"} {
			args := append([]string{"-p", "--session-id", "s", bypass}, append(m, "hello")...)
			if more == "again" {
				args = []string{"-p", "-r", "s", "again"}
			}
			if o := w.perdure(args...); o.code != 0 {
				t.Errorf("home %q: %s", home, o)
			}
		}
		w.verify("s")
	}
	w.env = []string{"PERDURE_HOME=", "HOME=", "XDG_DATA_HOME="}
	if o := w.want(2, "list"); !strings.Contains(o.stderr, "PERDURE_HOME") {
		t.Errorf("without any home: %s", o)
	}
	for _, home := range []string{"/proc/x", "/dev/null", "/dev/null/x", filepath.Join(w.root, "script"), w.write(filepath.Join(w.root, "file"), "")} {
		w.env = []string{"PERDURE_HOME=" + home}
		o := w.perdure(append([]string{"-p"}, append(m, "hello")...)...)
		if home == filepath.Join(w.root, "script") {
			continue // a place like any other
		}
		if o.code != 1 || !strings.Contains(o.stderr, home) || strings.Contains(o.stderr, "panic") {
			t.Errorf("home %q: %s", home, o)
		}
	}
}

// Perdure and its commands do without what most environments have.
func TestPoorEnvironment(t *testing.T) {
	w := newWorld(t)
	m := w.model(calls(bash("echo works; echo $((1+1))")), calls(background("echo task")))
	for name, env := range map[string][]string{
		"no HOME":       {"HOME="},
		"missing HOME":  {"HOME=/nonexistent/home"},
		"no TMPDIR":     {"TMPDIR=/nonexistent/tmp"},
		"empty PATH":    {"PATH="},
		"broken PATH":   {"PATH=/nonexistent"},
		"no USER":       {"USER=", "LOGNAME="},
		"odd LANG":      {"LANG=xx_YY", "LC_ALL=nonsense"},
		"BASH_ENV":      {"BASH_ENV=" + w.write(filepath.Join(w.root, "evil.sh"), "echo evil; exit 7\n"), "ENV=" + filepath.Join(w.root, "evil.sh")},
		"bad variables": {"no-identifier=1", "=x", "A\x01=b", "BASH_FUNC_echo%%=() { /bin/echo evil; }", "SHELLOPTS=xtrace", "IFS=o", "PS4=$(touch pwned)", "PROMPT_COMMAND=touch pwned", "LD_PRELOAD=/nonexistent.so"},
	} {
		id := strings.ReplaceAll(name, " ", "-")
		w.env = env
		o := w.perdure(run1(id, m, bypass)...)
		if o.code != 0 {
			t.Errorf("%s: %s", name, o)
			continue
		}
		if got := w.results(id); len(got) != 2 || !strings.Contains(got[0], "works\n2") || strings.Contains(got[0], "evil") {
			t.Errorf("%s: %q", name, got)
		}
		if exists(filepath.Join(w.work, "pwned")) {
			t.Errorf("%s: a variable was executed", name)
		}
	}
}

// A closed stdout or stderr is no reason to lose a session: it finishes, and the log has everything.
func TestClosedStreams(t *testing.T) {
	w := newWorld(t)
	m := w.model(calls(bash("sleep 0.3; echo one")), calls(bash("yes two | head -1; echo ${PIPESTATUS[@]}")))
	for _, format := range []string{"text", "json", "stream-json"} {
		r, pipe, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := w.command(append(append([]string{"-p", "--session-id", format, "--output-format", format, bypass}, m...), "hello")...)
		cmd.Stdout, cmd.Stderr = pipe, pipe
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		pipe.Close()
		if format == "stream-json" { // let it write once, then leave
			if _, err := r.Read(make([]byte, 10)); err != nil {
				t.Fatal(err)
			}
		}
		r.Close()
		err = cmd.Wait()
		if got := w.results(format); len(got) > 1 && !strings.Contains(got[1], "141 0") {
			t.Errorf("commands do not die of a closed pipe any more: %q", got)
		}
		v := w.show(format)
		if v.Activity != "idle" || len(w.results(format)) != 2 {
			t.Errorf("%s: %v, activity %s, results %q", format, err, v.Activity, w.results(format))
		}
	}
	// no descriptors at all
	cmd := exec.CommandContext(t.Context(), "bash", append([]string{"-c", `exec "$@" <&- >&- 2>&-`, "bash", binary}, run1("none", m, bypass)...)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.work, w.environ(), io.Discard, io.Discard
	if err := cmd.Run(); err != nil {
		t.Errorf("without descriptors: %v", err)
	}
	w.verify("none")
	if got := w.results("none"); len(got) != 2 || !strings.Contains(got[1], "two") {
		t.Errorf("without descriptors: %q", got)
	}
	if o := w.perdure("-p", "--model", m[1]); o.code != 2 { // stdin is empty
		t.Errorf("without a prompt: %s", o)
	}
}

// A home that another user owns is not read, and the error says whose it is; one that is read-only says so.
func TestForeignHome(t *testing.T) {
	w := newWorld(t)
	w.want(0, run1("s", w.model())...)
	if os.Getuid() == 0 {
		for dir := w.root; len(dir) > 1; dir = filepath.Dir(dir) {
			info, err := os.Stat(dir)
			if err == nil && info.Mode().Perm()&1 == 0 {
				if err := os.Chmod(dir, info.Mode().Perm()|0o055); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, args := range [][]string{{"list"}, {"-p", "-r", "s", "x"}, {"show", "s"}, {"doctor"}} {
			cmd := w.command(args...)
			cmd.Dir = "/"
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			o := w.finish(cmd)
			if o.code != 1 || !strings.Contains(o.out+o.stderr, w.root) || !strings.Contains(o.out+o.stderr, "permission") {
				t.Errorf("as another user: %s", o)
			}
		}
	}
	w.want(0, "show", "s")
}

// Under nohup a hangup is no reason to stop; without it the session parks and its command runs on.
func TestHangup(t *testing.T) {
	w := newWorld(t)
	m := w.model(calls(bash("echo x >> count; until test -e on; do sleep 0.02; done; echo finished")))
	cmd := exec.CommandContext(t.Context(), "nohup", append([]string{binary}, run1("nohup", m, bypass)...)...)
	cmd.Dir, cmd.Env = w.work, w.environ()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.until("the command", func() bool { return exists(filepath.Join(w.work, "count")) })
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	w.write(filepath.Join(w.work, "on"), "")
	if err := cmd.Wait(); err != nil {
		t.Errorf("nohup: %v", err)
	}
	if got := w.results("nohup"); len(got) != 1 || !strings.Contains(got[0], "finished") {
		t.Errorf("nohup: %q", got)
	}
	for _, name := range []string{"count", "on"} {
		if err := os.Remove(filepath.Join(w.work, name)); err != nil {
			t.Fatal(err)
		}
	}
	cmd = w.begin("count", run1("s", m, bypass)...)
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 129 {
		t.Errorf("after SIGHUP: %v", cmd.ProcessState)
	}
	w.write(filepath.Join(w.work, "on"), "")
	w.want(0, "-p", "-r", "s", bypass)
	if got := w.results("s"); len(got) != 1 || !strings.Contains(got[0], "finished") {
		t.Errorf("parked: %q", got)
	}
	if b, _ := os.ReadFile(filepath.Join(w.work, "count")); string(b) != "x\n" {
		t.Errorf("the command ran %q", b)
	}
}
