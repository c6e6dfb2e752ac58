package task

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What a shim could not do is in its log, and nothing else is: a report of the shell's end that cannot be understood, and
// the record of its command's last output, which the disk refuses.
func TestShimLogSaysWhatFailed(t *testing.T) {
	b := newBench(t)
	spec := b.script("good", "export A=1")
	spec.Capture = true
	b.start(spec)
	if st := b.wait("good"); code(st) != "exited 0" || st.Cwd == "" {
		t.Errorf("%s in %q", code(st), st.Cwd)
	}
	b.left("good")
	if log := b.log("good"); log != "" {
		t.Errorf("nothing failed: %q", log)
	}
	spec = b.script("torn", `printf 'perdure 1\0/\0declare\0end' > "$REPORT"; exec true`)
	spec.Capture = true
	spec.Env = append(spec.Env, "REPORT="+filepath.Join(b.Dir, testSession, "torn", captureName))
	b.start(spec)
	if st := b.wait("torn"); code(st) != "exited 0" || st.Cwd != "" || st.Env != nil {
		t.Errorf("%s in %q", code(st), st.Cwd)
	}
	b.left("torn")
	if log := b.log("torn"); strings.Count(log, "\n") != 1 || !strings.Contains(log, "capture: ") || !strings.Contains(log, errExports.Error()) {
		t.Errorf("a torn report: %q", log)
	}

	b.start(b.script("late", "setsid bash -c '"+untilGo+"true' & exit 7"))
	if st := b.wait("late"); code(st) != "exited 7" || st.Stragglers < 1 {
		t.Errorf("%s, %d stragglers", code(st), st.Stragglers)
	}
	shims := b.processesOf("late", shimArg)
	if len(shims) != 1 {
		t.Fatalf("%d shims", len(shims))
	}
	if err := unix.Prlimit(shims[0].PID, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1, Max: 1 << 10}, nil); err != nil {
		t.Fatal(err)
	}
	b.touch("go")
	b.left("late")
	if log := b.log("late"); !strings.Contains(log, "final length 0: ") {
		t.Errorf("the last record is refused: %q", log)
	}
}
