package homes_test

import (
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/bundle"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/test/forge"
)

// What moving a session with one large event may take of memory: the event once or twice, three times of it in the
// database, which binds, builds and writes a row, and what a process takes anyway.
const (
	largeEvent  = 48 << 20
	mostForIt   = 5*largeEvent + 64<<20
	memoryDoing = "PERDURE_TEST_LARGE_EVENT" // import or export
	memoryHome  = "PERDURE_TEST_LARGE_EVENT_HOME"
	memoryFile  = "PERDURE_TEST_LARGE_EVENT_FILE"
)

// An event that is as large as a bundle takes it is imported and exported in bounded memory, whether it packs well or not.
func TestALargeEventMovesInBoundedMemory(t *testing.T) {
	if doing := os.Getenv(memoryDoing); doing != "" {
		moveLargeEvent(t, doing)
		status, err := os.ReadFile("/proc/self/status") // what wait tells of a process begins with the memory of its parent
		if err != nil {
			t.Fatal(err)
		}
		_, _ = os.Stdout.Write(status)
		return
	}
	noise := make([]byte, largeEvent)
	if _, err := rand.NewChaCha8([32]byte{1}).Read(noise); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"noise": noise, "zeros": make([]byte, largeEvent)} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "b")
			app := &session.App{Namespace: "x", Data: data}
			if err := os.WriteFile(file, forge.Bundle{Bodies: []session.Body{forge.Opened("s"), app}}.Bytes(t), 0o600); err != nil {
				t.Fatal(err)
			}
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			for _, doing := range []string{"import", "export", "clean"} {
				c := exec.CommandContext(t.Context(), self, "-test.run=^TestALargeEventMovesInBoundedMemory$")
				// What is not in use is soon given back, so that the most that it takes is what it needs.
				c.Env = append(os.Environ(), "GOGC=25", memoryDoing+"="+doing, memoryHome+"="+filepath.Join(dir, "home"), memoryFile+"="+file)
				out, err := c.CombinedOutput()
				_, rest, _ := strings.Cut(string(out), "VmHWM:")
				took, _ := strconv.ParseInt(strings.Fields(rest + " none")[0], 10, 64)
				if took <<= 10; err != nil || took == 0 {
					t.Fatalf("%s: %v\n%s", doing, err, out)
				}
				t.Logf("%s: %d MiB", doing, took>>20)
				if took > mostForIt {
					t.Errorf("%s took %d MiB for an event of %d MiB, at most %d", doing, took>>20, largeEvent>>20, mostForIt>>20)
				}
			}
		})
	}
}

func moveLargeEvent(t *testing.T, doing string) {
	t.Helper()
	h, err := homes.Open(t.Context(), os.Getenv(memoryHome), homes.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	if doing != "import" {
		if _, err := h.Bundle(t.Context(), "s", io.Discard, homes.BundleOptions{Redact: doing == "clean"}); err != nil {
			t.Fatal(err)
		}
		return
	}
	f, err := os.Open(os.Getenv(memoryFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	a, err := h.Receive(t.Context(), f, bundle.Limits{})
	if err == nil {
		err = a.Import(t.Context(), t.TempDir())
	}
	if err != nil {
		t.Fatal(err)
	}
}
