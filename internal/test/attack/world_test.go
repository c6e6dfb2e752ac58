package attack_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait for something that must happen. Machines may be busy.
const patience = 60 * time.Second

// world is a machine's corner: a user with a home, perdure's home, and a directory to work in.
type world struct {
	t    *testing.T
	root string
	user string // $HOME
	home string // $PERDURE_HOME
	work string
	env  []string // more variables, the last one counts
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, root: root, user: filepath.Join(root, "user"), home: filepath.Join(root, "home"), work: filepath.Join(root, "work")}
	for _, dir := range []string{w.user, w.work} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(w.nothingLeft)
	return w
}

// environ is what perdure starts with. Nothing of this process's environment gets in by accident.
func (w *world) environ() []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.user, "USER=attack", "LANG=C.UTF-8", "PERDURE_HOME=" + w.home,
	}, w.env...)
}

// outcome is how a command ended.
type outcome struct {
	args        []string
	code        int // minus the signal's number, if one ended it
	out, stderr string
}

func (o outcome) String() string {
	return fmt.Sprintf("perdure %q: exit %d\nstdout: %.4000s\nstderr: %.4000s", o.args, o.code, o.out, o.stderr)
}

// command prepares perdure in the directory of work.
func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.t.Context(), binary, args...)
	cmd.Dir, cmd.Env = w.work, w.environ()
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// perdure runs the binary to its end.
func (w *world) perdure(args ...string) outcome {
	w.t.Helper()
	return w.finish(w.command(args...))
}

// finish runs a prepared command to its end.
func (w *world) finish(cmd *exec.Cmd) outcome {
	w.t.Helper()
	var out, stderr bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &out
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &stderr
	}
	timer := time.AfterFunc(patience, func() {
		if cmd.Process != nil {
			_ = cmd.Process.Kill()
		}
	})
	err := cmd.Run()
	o := outcome{args: cmd.Args[1:], out: out.String(), stderr: stderr.String()}
	if !timer.Stop() {
		w.t.Fatalf("hangs: %s", o)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatalf("%s: %v", o, err)
	}
	if o.code = cmd.ProcessState.ExitCode(); o.code < 0 {
		o.code = -int(cmd.ProcessState.Sys().(syscall.WaitStatus).Signal())
	}
	return o
}

// want runs the binary and demands an exit code.
func (w *world) want(code int, args ...string) outcome {
	w.t.Helper()
	o := w.perdure(args...)
	if o.code != code {
		w.t.Fatalf("want exit %d: %s", code, o)
	}
	return o
}

// step is one answer of the scripted model.
type step struct {
	Text  string `json:"text,omitempty"`
	Tools []call `json:"tools,omitempty"`
}

type call struct {
	Name  string `json:"name"`
	Input any    `json:"input"`
}

func bash(command string) call { return call{"Bash", map[string]any{"command": command}} }

func background(command string) call {
	return call{"Bash", map[string]any{"command": command, "run_in_background": true}}
}

// calls is a step of one or more tool calls.
func calls(cs ...call) step { return step{Tools: cs} }

// model writes a script of one turn and gives the flags that play it. The last step is added.
func (w *world) model(steps ...step) []string {
	w.t.Helper()
	b, err := json.Marshal(map[string]any{"turns": []any{map[string]any{"steps": append(steps, step{Text: "The end."}, step{Text: "The end."}, step{Text: "The end."})}}})
	if err != nil {
		w.t.Fatal(err)
	}
	f, err := os.CreateTemp(w.root, "script-*.json")
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err = f.Write(b); err == nil {
		err = f.Close()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return []string{"--model", "scripted/" + f.Name()}
}

// start gives the arguments of a headless run.
func run1(id string, model []string, more ...string) []string {
	args := append([]string{"-p", "--session-id", id, "--output-format", "json"}, model...)
	return append(append(args, more...), "go")
}

const bypass = "--dangerously-skip-permissions"

// write makes a file below the root.
func (w *world) write(path, text string) string {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// result is the last outcome of a session's acts, by what show says.
type shown struct {
	Activity string `json:"activity"`
	Cwd      string `json:"cwd"`
	Acts     []struct {
		ID      string  `json:"id"`
		Tool    string  `json:"tool"`
		State   string  `json:"state"`
		Outcome *string `json:"outcome"`
	} `json:"acts"`
	Tasks []struct {
		ID     string `json:"id"`
		PID    int    `json:"pid"`
		Status string `json:"status"`
	} `json:"tasks"`
	Messages []struct {
		Role    string           `json:"role"`
		Content []map[string]any `json:"content"`
	} `json:"messages"`
}

func (w *world) show(id string) shown {
	w.t.Helper()
	var v shown
	o := w.want(0, "show", id, "--json", "--messages", "--all")
	if err := json.Unmarshal([]byte(o.out), &v); err != nil {
		w.t.Fatalf("%v: %s", err, o)
	}
	return v
}

// results are the texts of all tool results of a session, in order.
func (w *world) results(id string) []string {
	w.t.Helper()
	var out []string
	for _, m := range w.show(id).Messages {
		for _, c := range m.Content {
			if c["type"] == "tool_result" {
				out = append(out, texts(c["content"]))
			}
		}
	}
	return out
}

// texts joins every text in a JSON value.
func texts(v any) string {
	var b strings.Builder
	switch v := v.(type) {
	case string:
		return v
	case []any:
		for _, x := range v {
			b.WriteString(texts(x))
		}
	case map[string]any:
		b.WriteString(texts(v["text"]))
	}
	return b.String()
}

// verify demands an intact log.
func (w *world) verify(id string) {
	w.t.Helper()
	w.want(0, "verify", id)
}

// exists reports whether a path is there.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// search tells in which files below a directory a value stands.
func (w *world) search(dir, value string) (found []string) {
	w.t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a running process may remove it
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(value)) || strings.Contains(path, value) {
			found = append(found, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// until polls a condition.
func (w *world) until(what string, ok func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// nothingLeft fails if a process that began in this world still lives, and ends it.
func (w *world) nothingLeft() {
	var left []string
	for deadline := time.Now().Add(10 * time.Second); ; <-time.After(20 * time.Millisecond) {
		if left = left[:0]; time.Now().After(deadline) {
			break
		}
		for _, pid := range w.pids() {
			cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // it may just have ended
			left = append(left, fmt.Sprintf("pid %d: %s", pid, bytes.ReplaceAll(cmdline, []byte{0}, []byte{' '})))
		}
		if len(left) == 0 {
			return
		}
	}
	for _, pid := range w.pids() {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may just have ended
	}
	w.t.Errorf("left behind: %q", left)
}

func (w *world) pids() (out []int) {
	entries, _ := os.ReadDir("/proc") // none: the processes of this machine cannot be seen
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		for _, name := range []string{"cmdline", "environ"} {
			b, _ := os.ReadFile(filepath.Join("/proc", e.Name(), name))
			if bytes.Contains(b, []byte(w.root)) {
				out = append(out, pid)
				break
			}
		}
	}
	return out
}
