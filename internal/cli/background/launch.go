package background

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/realdir"
)

// The hidden command that a supervisor is, and the descriptors that it is given: its locked record, and a pipe for one
// line that says whether it holds the session.
const (
	Command  = "supervise"
	recordFD = 3
	saysFD   = 4
)

// What a supervisor says.
const (
	saysHeld   = "held"
	saysFailed = "failed: "
)

// holdsWithin bounds how long a supervisor is waited for until it holds its session.
const holdsWithin = 30 * time.Second

// launch starts a supervisor, which takes the open and locked record over, and waits until it holds the session.
// An error says why it does not.
func (k Keeper) launch(ctx context.Context, r Record, record *os.File, bypass bool) error {
	path := k.App.Exe
	if runtime.GOOS == "linux" && path != "" {
		path = "/proc/self/exe" // the same version, also if another one was put in its place meanwhile
	}
	if path == "" {
		return errors.New("the path of this program is not known")
	}
	out, err := k.output(r.Session)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	said, says, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = said.Close() }()
	args := []string{"perdure", Command, r.Session}
	if bypass {
		args = append(args, "--dangerously-skip-permissions")
	}
	cmd := &exec.Cmd{
		Path: path, Args: args, Env: k.App.Environ, Dir: r.Cwd, Stdout: out, Stderr: out,
		ExtraFiles: []*os.File{record, says}, SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if !app.IsDir(r.Cwd) {
		cmd.Dir = k.Home.Dir()
	}
	err = cmd.Start()
	_ = says.Close()
	if err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // so that it is no zombie while this process lives
	return k.heard(ctx, r.Session, said)
}

// heard reads what a supervisor says of itself.
func (k Keeper) heard(ctx context.Context, id string, said *os.File) error {
	defer context.AfterFunc(ctx, func() { _ = said.SetReadDeadline(time.Unix(1, 0)) })()
	_ = said.SetReadDeadline(time.Now().Add(holdsWithin))
	line, err := bufio.NewReader(said).ReadString('\n')
	line = strings.TrimSuffix(line, "\n")
	why, failed := strings.CutPrefix(line, saysFailed)
	switch {
	case line == saysHeld:
		return nil
	case failed:
		return errors.New(why)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("its supervisor does not hold it after %v", holdsWithin)
	}
	return fmt.Errorf("its supervisor ended at once; what it printed is in %s", k.outputPath(id))
}

func (k Keeper) outputPath(id string) string { return filepath.Join(k.Home.Dir(), outDir, id, outName) }

// output is the file that a supervisor prints to.
func (k Keeper) output(id string) (*os.File, error) {
	root, err := realdir.Make(k.Home.Dir(), outDir, id)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	_ = root.Remove(outName) // whatever stands there
	return root.OpenFile(outName, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND|unix.O_NOFOLLOW, 0o600)
}
