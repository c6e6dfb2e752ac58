// Package care are the commands that look after a home and the machine that it is on: doctor and verify find what is
// wrong and name a remedy, backup makes a copy that is a home, takeover frees a session from a holder that is gone.
package care

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/provider/connect"
)

// DoctorCommand is perdure doctor.
func DoctorCommand(a *app.App) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "doctor", Short: "Look whether this machine and this home keep the promises; change nothing", Args: app.ExactArgs(0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, ended := a.UntilSignal(cmd.Context(), func() {})
			d, err := diagnose(ctx, a)
			ended()
			if err != nil {
				return err
			}
			if asJSON {
				err = a.JSON(d)
			} else {
				printDiagnosis(a, d)
			}
			if err == nil && d.worst() == levelFail {
				return app.Exit(app.ExitFailed)
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// The levels of a check.
const (
	levelOK   = "ok"
	levelWarn = "warn"
	levelFail = "fail"
)

// check is one thing that was looked at.
type check struct {
	Name  string `json:"name"`
	Level string `json:"level"`
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"` // what to do about it
}

// diagnosis is what doctor finds. Its JSON is doctor --json.
type diagnosis struct {
	Home    string        `json:"home"`
	Version Version       `json:"version"`
	Checks  []check       `json:"checks"`
	Holders []heldSession `json:"holders"`
	Tasks   []liveTask    `json:"tasks"`   // of which a process lives
	Acts    []strayAct    `json:"orphans"` // directories of commands that no session needs
}

func (d *diagnosis) add(level, name, hint, format string, args ...any) {
	d.Checks = append(d.Checks, check{Name: name, Level: level, Text: fmt.Sprintf(format, args...), Hint: hint})
}

func (d *diagnosis) worst() string {
	worst := levelOK
	for _, c := range d.Checks {
		if c.Level == levelFail || c.Level == levelWarn && worst == levelOK {
			worst = c.Level
		}
	}
	return worst
}

// diagnose looks at everything; what one look finds broken does not keep it from the others.
func diagnose(ctx context.Context, a *app.App) (*diagnosis, error) {
	home, err := a.HomeDir()
	if err != nil {
		return nil, err
	}
	d := &diagnosis{
		Home: home, Version: ThisVersion(), Checks: []check{}, Holders: []heldSession{}, Tasks: []liveTask{}, Acts: []strayAct{},
	}
	d.system()
	set := d.configuration(a)
	d.permissions(home) // before opening, which sets them right
	d.writable(home)
	d.links(home)
	d.disk(existing(home))
	err = a.WithSettings(ctx, set, func(h *homes.Home) error {
		d.add(levelOK, "filesystem", "", "%s is on a local filesystem", home)
		d.store(ctx, a, h)
		d.model(ctx, h, set.Model)
		return d.sessions(ctx, a, h)
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		d.add(levelFail, "open", app.Remedy(err), "%s", strings.Join(app.Sentences(err), "; "))
	}
	return d, nil
}

// system looks at what the kernel and this process's surroundings offer.
func (d *diagnosis) system() {
	d.add(levelOK, "version", "", "perdure %s, %s, %s/%s", d.Version.Version, d.Version.Go, runtime.GOOS, runtime.GOARCH)
	d.Checks = append(d.Checks, systemChecks()...)
}

func (d *diagnosis) model(ctx context.Context, h *homes.Home, spec string) {
	agent, err := h.Agent(ctx, spec)
	if err != nil {
		text, hint, _ := strings.Cut(err.Error(), "\n")
		level := levelFail // no run starts with it
		if errors.Is(err, connect.ErrNoModel) {
			level = levelWarn // a key may come with the run
		}
		d.add(level, "model", strings.TrimSpace(hint), "%s", text)
		return
	}
	d.add(levelOK, "model", "", "%s/%s", agent.Provider, agent.Model)
}

func printDiagnosis(a *app.App, d *diagnosis) {
	for _, c := range d.Checks {
		a.Linef("%-4s  %-12s %s", c.Level, c.Name, display.Line(c.Text, 500))
		for line := range strings.Lines(c.Hint) {
			a.Linef("      %-12s %s", "", strings.TrimSpace(line))
		}
	}
	for _, s := range d.Holders {
		a.Linef("held  %s by pid %d on %s (%s)", s.Session, s.PID, s.Host, s.Alive)
	}
	for _, t := range d.Tasks {
		a.Linef("task  %s %s  %s  pid %d, %s: %s", t.SessionID, t.ID, display.TaskStatus(t.Task), t.PID, a.Age(int64(t.Started)), display.Shown(t.Command, display.MaxCell))
		if t.Stale != "" {
			a.Linef("      stale: %s", t.Stale)
		}
		a.Linef("      %s", t.End)
	}
	for _, o := range d.Acts {
		a.Linef("stray %s/%s  %s: %s", o.Session, o.Act, o.Status, o.Why)
		if o.End != "" {
			a.Linef("      %s", o.End)
		}
	}
}
