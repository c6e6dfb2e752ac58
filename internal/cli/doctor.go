package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/internal/provider/connect"
)

func (a *App) doctorCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "doctor", Short: "Look whether this machine and this home keep the promises; change nothing", Args: exactArgs(0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, ended := a.untilSignal(cmd.Context(), func() {})
			d, err := a.diagnose(ctx)
			ended()
			if err != nil {
				return err
			}
			if asJSON {
				err = a.json(d)
			} else {
				a.printDiagnosis(d)
			}
			if err == nil && d.worst() == levelFail {
				return exit(exitFailed)
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
	Version version       `json:"version"`
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
func (a *App) diagnose(ctx context.Context) (*diagnosis, error) {
	home, err := a.home()
	if err != nil {
		return nil, err
	}
	d := &diagnosis{
		Home: home, Version: thisVersion(), Checks: []check{}, Holders: []heldSession{}, Tasks: []liveTask{}, Acts: []strayAct{},
	}
	d.system()
	set := d.configuration(a)
	d.permissions(home) // before opening, which sets them right
	d.writable(home)
	d.links(home)
	d.disk(existing(home))
	err = a.withSettings(ctx, set, func(h *perdure.Home) error {
		d.add(levelOK, "filesystem", "", "%s is on a local filesystem", home)
		d.store(ctx, a, h)
		d.model(ctx, h, set.Model)
		return d.sessions(ctx, a, h)
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		d.add(levelFail, "open", remedy(err), "%s", strings.Join(sentences(err), "; "))
	}
	return d, nil
}

// system looks at what the kernel and this process's surroundings offer.
func (d *diagnosis) system() {
	d.add(levelOK, "version", "", "perdure %s, %s, %s/%s", d.Version.Version, d.Version.Go, runtime.GOOS, runtime.GOARCH)
	d.Checks = append(d.Checks, systemChecks()...)
}

func (d *diagnosis) model(ctx context.Context, h *perdure.Home, spec string) {
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

func (a *App) printDiagnosis(d *diagnosis) {
	for _, c := range d.Checks {
		a.linef("%-4s  %-12s %s", c.Level, c.Name, oneline(c.Text, 500))
		if c.Hint != "" {
			a.linef("      %-12s %s", "", c.Hint)
		}
	}
	for _, s := range d.Holders {
		a.linef("held  %s by pid %d on %s (%s)", s.Session, s.PID, s.Host, s.Alive)
	}
	for _, t := range d.Tasks {
		a.linef("task  %s %s  %s  pid %d, %s: %s", t.SessionID, t.ID, taskStatus(t.TaskView), t.PID, a.age(int64(t.Started)), shown(t.Command, maxCell))
		if t.Stale != "" {
			a.linef("      stale: %s", t.Stale)
		}
		a.linef("      %s", t.End)
	}
	for _, o := range d.Acts {
		a.linef("stray %s/%s  %s: %s", o.Session, o.Act, o.Status, o.Why)
		if o.End != "" {
			a.linef("      %s", o.End)
		}
	}
}
