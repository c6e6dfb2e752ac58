package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/view"
)

// Demo is one showing. All fields are required.
type Demo struct {
	Home    *homes.Home
	Exe     string   // this program
	Environ []string // of the agent's processes
	ID      string   // session id to use
	Out     io.Writer
}

// limit bounds the whole showing.
const limit = 60 * time.Second

// Run shows the story and returns an error if anything that it claims did not happen.
func (d *Demo) Run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	dir, err := os.MkdirTemp("", "perdure-demo-")
	if err != nil {
		return err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	s := &story{Demo: d, dir: dir, started: time.Now()}
	for _, act := range []func(context.Context) error{s.prepare, s.work, s.approve, s.kill, s.resume, s.check, s.audit} {
		if err := act(ctx); err != nil {
			return fmt.Errorf("demo in %s: %w", dir, err)
		}
	}
	return s.farewell(ctx)
}

// story is a showing under way.
type story struct {
	*Demo
	dir     string
	started time.Time
	before  *session.State // as the agent was killed
	after   *session.State // when it was done
	slow    string         // act id of the command in which it was killed
	asked   int64          // seq at which it waited for the approval
}

func (s *story) say(format string, args ...any) { _, _ = fmt.Fprintf(s.Out, format+"\n", args...) }

func (s *story) prepare(context.Context) error {
	s.say("The model is scripted; processes, signals, files, server and log are real. No key, no network.\n")
	b, err := script()
	if err != nil {
		return err
	}
	if err := os.Symlink(s.Exe, filepath.Join(s.dir, "devserver")); err != nil {
		return err
	}
	return os.WriteFile(s.scriptFile(), b, 0o600)
}

func (s *story) scriptFile() string { return filepath.Join(s.dir, "model.json") }

// agent is a process of this program working on the session.
func (s *story) agent(ctx context.Context, args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.CommandContext(ctx, s.Exe, append([]string{"-p", "--output-format", "json"}, args...)...)
	cmd.Dir, cmd.Env = s.dir, append(s.Environ, "PERDURE_HOME="+s.Home.Dir())
	out := &bytes.Buffer{}
	cmd.Stdout = out
	return cmd, out
}

// work runs the agent until it needs a human.
func (s *story) work(ctx context.Context) error {
	s.say("1. An agent works in %s", s.dir)
	s.say("   > %s", prompt)
	cmd, out := s.agent(ctx, "--session-id", s.ID, "--model", "scripted/"+s.scriptFile(), "--permission-mode", "acceptEdits",
		"--allowed-tools", "Bash("+quickTest+"),Bash("+serve+")", prompt)
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		return fmt.Errorf("the agent should have asked for permission (exit 3): %w: %s", err, out)
	}
	if err := s.tellCalls(ctx, 0); err != nil {
		return err
	}
	return s.request(ctx)
}

// request asks the dev server for a page, so that it has something new to print.
func (s *story) request(ctx context.Context) error {
	addr, err := s.address(ctx)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/greet.sh", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// address waits until the dev server has said where it is.
func (s *story) address(ctx context.Context) (string, error) {
	for {
		b, err := os.ReadFile(filepath.Join(s.dir, addressFile))
		if err == nil && len(b) > 0 {
			return string(b), nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("the dev server did not start: %w", errors.Join(err, ctx.Err()))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// approve answers the agent's request, for the rest of the session.
func (s *story) approve(ctx context.Context) error {
	st, err := s.Home.State(ctx, s.ID)
	if err != nil {
		return err
	}
	ws := session.Waits(st)
	if len(ws) != 1 || ws[0].Call.Approval == nil {
		return fmt.Errorf("one approval should be asked for, not %d", len(ws))
	}
	c := ws[0].Call
	s.slow, s.asked = c.ID, st.Head.Seq
	s.say("2. It asks before it runs %q and exits: the session waits, no process does. We allow it for the session.", checks)
	return s.Home.Approve(ctx, view.Waiting{Session: s.ID, Act: c.ID, Bound: c.Approval.Bound}, homes.Approval{Allow: true, Grant: c.Approval.Offer})
}

// kill resumes the agent and kills it in the middle of the command.
func (s *story) kill(ctx context.Context) error {
	cmd, _ := s.agent(ctx, "--resume", s.ID)
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := s.printed(ctx, "check 2/4"); err != nil {
		return errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	if err := cmd.Process.Kill(); err != nil {
		return err
	}
	err := cmd.Wait()
	s.say("3. It is resumed, and killed in mid-command: kill -9 %d (%v)", cmd.Process.Pid, err)
	if s.before, err = s.Home.State(ctx, s.ID); err != nil {
		return err
	}
	st, err := s.Home.Commands().State(s.ID, s.slow)
	if err != nil {
		return err
	}
	if st.Status != command.Running {
		return fmt.Errorf("the command should still run, but is %s", st.Status)
	}
	s.say("   The agent is dead. Its command (pid %d) and its dev server run on.", st.PID)
	return nil
}

// printed waits until the slow command has printed something.
func (s *story) printed(ctx context.Context, want string) error {
	for {
		b, _, _, err := s.Home.Commands().Read(s.ID, s.slow, 0, 64<<10)
		if err == nil && bytes.Contains(b, []byte(want)) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the command did not print %q: %w", want, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// resume lets a new process finish the turn.
func (s *story) resume(ctx context.Context) error {
	since := s.before.Head.Seq
	if err := s.request(ctx); err != nil {
		return err
	}
	cmd, out := s.agent(ctx, "--resume", s.ID)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("resume: %w: %s", err, out)
	}
	var r view.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return fmt.Errorf("resume: %w: %s", err, out)
	}
	s.say("4. A new process resumes the session and finishes the turn:")
	if err := s.tellCalls(ctx, since); err != nil {
		return err
	}
	s.say("   < %s\n", r.Result)
	var err error
	s.after, err = s.Home.State(ctx, s.ID)
	return err
}
