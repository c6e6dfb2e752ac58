package files_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/bundle"
	"github.com/perdure/perdure/internal/cli"
	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/test/forge"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// manyChanged is a home with a session that has two checkpoints, a and b, between which so many texts of 20 KiB are others.
func manyChanged(t *testing.T, files int) *clitest.World {
	t.Helper()
	var blobs, objects [][]byte
	root := func(word string) store.Digest {
		var top []tree.Entry
		for d := range files / 100 {
			var entries []tree.Entry
			for i := range 100 {
				var text bytes.Buffer
				for line := range 200 {
					fmt.Fprintf(&text, "%s %d %d %d %s\n", word, d, i, line, strings.Repeat("x", 90))
				}
				blobs = append(blobs, text.Bytes())
				entries = append(entries, forge.File(fmt.Sprintf("f%03d", i), text.Bytes()))
			}
			o := forge.Object(entries...)
			objects, top = append(objects, o), append(top, forge.Dir(fmt.Sprintf("d%03d", d), o))
		}
		o := forge.Object(top...)
		objects = append(objects, o)
		return store.Sum(o)
	}
	named := func(word string) session.Body {
		c := forge.Captured(root(word))
		c.Why, c.Name = session.CaptureNamed, word
		return c
	}
	bodies := []session.Body{forge.Opened("s"), named("a"), named("b")}
	w := clitest.New(t)
	h, err := homes.Open(t.Context(), w.Home, homes.Config{Files: &homes.Files{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	a, err := h.Receive(t.Context(), bytes.NewReader(forge.Bundle{Bodies: bodies, Trees: objects, Blobs: blobs}.Bytes(t)), bundle.Limits{})
	if err == nil {
		err = a.Import(t.Context(), t.TempDir())
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// A diff of very many files takes memory for one of them at a time, whatever their number.
func TestADiffOfManyFilesTakesBoundedMemory(t *testing.T) {
	const most = 30 << 20 // all texts and their diffs take 80 MiB and more
	w := manyChanged(t, 800)
	took := func(to io.Writer, args ...string) {
		t.Helper()
		app := *w.App
		app.Stdout = to
		before, peak, stop := peakOfHeap()
		code := cli.Main(t.Context(), &app, args)
		stop()
		n := *peak - min(*peak, before)
		t.Logf("%q: %d MiB", args, n>>20)
		if code != 0 || n > most {
			t.Errorf("%q: exit %d, %d MiB of memory, at most %d", args, code, n>>20, most>>20)
		}
	}
	last := &lastWritten{}
	took(last, "diff", "s", "a", "b")
	if !strings.Contains(last.text, "800 files, 160,000 lines added, 160,000 removed") {
		t.Errorf("it ends with %q", last.text)
	}
	var object bytes.Buffer
	took(&object, "diff", "s", "a", "b", "--json")
	var out struct{ Files []any }
	if err := json.Unmarshal(object.Bytes(), &out); err != nil || len(out.Files) != 800 {
		t.Errorf("%d files, %v", len(out.Files), err)
	}
}

// lastWritten keeps what was written last.
type lastWritten struct{ text string }

func (l *lastWritten) Write(b []byte) (int, error) { l.text = string(b); return len(b), nil }

// peakOfHeap watches how much the objects on the heap have.
func peakOfHeap() (before uint64, peak *uint64, stop func()) {
	runtime.GC()
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	before, peak = s[0].Value.Uint64(), new(uint64)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			metrics.Read(s)
			*peak = max(*peak, s[0].Value.Uint64())
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return before, peak, func() { close(done); <-ended }
}

// A diff says what it finds as it finds it, and a signal ends it at once: that the list is cut is said.
func TestASignalEndsALongDiff(t *testing.T) {
	w := manyChanged(t, 800)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), exe)
	c.Dir, c.Env = w.Dir, append([]string{"CLI_TEST_ARGS=diff\ns\na\nb"}, w.App.Environ...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	n := 0
	for ; lines.Scan(); n++ {
		if n == 0 {
			if err := c.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
	}
	err = c.Wait()
	if c.ProcessState.ExitCode() != 128+int(syscall.SIGTERM) || n == 0 || n > 160_000 || !strings.Contains(stderr.String(), "the list is cut") {
		t.Errorf("%v after %d lines: %s", err, n, stderr.String())
	}
}
