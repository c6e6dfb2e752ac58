package modeltest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// scriptEnv names the script file for a process that ServeIfAsked turns into a
// server.
const scriptEnv = "PERDURE_MODELTEST_SCRIPT"

const announce = "modeltest listening on "

// Serve runs a server on addr with the script of a file until in ends, which a
// parent's pipe does when the parent dies. It announces its URL on out.
func Serve(addr, scriptFile string, in io.Reader, out io.Writer) error {
	script, err := LoadScript(scriptFile)
	if err != nil {
		return err
	}
	s, err := Listen(addr, Config{Script: script})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, announce+s.URL()); err != nil {
		_ = s.Close()
		return fmt.Errorf("announce model server: %w", err)
	}
	_, _ = io.Copy(io.Discard, in) // an error ends the wait as well
	return s.Close()
}

// ServeIfAsked is for the first line of a TestMain: in a process that Spawn
// started it serves and never returns, elsewhere it does nothing.
func ServeIfAsked() {
	file := os.Getenv(scriptEnv)
	if file == "" {
		return
	}
	if err := Serve("127.0.0.1:0", file, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "modeltest:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A Remote is a server in a process of its own.
type Remote struct {
	base  string
	cmd   *exec.Cmd
	stdin io.Closer
	once  sync.Once
	err   error
}

// Spawn starts exe, whose TestMain calls ServeIfAsked, as a server with the
// script of a file. The caller closes the Remote.
func Spawn(exe, scriptFile string) (*Remote, error) {
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), scriptEnv+"="+scriptFile)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("spawn model server: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("spawn model server: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("spawn model server: %w", err)
	}
	r := &Remote{cmd: cmd, stdin: stdin}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	base, ok := strings.CutPrefix(strings.TrimSpace(line), announce)
	if err != nil || !ok {
		return nil, fmt.Errorf("spawn model server: it said %q and not its address: %w", line, errors.Join(err, r.Close()))
	}
	r.base = base
	return r, nil
}

// URL is the base URL of the Anthropic API and of Ollama's endpoints.
func (r *Remote) URL() string { return r.base }

// OpenAIURL is the base URL of the Chat Completions API.
func (r *Remote) OpenAIURL() string { return r.base + "/v1" }

// PID is the server's process id.
func (r *Remote) PID() int { return r.cmd.Process.Pid }

// Report asks the server for its report.
func (r *Remote) Report(ctx context.Context) (Report, error) {
	var rep Report
	err := r.control(ctx, http.MethodGet, "/control/report", &rep)
	return rep, err
}

// Release is Server.Release.
func (r *Remote) Release(ctx context.Context, name string) error {
	return r.control(ctx, http.MethodPost, "/control/release?name="+url.QueryEscape(name), nil)
}

// WaitStalled is Server.WaitStalled.
func (r *Remote) WaitStalled(ctx context.Context, name string, n int) error {
	return r.control(ctx, http.MethodGet, "/control/stalled?n="+strconv.Itoa(n)+"&name="+url.QueryEscape(name), nil)
}

func (r *Remote) control(ctx context.Context, method, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, nil)
	if err != nil {
		return fmt.Errorf("model server %s: %w", path, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("model server %s: %w", path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("model server %s: status %d", path, resp.StatusCode)
	}
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return fmt.Errorf("model server %s: %w", path, err)
	}
	return nil
}

// Close ends the process and waits for it. A second call returns the same.
func (r *Remote) Close() error {
	r.once.Do(func() {
		_ = r.stdin.Close()
		r.err = r.cmd.Wait()
	})
	return r.err
}
