// Package cli is the perdure command: it reads arguments, calls package perdure, and words the outcome.
//
// A command takes its whole world from [App]: arguments, streams, environment and directory, so that tests run it
// in-process. Results go to stdout and everything else to stderr, with hints on lines of their own. One file per
// command; exit.go alone knows exit codes.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/internal/settings"
)

// App is the world of one command.
type App struct {
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Environ []string
	Dir     string // absolute working directory
	Now     func() time.Time
	// Signals delivers what the process is sent; nil: nothing is.
	Signals <-chan os.Signal
	// Terminal tells whether stdin is one, Screen whether stdout is.
	Terminal, Screen bool
	// Asks: a person sees stderr and types on stdin.
	Asks bool
	// Zone is the zone that people see times in; nil is UTC. JSON has UTC.
	Zone *time.Location
	// Size tells the terminal's columns and rows; nil or 0: unknown, as of a pipe.
	Size func() (columns, rows int)
	// TTY names the terminal that this process has; empty: none.
	TTY string
	// Exe is the path of this program, for commands that start it again; empty: unknown.
	Exe string
}

// OS is the world of this process.
func OS() *App {
	dir, _ := os.Getwd() // an unknown directory fails where it is needed
	exe, _ := os.Executable()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup means: a closed terminal is no reason to stop
		signal.Notify(signals, syscall.SIGHUP)
	}
	var stdout io.Writer = os.Stdout
	if stdoutClosed() {
		stdout = closedStdout{}
	}
	return &App{
		Stdin: os.Stdin, Stdout: stdout, Stderr: os.Stderr, Environ: os.Environ(), Dir: dir, Now: time.Now,
		Signals: signals, Terminal: term.IsTerminal(int(os.Stdin.Fd())), Screen: term.IsTerminal(int(os.Stdout.Fd())),
		Asks: term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd())),
		TTY:  ttyName(os.Stdin, os.Stderr, os.Stdout), Exe: exe, Zone: time.Local, Size: terminalSize,
	}
}

// terminalSize is the size of the terminal that stdout is, 0 if it is none.
func terminalSize() (columns, rows int) {
	columns, rows, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0, 0
	}
	return columns, rows
}

// size is the screen's, 0 if there is none or it is unknown.
func (a *App) size() (columns, rows int) {
	if !a.Screen || a.Size == nil {
		return 0, 0
	}
	return a.Size()
}

// Main runs one command line and returns its exit code.
func Main(ctx context.Context, a *App, args []string) int {
	placed := *a
	a = &placed
	a.placeHome()
	world := *a
	out := &results{to: a.Stdout}
	world.Stdout = out
	err := world.main(ctx, args)
	code := a.report(err)
	lost := out.lost()
	if lost == nil || code >= exitSignalled {
		return code
	}
	if !errors.As(err, new(*unwrittenError)) {
		a.note("%v", lost)
	}
	if out.hint != "" {
		a.hint("%s", out.hint)
	}
	return exitLost(lost)
}

func (a *App) main(ctx context.Context, args []string) error {
	root := a.root()
	if len(args) > 0 && !a.isCommand(root, args[0]) {
		if !strings.HasPrefix(args[0], "-") && !asksToPrint(args) {
			return noCommand(root, args[0])
		}
		args = afterDashes(root.Flags(), args)
		// A prompt may be any word, the name of a command included; only the first argument names a command.
		root.RemoveCommand(root.Commands()...)
		root.CompletionOptions.DisableDefaultCmd = true
		root.SetHelpCommand(&cobra.Command{Use: "no-help", Hidden: true})
	}
	if c, rest, err := root.Find(args); err == nil && c != root {
		path := args[:len(args)-len(rest)]
		if !slices.ContainsFunc(path, func(word string) bool { return strings.HasPrefix(word, "-") }) {
			args = append(slices.Clone(path), afterDashes(c.Flags(), rest)...)
		}
	}
	root.SetArgs(attachOptional(args))
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	return root.ExecuteContext(ctx)
}

func (a *App) isCommand(root *cobra.Command, name string) bool {
	if name == "help" || name == "--help" || name == "-h" || name == "completion" || strings.HasPrefix(name, "__complete") {
		return true
	}
	for _, c := range root.Commands() {
		if c.Name() == name || c.HasAlias(name) {
			return true
		}
	}
	return false
}

// attachOptional joins -r and --resume with the value after them, which is optional and therefore not taken by the
// flag parser on its own. Everything after -- is left alone.
func attachOptional(args []string) []string {
	out := make([]string, 0, len(args))
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return append(out, args[i:]...)
		}
		if (arg == "-r" || arg == "--resume") && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			out = append(out, "--resume="+args[i+1])
			i++
			continue
		}
		out = append(out, arg)
	}
	return out
}

func (a *App) getenv(name string) string {
	for _, kv := range a.Environ {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			return v
		}
	}
	return ""
}

// placeHome makes a relative PERDURE_HOME absolute before anything reads it: it means the directory that the command was
// started in, also where a hint or an inherited variable names it elsewhere.
func (a *App) placeHome() {
	v := a.getenv("PERDURE_HOME")
	if v == "" || filepath.IsAbs(v) || strings.HasPrefix(v, "~") || !filepath.IsAbs(a.Dir) {
		return
	}
	environ := []string{"PERDURE_HOME=" + filepath.Join(a.Dir, v)}
	for _, kv := range a.Environ {
		if !strings.HasPrefix(kv, "PERDURE_HOME=") {
			environ = append(environ, kv)
		}
	}
	a.Environ = environ
}

// home is where sessions are kept: $PERDURE_HOME, else the XDG data directory.
func (a *App) home() (string, error) {
	if v := a.getenv("PERDURE_HOME"); v != "" {
		if strings.HasPrefix(v, "~") {
			return "", usageError("PERDURE_HOME is %s: only a shell expands the ~; write the whole path (./%s is a directory of that name)", v, v)
		}
		return filepath.Abs(v)
	}
	if v := a.getenv("XDG_DATA_HOME"); filepath.IsAbs(v) {
		return filepath.Join(v, "perdure"), nil
	}
	if v := a.getenv("HOME"); filepath.IsAbs(v) {
		return filepath.Join(v, ".local", "share", "perdure"), nil
	}
	return "", usageError("no place to keep sessions: set PERDURE_HOME or HOME")
}

// open opens the home with what the settings say.
func (a *App) open(ctx context.Context, cfg perdure.Config) (*perdure.Home, error) {
	dir, err := a.home()
	if err != nil {
		return nil, err
	}
	cfg.Environ, cfg.Now = a.Environ, a.Now
	return perdure.Open(ctx, dir, cfg)
}

// with opens the home for the length of one command.
func (a *App) with(ctx context.Context, do func(*perdure.Home) error) error {
	// What a person sends by a command may hold a secret that the user's file names. A file that cannot be read stops
	// runs, but not a look at what there is.
	set, err := settings.Load(settings.UserFile(a.getenv), "")
	if err != nil {
		a.note("secrets of the configuration are not known: %v", err)
	}
	return a.withSettings(ctx, set, do)
}

// withSettings is with for a command that has read its configuration itself.
func (a *App) withSettings(ctx context.Context, set settings.Loaded, do func(*perdure.Home) error) (err error) {
	h, err := a.open(ctx, perdure.Config{Secrets: a.secrets(set)})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := h.Close(); err == nil {
			err = cerr
		}
	}()
	return do(h)
}

// note writes one line for the eyes. What others wrote in it is made safe for a terminal.
func (a *App) note(format string, args ...any) {
	_, _ = fmt.Fprintln(a.Stderr, "perdure: "+plain(fmt.Sprintf(format, args...)))
}

// hint writes a line that says what to do.
func (a *App) hint(format string, args ...any) {
	_, _ = fmt.Fprintln(a.Stderr, "  "+plain(fmt.Sprintf(format, args...)))
}
