package proof_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// ack is an event that somebody was told is durable.
type ack struct {
	seq  int64
	hash store.Digest
}

// agent is one running process of the binary.
type agent struct {
	cmd    *exec.Cmd
	inner  bool // the agent is the child of another program
	stderr bytes.Buffer
	out    chan struct{} // closed when stdout has ended

	mu     sync.Mutex
	stdout []byte
	acks   []ack         // what a stream-json agent printed
	result *view.Result  // its last word
	grown  chan struct{} // closed and replaced when acks grew
}

// line is what the agent prints, as json or stream-json.
type line struct {
	Type  string `json:"type"`
	Event *struct {
		Seq  int64        `json:"seq"`
		Hash store.Digest `json:"hash"`
		Kind store.Kind   `json:"kind"`
	} `json:"event"`
	Result json.RawMessage `json:"result"`
}

// start starts an agent in a directory.
func start(dir string, environ []string, args ...string) (*agent, error) {
	return startUnder(nil, dir, environ, args...)
}

// startUnder starts an agent through another program, if there is one.
func startUnder(wrap []string, dir string, environ []string, args ...string) (*agent, error) {
	argv := slices.Concat(wrap, []string{binary}, args)
	a := &agent{cmd: exec.Command(argv[0], argv[1:]...), inner: len(wrap) > 0, out: make(chan struct{}), grown: make(chan struct{})}
	a.cmd.Dir, a.cmd.Env, a.cmd.Stderr = dir, environ, &a.stderr
	// A pipe of our own: waiting for the process must not wait for whoever inherited its stdout.
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	a.cmd.Stdout = w
	a.cmd.WaitDelay = 5 * time.Second
	err = errors.Join(a.cmd.Start(), w.Close())
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	go a.read(r)
	return a, nil
}

// read takes in stdout until its end.
func (a *agent) read(r *os.File) {
	defer close(a.out)
	defer func() { _ = r.Close() }()
	s := bufio.NewScanner(r)
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		a.take(s.Bytes())
	}
}

func (a *agent) take(b []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stdout = append(append(a.stdout, b...), '\n')
	var l line
	if json.Unmarshal(b, &l) != nil {
		return // a line that was cut by the kill, or another command's
	}
	raw := b
	switch {
	case l.Event != nil:
		a.acks = append(a.acks, ack{l.Event.Seq, l.Event.Hash})
		close(a.grown)
		a.grown = make(chan struct{})
		return
	case l.Type == "result":
		raw = l.Result
	case l.Type != "":
		return
	}
	var r view.Result
	if json.Unmarshal(raw, &r) == nil && r.SessionID != "" {
		a.result = &r
	}
}

// printed waits until n events were printed; it reports false when the agent ends first.
func (a *agent) printed(n int) bool {
	for {
		a.mu.Lock()
		have, grown := len(a.acks), a.grown
		a.mu.Unlock()
		if have >= n {
			return true
		}
		select {
		case <-grown:
		case <-a.out:
			return false
		}
	}
}

// wait waits for the end of the process and of its output and returns the exit code, or minus the signal's number.
func (a *agent) wait() (int, error) {
	timer := time.AfterFunc(patience, func() { _ = a.cmd.Process.Kill() })
	err := a.cmd.Wait()
	if !timer.Stop() {
		return 0, fmt.Errorf("%w for the agent to end: %s", errPatience, &a.stderr)
	}
	select {
	case <-a.out:
	case <-time.After(10 * time.Second):
		return 0, errors.New("somebody holds the dead agent's stdout open")
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	ws := a.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return -int(ws.Signal()), nil
	}
	return ws.ExitStatus(), nil
}

// pid is the agent's. The program around it, if there is one, ends as the agent does.
func (a *agent) pid() int {
	pid := a.cmd.Process.Pid
	if !a.inner {
		return pid
	}
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid)) // none: both have ended
	if first := strings.Fields(string(children)); len(first) > 0 {
		if child, err := strconv.Atoi(first[0]); err == nil {
			return child
		}
	}
	return pid
}

// kill kills the agent with a signal that it cannot handle, and reports whether that is what it died of.
func (a *agent) kill() (bool, error) {
	if err := syscall.Kill(a.pid(), syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return false, err
	}
	code, err := a.wait()
	return code == -int(syscall.SIGKILL), err
}

// perdure runs the binary to its end.
func (p *place) perdure(dir string, environ []string, args ...string) (code int, stdout, stderr string) {
	p.t.Helper()
	a, err := start(dir, environ, args...)
	if err != nil {
		p.t.Fatal(err)
	}
	code, err = a.wait()
	if err != nil {
		p.t.Fatalf("perdure %q: %v", args, err)
	}
	return code, string(a.stdout), a.stderr.String()
}
