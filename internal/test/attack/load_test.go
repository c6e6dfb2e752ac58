package attack_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// diskUsed is what the files below a directory take, in bytes.
func (w *world) diskUsed(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir // what just went takes nothing
		}
		if info, err := d.Info(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				n += st.Blocks * 512
			}
		}
		return nil
	})
	return n
}

// limited runs the binary and gives the most memory it took, in bytes.
func (w *world) limited(args ...string) (outcome, int64) {
	cmd := w.command(args...)
	o := w.finish(cmd)
	return o, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
}

// 200 MB of output cost bounded memory and bounded disk, in the foreground and in the background.
func TestFloodOfOutput(t *testing.T) {
	w := newWorld(t)
	flood := "head -c 200000000 /dev/zero | tr '\\0' x; echo; echo the-end"
	o, rss := w.limited(run1("fg", w.model(calls(bash(flood))), bypass)...)
	if o.code != 0 {
		t.Fatal(o)
	}
	if got := w.results("fg")[0]; !strings.Contains(got, "the-end") || len(got) > 100_000 {
		t.Errorf("the result has %d bytes and ends %q", len(got), got[max(0, len(got)-200):])
	}
	disk := w.diskUsed(w.home)
	t.Logf("foreground: %d MB of memory, %d MB on disk", rss>>20, disk>>20)
	if rss > 256<<20 || disk > 160<<20 {
		t.Errorf("foreground: %d MB of memory, %d MB on disk", rss>>20, disk>>20)
	}
	o, rss = w.limited(run1("bg", w.model(calls(background(flood+"; echo > done; sleep 300")), calls(bash("until test -e done; do sleep 0.05; done")),
		calls(call{"BashOutput", map[string]any{"bash_id": "bash_1"}})), bypass)...)
	if o.code != 0 {
		t.Fatal(o)
	}
	shim := w.shim("bg")
	if rss > 256<<20 || shim > 48<<20 {
		t.Errorf("background: %d MB of memory, the shim %d MB", rss>>20, shim>>20)
	}
	if got := w.results("bg")[2]; !strings.Contains(got, "the-end") || len(got) > 100_000 {
		t.Errorf("BashOutput has %d bytes and ends %q", len(got), got[max(0, len(got)-200):])
	}
	if disk := w.diskUsed(filepath.Join(w.home, "acts")); disk > 80<<20 {
		t.Errorf("background: %d MB on disk", disk>>20)
	}
	w.want(0, "task", "kill", "bg", "bash_1")
	w.want(0, "delete", "fg", "--yes")
	if disk := w.diskUsed(filepath.Join(w.home, "outputs")); disk > 1<<20 {
		t.Errorf("a deleted session leaves %d MB of outputs", disk>>20)
	}
}

// shim gives the memory of the shim of a session's command, in bytes.
func (w *world) shim(id string) int64 {
	w.t.Helper()
	for _, pid := range w.pids() {
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if !strings.Contains(string(cmdline), "__perdure-shim") || !strings.Contains(string(cmdline), "/acts/"+id+"/") {
			continue
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			w.t.Fatal(err)
		}
		var kb int64
		for line := range strings.Lines(string(status)) {
			_, _ = fmt.Sscanf(line, "VmRSS: %d kB", &kb)
		}
		return kb << 10
	}
	w.t.Fatalf("session %s has no shim", id)
	return 0
}

// Output of every odd shape comes through as text of a bounded size.
func TestOddOutput(t *testing.T) {
	w := newWorld(t)
	o, rss := w.limited(run1("s", w.model(calls(
		bash("head -c 10000000 /dev/zero | tr '\\0' y"),
		bash("for i in $(seq 100000); do echo $i; done"),
		bash("head -c 3000000 /dev/urandom"),
		bash("head -c 1000000 /dev/zero"),
		bash("printf '\\r%.0s' $(seq 100000); printf '\\b%.0s' $(seq 100000); printf '\\x1b[%.0s' $(seq 100000)"),
		bash("yes $'\\xf0\\x9f\\x92' | head -c 1000000"),
		bash("exec >&- 2>&-; true"),
		bash("kill -9 $$"),
		bash("echo out; exec sleep 0 >&2"),
	)), bypass)...)
	if o.code != 0 {
		t.Fatal(o)
	}
	if rss > 256<<20 {
		t.Errorf("%d MB of memory", rss>>20)
	}
	for i, r := range w.results("s") {
		if len(r) > 100_000 || r == "" {
			t.Errorf("result %d has %d bytes", i, len(r))
		}
	}
	w.verify("s")
}

// Large prompts, inputs and replies are taken or refused in words.
func TestLargeInputs(t *testing.T) {
	w := newWorld(t)
	big := strings.Repeat("p", 7<<20)
	for _, size := range []int{7 << 20, 9 << 20} {
		cmd := w.command(append([]string{"-p", "--session-id", fmt.Sprint("p", size)}, w.model()...)...)
		cmd.Stdin = strings.NewReader(strings.Repeat("p", size))
		if o := w.finish(cmd); size <= 8<<20 && o.code != 0 || size > 8<<20 && o.code != 2 {
			t.Errorf("a prompt of %d bytes: %s", size, o)
		}
	}
	deep := json.RawMessage(strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000))
	many := make([]call, 200)
	for i := range many {
		many[i] = bash(fmt.Sprintf("true %d", i))
		if i%2 == 0 {
			many[i] = call{"Glob", map[string]any{"pattern": fmt.Sprintf("*.%d", i)}}
		}
		if i%20 != 1 && i%2 == 1 {
			many[i] = read(fmt.Sprintf("f%d", i))
		}
	}
	o, rss := w.limited(run1("s", w.model(
		calls(write("big")),
		calls(call{"Write", map[string]any{"file_path": "large", "content": big[:5<<20]}}, bash("true "+big[:100<<10]), bash("true "+big[:2<<20])),
		calls(call{"Nothing", deep}, call{"Read", deep}, call{"Bash", []int{1}}, call{"Bash", nil}, call{"", map[string]any{}}),
		calls(many...),
	), bypass)...)
	if o.code != 0 {
		t.Fatalf("%.3000s", o)
	}
	t.Logf("%d MB of memory", rss>>20)
	if info, err := os.Stat(filepath.Join(w.work, "large")); err != nil || info.Size() != 5<<20 {
		t.Errorf("large: %v %v", info, err)
	}
	if n := len(w.results("s")); n != 1+3+5+200 {
		t.Errorf("%d results", n)
	}
	w.verify("s")
}

// Two thousand messages in the inbox are run in order, or refused in words; none is lost in silence.
func TestFloodOfMessages(t *testing.T) {
	w := newWorld(t)
	w.want(0, run1("s", w.model())...)
	const sent = 2000
	accepted := w.send("s", sent)
	o := w.perdure("-p", "-r", "s", "--output-format", "json")
	if o.code < 0 || strings.Contains(o.stderr, "panic") {
		t.Fatalf("%s", o)
	}
	refused := strings.Count(w.want(0, "log", "s", "--json").out, `"kind":"inbox.refused"`)
	taken := strings.Count(w.want(0, "log", "s", "--json").out, `"kind":"message.received"`) - 1
	t.Logf("%d accepted, %d taken, %d refused, exit %d", accepted, taken, refused, o.code)
	if accepted != taken+refused {
		t.Errorf("%d were accepted, %d taken, %d refused", accepted, taken, refused)
	}
	w.verify("s")
}
