// Package app is what every command of perdure shares: the world that it runs in, [App], with arguments, streams,
// environment and directory, so that tests run it in-process; how it opens the home, finds what a name means, waits for
// a holder and listens to signals; and how an error becomes words, a remedy and an exit code, which exit.go alone knows.
//
// Results go to stdout and everything else to stderr, with hints on lines of their own.
package app

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/internal/sys"
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
	// Terminal reports whether stdin is one, Screen whether stdout is.
	Terminal, Screen bool
	// Asks: a person sees stderr and types on stdin.
	Asks bool
	// Line is the terminal that stderr is, for a line that is renewed while something takes long; nil: it is none.
	Line io.Writer
	// Zone is the zone that people see times in; nil is UTC. JSON has UTC.
	Zone *time.Location
	// NoZone is the value of TZ if no time zone of that name was found, so that Zone is UTC.
	NoZone string
	// Size tells the terminal's columns and rows; nil or 0: unknown, as of a pipe.
	Size func() (columns, rows int)
	// TTY names the terminal that this process has; empty: none.
	TTY string
	// NoPager: what is long is not paged.
	NoPager bool
	// Self runs another command line of perdure in a world, and gives its exit code.
	Self func(ctx context.Context, a *App, args []string) int
	// Exe is the path of this program, for commands that start it again; empty: unknown.
	Exe string

	telling *teller // of the homes that were opened; nil: none was
}

// Window is the size of the screen, 0 if there is none or it is unknown.
func (a *App) Window() (columns, rows int) {
	if !a.Screen || a.Size == nil {
		return 0, 0
	}
	return a.Size()
}

// Getenv is the value of a variable; empty if there is none.
func (a *App) Getenv(name string) string {
	for _, kv := range a.Environ {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			return v
		}
	}
	return ""
}

// Open opens the home with what the settings say.
func (a *App) Open(ctx context.Context, cfg homes.Config) (*homes.Home, error) {
	dir, err := a.HomeDir()
	if err != nil {
		return nil, err
	}
	cfg.Environ, cfg.Now, cfg.Progress = a.Environ, a.Now, a.tells()
	return homes.Open(ctx, dir, cfg)
}

// With opens the home for the length of one command.
func (a *App) With(ctx context.Context, do func(*homes.Home) error) error {
	// What a person sends by a command may hold a secret that the user's file names. A file that cannot be read stops
	// runs, but not a look at what there is.
	set, err := settings.Load(settings.UserFile(a.Getenv), "")
	if err != nil {
		a.Note("secrets of the configuration are not known: %v", err)
	}
	return a.WithSettings(ctx, set, do)
}

// WithSettings is With for a command that has read its configuration itself.
func (a *App) WithSettings(ctx context.Context, set settings.Loaded, do func(*homes.Home) error) (err error) {
	h, err := a.Open(ctx, homes.Config{Secrets: a.Secrets(set), Memory: Memory(set), MinSession: set.MinSession(), CommitKnowledge: set.Knowledge.Commit, Files: Files(set), Log: a.Logger()})
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

// Files says what is kept of sessions' files; nil: nothing.
func Files(set settings.Loaded) *homes.Files {
	f := set.Settings.Files
	if !f.Captured() || sys.Captures() != nil { // a system that has no captures has sessions all the same
		return nil
	}
	return &homes.Files{Keep: f.Keep, MaxFile: f.MaxFile << 20, MaxFiles: f.Count, MaxBytes: f.Max << 20, Quota: f.Quota << 20, SessionQuota: f.Session << 20}
}

// Secrets are the values of the variables that the settings name.
func (a *App) Secrets(set settings.Loaded) map[string]string {
	out := map[string]string{}
	for _, name := range set.Secrets {
		if v := a.Getenv(name); v != "" {
			out[name] = v
		}
	}
	return out
}

// BypassNotTaken says what becomes of a mode that only a flag can set.
const BypassNotTaken = "bypassPermissions of the configuration is not taken: give --dangerously-skip-permissions with each run"
