package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

func (a *App) showCommand() *cobra.Command {
	var opt homes.ViewOptions
	var asJSON bool
	last := 0
	c := &cobra.Command{
		Use: "show ID", Short: "Show a session: what it is, did, may do and waits for",
		Args: exactArgs(1, "a session"), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("last") {
				if last < 1 {
					return usageError("--last %d: want at least 1 message", last)
				}
				opt.Messages = true
			}
			return a.onSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				v, err := h.View(ctx, id, opt)
				if err != nil {
					return err
				}
				if last > 0 && last < len(v.Messages) {
					v.Messages = v.Messages[len(v.Messages)-last:]
				}
				if asJSON {
					return a.json(v)
				}
				return a.paged(func() error { a.show(v); return nil })
			})
		},
	}
	fs := c.Flags()
	fs.BoolVar(&asJSON, "json", false, "print one JSON object")
	fs.BoolVar(&opt.Messages, "messages", false, "the conversation too")
	fs.IntVar(&last, "last", 0, "the newest `N` messages of the conversation")
	fs.BoolVar(&opt.All, "all", false, "read acts, decisions, files and tasks from the whole log")
	return c
}

func (a *App) show(v *view.Session) {
	row := func(name, format string, args ...any) {
		a.linef("%-12s %s", name, oneline(fmt.Sprintf(format, args...), 500))
	}
	row("session", "%s  %s", v.ID, v.Title)
	if first := v.Labels[labelPrompt]; first != "" && first != v.Title {
		row("began with", "%s", first)
	}
	row("status", "%s", doing(v))
	if f := v.Failure; f != nil {
		row("failed", "%s: %s; %s since %s", f.Class, f.Message, count(int64(f.Tries), "try"), a.local(int64(f.Since)))
		if f.Remedy != "" {
			row("", "%s", f.Remedy)
		}
	}
	row("agent", "%s  %s/%s", v.Agent.Name, v.Agent.Provider, v.Agent.Model)
	row("directory", "%s", strings.Join(append([]string{v.Cwd}, v.Directories...), "  +"))
	if v.Parent != nil {
		row("fork of", "%s at event %d", v.Parent.ID, v.Parent.Seq)
	}
	row("opened", "%s", a.local(int64(v.Created)))
	row("updated", "%s (%s)", a.local(int64(v.Updated)), a.ago(int64(v.Updated)))
	row("usage", "%s; %s", tokens(v.Usage.Usage), money(v.CostUSD))
	if v.Budget != nil {
		row("budget", "$%.4f of $%.4f spent", v.Budget.Spent, v.Budget.Limit)
	}
	if v.Config.MaxSteps > 0 {
		row("limit", "%s a turn", count(int64(v.Config.MaxSteps), "step"))
	}
	row("permissions", "mode %s, %s, %s", v.Permissions.Mode, count(int64(len(v.Permissions.Rules)), "rule"), count(int64(len(v.Permissions.Grants)), "grant"))
	if f := v.Files; len(f.Read)+len(f.Modified)+len(f.Created) > 0 {
		row("files", "%d read, %d modified, %d created", len(f.Read), len(f.Modified), len(f.Created))
	}
	row("log", "%s", count(v.Head.Seq, "event"))
	for _, name := range slices.Sorted(maps.Keys(v.Truncated)) {
		row("left out", "%d %s: --all reads them from the log", v.Truncated[name], name)
	}
	if v.ReadOnly != "" {
		row("read-only", "%s", v.ReadOnly)
	}
	a.showLists(v)
}

// tokens is a usage in words, without what is none.
func tokens(u model.Usage) string {
	words := []string{grouped(u.Input) + " tokens in", grouped(u.Output) + " out"}
	for _, part := range []struct {
		n    int64
		what string
	}{{u.CacheRead, "read from cache"}, {u.CacheWrite, "written to cache"}, {u.LostInput, "lost with calls that broke off"}} {
		if part.n > 0 {
			words = append(words, grouped(part.n)+" "+part.what)
		}
	}
	return strings.Join(words, ", ")
}

// doing is where a session stands and who holds it.
func doing(v *view.Session) string {
	text := v.Lifecycle + ", " + v.Activity
	if v.Holder == nil {
		return text
	}
	text += fmt.Sprintf("; held by pid %d on %s", v.Holder.PID, v.Holder.Host)
	switch v.Holder.Alive {
	case store.Dead:
		text += ", which died"
	case store.Unknown:
		text += ", which cannot be seen from here"
	case store.Alive:
	}
	return text
}

// The most of a list that show prints; --json has all of it.
const (
	shownActs  = 20
	shownFiles = 10
)

func (a *App) showLists(v *view.Session) {
	section(a, "waits for you", v.Waiting, func(w view.Waiting) { a.showWait(w) })
	section(a, "plan", v.Plan, func(s view.Step) { a.itemf("%-9s  %s", s.Status, s.Content) })
	a.showActs(v)
	section(a, "tasks", v.Tasks, a.showTask)
	section(a, "awaits", v.Awaits, func(w view.Await) { a.itemf("%s", a.awaitLine(w)) })
	section(a, "facts", v.Facts, func(f view.Fact) { a.itemf("%s: %s", f.Kind, f.Text) })
	changed := append(slices.Clone(v.Files.Modified), v.Files.Created...)
	if n := len(changed); n > 0 {
		section(a, "changed files", changed[:min(n, shownFiles)], func(f view.File) { a.itemf("%s", a.tilde(f.Path)) })
		if n > shownFiles {
			a.itemf("… %d more", n-shownFiles)
		}
	}
	section(a, "messages that wait for their turn", v.Inbox, func(i view.InboxItem) { a.itemf("%s  %s", a.local(int64(i.Sent)), inboxText(i)) })
	section(a, "faults", v.Faults, func(f string) { a.itemf("%s", f) })
	section(a, "messages", v.Messages, a.showMessage)
}

// section prints a list below its name; of an empty one nothing.
func section[T any](a *App, name string, items []T, item func(T)) {
	if len(items) > 0 {
		a.linef("\n%s", name)
	}
	for _, it := range items {
		item(it)
	}
}

// itemf prints one entry of a section.
func (a *App) itemf(format string, args ...any) {
	a.linef("  %s", oneline(fmt.Sprintf(format, args...), 300))
}

func (a *App) showActs(v *view.Session) {
	if len(v.Acts) == 0 {
		return
	}
	acts := v.Acts[max(0, len(v.Acts)-shownActs):]
	a.linef("\nacts")
	if before := int64(len(v.Acts)-len(acts)) + v.Truncated["acts"]; before > 0 {
		a.itemf("… %s before", grouped(before))
	}
	for _, act := range acts {
		took := ""
		if act.Started > 0 && act.Ended >= act.Started {
			took = "  " + took10(int64(act.Ended-act.Started))
		}
		a.itemf("%-11s %s %s  %s%s", act.ID, act.Tool, shown(act.About, 120), stands(act, v.Waiting), took)
	}
}

// took10 is a duration in ms, to a tenth of a second below a minute.
func took10(ms int64) string {
	if d := time.Duration(ms) * time.Millisecond; d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%.1fs", float64(ms)/1000)
}

// outcome is how an act stands: how it ended, with its exit code, or what is under way.
func outcome(act view.Act) string {
	if act.Outcome == nil {
		return strings.TrimSpace(strings.ReplaceAll(act.State, "_", " ") + "  " + act.Reason)
	}
	words := *act.Outcome
	if act.ExitCode != nil && *act.ExitCode != 0 {
		words = fmt.Sprintf("exit %d", *act.ExitCode)
	}
	return strings.TrimSpace(words + "  " + act.Reason)
}

// stands is outcome, but for a question that was answered while nobody ran the session.
func stands(act view.Act, waiting []view.Waiting) string {
	asks := func(w view.Waiting) bool { return strings.HasSuffix(w.ID, ":"+act.ID) }
	if act.Outcome == nil && act.Effect == string(session.EffectQuestion) && act.State == string(session.ActWaitingExternal) && !slices.ContainsFunc(waiting, asks) {
		return "answered"
	}
	return outcome(act)
}

// showWait says what a person has to decide, and how.
func (a *App) showWait(w view.Waiting) {
	if w.Question == nil {
		a.itemf("approval %s  %s %s  %s", w.ID, w.Tool, inputText(w.Input), w.Reason)
		if w.Again {
			a.linef("    %s", decidedAgain)
		}
		a.linef("    perdure approvals allow %s, or deny", w.ID)
		return
	}
	a.itemf("question %s  %s", w.ID, w.Question.Question)
	for i, o := range w.Question.Options {
		a.linef("    %d  %s", i+1, shown(o, 200))
	}
	a.linef("    perdure answer %s ANSWER", w.ID)
}

func (a *App) showTask(t view.Task) {
	how := settingsWords(t.TaskSettings)
	if how != "" {
		how = "[" + how + "]  "
	}
	a.itemf("%s  %s  %s  %s%s", called(t), taskStatus(t), a.taskFigures(t), how, t.Command)
	a.indented(t.LastOutput)
}

// inboxText is what somebody sent: a message's text, else the kind of what it was.
func inboxText(i view.InboxItem) string {
	if i.Kind != session.KindMessageReceived {
		return string(i.Kind)
	}
	return i.Text
}

// showMessage prints a message with every line indented, so that none can pass for one of ours.
func (a *App) showMessage(m view.Message) {
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

func contentText(c view.Content) string {
	switch {
	case c.Text != nil:
		return *c.Text
	case c.Type == model.BlockToolUse:
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
