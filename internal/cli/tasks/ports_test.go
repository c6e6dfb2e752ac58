package tasks_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// portsOf starts a task that prints what it is told of ports.
func portsOf(w *clitest.World, args ...string) (ports []string) {
	w.T.Helper()
	w.RunTask(append(args, "--", "sh", "-c", "echo $PERDURE_PORTS $PERDURE_PORT_1 $PERDURE_PORT_10 PORT=$PORT; exec sleep 600")...)
	all := clitest.Lines(w.T, w.OK("task", "list", args[1], "--json"))
	out := w.OK("task", "output", args[1], all[len(all)-1]["id"].(string))
	return strings.Fields(out)
}

// Goal: each session has ports of its own, the same for all its commands whoever starts them, and another's server
// moves it only while nothing of its own runs.
func TestPorts(t *testing.T) {
	w := clitest.New(t)
	one := portsOf(w, "--name", "one")
	two := portsOf(w, "--name", "two")
	if len(one) != 4 || one[0] != one[1]+"-"+one[2] || one[3] != "PORT=" {
		t.Errorf("a command is told %q", one)
	}
	if one[0] == two[0] {
		t.Errorf("both sessions have %s", one[0])
	}
	if again := portsOf(w, "--session", "one"); again[0] != one[0] {
		t.Errorf("%s and then %s", one[0], again[0])
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+one[2])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if again := portsOf(w, "--session", "one"); again[0] != one[0] {
		t.Errorf("with a server that may be its own it moved from %s to %s", one[0], again[0])
	}
	w.OK("task", "kill", "one", "--all")
	moved := portsOf(w, "--session", "one")
	if moved[0] == one[0] || moved[0] == two[0] {
		t.Errorf("a stranger listens on %s: it has %s", one[2], moved[0])
	}

	// A range is given back with the session.
	for _, name := range []string{"one", "two"} {
		w.OK("task", "kill", name, "--all")
	}
	reserved := func() int {
		entries, err := os.ReadDir(filepath.Join(w.Home, "ports"))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") {
				n++
			}
		}
		return n
	}
	w.OK("close", "one")
	if n := reserved(); n != 1 {
		t.Errorf("%d ranges after the first was closed", n)
	}
	w.OK("delete", "two", "--yes")
	if n := reserved(); n != 0 {
		t.Errorf("%d ranges after the second was deleted", n)
	}
}

// Goal: what a command is told of ports is never kept as something that it changed.
func TestPortsAreNoEnvironment(t *testing.T) {
	w := clitest.New(t)
	w.App.Environ = append(w.App.Environ, "PERDURE_PORT_11=7", "PERDURE_PORTS=1-2")
	w.Create("s1")
	w.Prompt("s1", clitest.Asking("Bash", map[string]any{"command": "env | grep PERDURE_PORT | sort -V; export PERDURE_PORTS=x PERDURE_PORT_1=y KEPT=z"}), "go", "bypassPermissions")
	l := clitest.Lines(t, w.OK("show", "s1", "--json"))[0]
	if got := fmt.Sprint(l["env"]); got != "map[KEPT:z]" {
		t.Errorf("kept: %s", got)
	}
	if seen := w.OK("show", "s1", "--messages"); strings.Contains(seen, "PERDURE_PORT_11") || !strings.Contains(seen, "PERDURE_PORT_10=") || strings.Contains(seen, "PERDURE_PORTS=1-2") {
		t.Errorf("a command is told\n%s", seen)
	}
}
