package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/session"
)

func (a *App) showCommand() *cobra.Command {
	var opt perdure.ViewOptions
	var asJSON bool
	c := &cobra.Command{
		Use: "show ID", Short: "Show a session: what it is, did, may do and waits for",
		Args: exactArgs(1, "a session"), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onSession(cmd, args[0], func(ctx context.Context, h *perdure.Home, id string) error {
				v, err := h.View(ctx, id, opt)
				if err != nil {
					return err
				}
				if asJSON {
					return a.json(v)
				}
				return a.show(ctx, h, v)
			})
		},
	}
	fs := c.Flags()
	fs.BoolVar(&asJSON, "json", false, "print one JSON object")
	fs.BoolVar(&opt.Messages, "messages", false, "the conversation too")
	fs.BoolVar(&opt.All, "all", false, "read acts, decisions, files and tasks from the whole log")
	return c
}

func (a *App) show(ctx context.Context, h *perdure.Home, v *perdure.View) error {
	info, err := h.Store().Get(ctx, v.ID)
	if err != nil {
		return err
	}
	row := func(name, format string, args ...any) {
		a.linef("%-12s %s", name, oneline(fmt.Sprintf(format, args...), 500))
	}
	row("session", "%s  %s", v.ID, v.Title)
	row("status", "%s, %s", v.Lifecycle, a.doing(v, status(info)))
	row("agent", "%s  %s/%s", v.Agent.Name, v.Agent.Provider, v.Agent.Model)
	row("directory", "%s", strings.Join(append([]string{v.Cwd}, v.Directories...), "  +"))
	if v.Parent != nil {
		row("fork of", "%s at event %d", v.Parent.ID, v.Parent.Seq)
	}
	row("log", "%d events, epoch %d, head %s", v.Head.Seq, v.Epoch, v.Head.Hash)
	u := v.Usage
	row("usage", "%d in, %d out, %d cache read, %d cache write, %d lost; %s", u.Input, u.Output, u.CacheRead, u.CacheWrite, u.LostInput, money(v.CostUSD))
	if v.Budget != nil {
		row("budget", "$%.4f of $%.4f spent", v.Budget.Spent, v.Budget.Limit)
	}
	row("permissions", "mode %s, %d rules, %d grants", v.Permissions.Mode, len(v.Permissions.Rules), len(v.Permissions.Grants))
	row("files", "%d read, %d modified, %d created", len(v.Files.Read), len(v.Files.Modified), len(v.Files.Created))
	row("times", "opened %s, updated %s (%s)", v.Created, v.Updated, a.ago(int64(v.Updated)))
	for name, n := range v.Truncated {
		row("left out", "%d %s: --all reads them from the log", n, name)
	}
	if v.ReadOnly != "" {
		row("read-only", "%s", v.ReadOnly)
	}
	a.showLists(v)
	return nil
}

// doing is what a session does, as far as the log and its holder tell.
func (a *App) doing(v *perdure.View, status string) string {
	if v.Activity == session.Running && v.Lifecycle == session.LifecycleOpen && status != string(session.Running) {
		return string(v.Activity) + " (" + status + ")"
	}
	return string(v.Activity)
}

func (a *App) showLists(v *perdure.View) {
	section := func(name string, n int) bool {
		if n > 0 {
			a.linef("\n%s", name)
		}
		return n > 0
	}
	item := func(format string, args ...any) { a.linef("  %s", oneline(fmt.Sprintf(format, args...), 300)) }
	if section("plan", len(v.Plan)) {
		for _, s := range v.Plan {
			item("%-9s  %s", s.Status, s.Content)
		}
	}
	if section("acts", len(v.Acts)) {
		const shown = 20
		if len(v.Acts) > shown {
			item("… %d before", len(v.Acts)-shown)
		}
		for _, act := range v.Acts[max(0, len(v.Acts)-shown):] {
			item("%s  %s  %s  %s", act.ID, act.Tool, act.State, outcome(act))
		}
	}
	if section("tasks", len(v.Tasks)) {
		for _, t := range v.Tasks {
			how := settingsWords(t.TaskSettings)
			if how != "" {
				how = "[" + how + "]  "
			}
			item("%s  %s  %s  %s%s", called(t), taskStatus(t), a.taskFigures(t), how, t.Command)
			a.indented(t.LastOutput)
		}
	}
	if section("awaits", len(v.Awaits)) {
		for _, w := range v.Awaits {
			item("%s", awaitLine(w))
		}
	}
	if section("facts", len(v.Facts)) {
		for _, f := range v.Facts {
			item("%s: %s", f.Kind, f.Text)
		}
	}
	if section("inbox", len(v.Inbox)) {
		for _, i := range v.Inbox {
			item("%s  %s", i.Sent, i.Kind)
		}
	}
	if section("faults", len(v.Faults)) {
		for _, f := range v.Faults {
			item("%s", f)
		}
	}
	if section("messages", len(v.Messages)) {
		for _, m := range v.Messages {
			a.showMessage(m)
		}
	}
}

func outcome(act perdure.ActView) string {
	if act.Outcome == nil {
		return ""
	}
	return strings.TrimSpace(string(*act.Outcome) + "  " + act.Reason)
}

// showMessage prints a message with every line indented, so that none can pass for one of ours.
func (a *App) showMessage(m perdure.MessageView) {
	for _, c := range m.Content {
		a.linef("  %s: %s", m.Role, c.Type)
		a.indented(contentText(c))
	}
}

func (a *App) indented(text string) {
	for line := range strings.Lines(plain(text)) {
		a.linef("    %s", strings.TrimRight(line, "\n"))
	}
}

func contentText(c perdure.ContentView) string {
	switch {
	case c.Text != nil:
		return *c.Text
	case c.Type == session.BlockToolUse:
		return c.Name + " " + inputText(c.Input)
	case c.Content != nil:
		var b strings.Builder
		for _, part := range c.Content {
			b.WriteString(contentText(part))
		}
		return b.String()
	case c.Bytes > 0:
		return fmt.Sprintf("%s, %s", c.Media, size(int64(c.Bytes)))
	}
	return inputText(c.Raw)
}

// inputText shows a tool's input as compact JSON.
func inputText(v any) string {
	var b strings.Builder
	if encoder(&b).Encode(v) != nil {
		return ""
	}
	return strings.TrimSpace(b.String())
}
