package adkgo_test

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// untilKilled runs a test of this program in a process of its own, with a directory in the environment, and hands each
// line that it prints to read. When that says so the process is killed; what it still prints is read too. One that ends
// by itself fails the test.
func untilKilled(t *testing.T, test, key, dir string, read func(line string) (kill bool)) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+test+"$")
	cmd.Env = append(os.Environ(), key+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if read(lines.Text()) {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("%s ended by itself: %v", test, err)
	}
}
