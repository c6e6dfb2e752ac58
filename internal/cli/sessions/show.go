package sessions

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/pending"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// ShowCommand is perdure show.
func ShowCommand(a *app.App) *cobra.Command {
	var opt homes.ViewOptions
	var asJSON, inContext, files bool
	last := 0
	c := &cobra.Command{
		Use: "show ID", Short: "Show a session: what it is, did, may do and waits for",
		Args: app.ExactArgs(1, "a session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("last") {
				if last < 1 {
					return app.UsageError("--last %d: want at least 1 message", last)
				}
				opt.Messages = true
			}
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				switch {
				case inContext && files:
					return app.UsageError("--context and --files are two views: say one of them")
				case inContext:
					return showContext(ctx, a, h, id, asJSON)
				case files:
					return showFiles(ctx, a, h, id, asJSON)
				}
				v, err := h.View(ctx, id, opt)
				if err != nil {
					return err
				}
				if last > 0 && last < len(v.Messages) {
					v.Messages = v.Messages[len(v.Messages)-last:]
				}
				if asJSON {
					return a.JSON(v)
				}
				st, err := h.State(ctx, id)
				if err != nil {
					return err
				}
				return a.Paged(func() error { show(a, v, &st.Workspace); return nil })
			})
		},
	}
	fs := c.Flags()
	fs.BoolVar(&asJSON, "json", false, "print one JSON object")
	fs.BoolVar(&opt.Messages, "messages", false, "the conversation too, all of it")
	fs.BoolVar(&inContext, "context", false, "exactly what the next request to the model holds, with the tokens of each part")
	fs.BoolVar(&files, "files", false, "which files it read, modified, created and deleted, when and by which act, and what is kept of them")
	fs.IntVar(&last, "last", 0, "the newest `N` messages of the conversation")
	fs.BoolVar(&opt.All, "all", false, "read acts, decisions, files and tasks from the whole log")
	return c
}

func show(a *app.App, v *view.Session, w *session.Workspace) {
	look := a.Styles()
	row := func(name, format string, args ...any) {
		a.Beside(look.Quiet.Styled(fmt.Sprintf("%-12s", name))+" ", 13, display.Line(fmt.Sprintf(format, args...), 500))
	}
	row("session", "%s  %s", v.ID, v.Title)
	if first := v.Labels[app.LabelPrompt]; first != "" && first != v.Title {
		row("began with", "%s", first)
	}
	row("status", "%s", doing(v))
	if f := v.Failure; f != nil {
		row("failed", "%s: %s; %s since %s", f.Class, f.Message, display.Count(int64(f.Tries), "try"), a.When(int64(f.Since)))
		if f.Remedy != "" {
			row("", "%s", f.Remedy)
		}
	}
	row("agent", "%s  %s/%s", v.Agent.Name, v.Agent.Provider, v.Agent.Model)
	row("directory", "%s", strings.Join(append([]string{v.Cwd}, v.Directories...), "  +"))
	if v.Parent != nil {
		row("fork of", "%s at event %d", v.Parent.ID, v.Parent.Seq)
	}
	row("opened", "%s", a.When(int64(v.Created)))
	row("updated", "%s (%s)", a.When(int64(v.Updated)), a.Ago(int64(v.Updated)))
	row("usage", "%s; %s", tokens(v.Usage.Usage), display.Money(v.CostUSD))
	if v.Budget != nil {
		row("budget", "$%.4f of $%.4f spent", v.Budget.Spent, v.Budget.Limit)
	}
	if v.Config.MaxSteps > 0 {
		row("limit", "%s a turn", display.Count(int64(v.Config.MaxSteps), "step"))
	}
	row("permissions", "mode %s, %s, %s", v.Permissions.Mode, display.Count(int64(len(v.Permissions.Rules)), "rule"), display.Count(int64(len(v.Permissions.Grants)), "grant"))
	if files := filesLine(v.Files, w); files != "" {
		row("files", "%s", files)
	}
	row("log", "%s", display.Count(v.Head.Seq, "event"))
	for _, name := range slices.Sorted(maps.Keys(v.Truncated)) {
		row("left out", "%d %s: --all reads them from the log", v.Truncated[name], name)
	}
	if v.ReadOnly != "" {
		row("read-only", "%s", v.ReadOnly)
	}
	showLists(a, v)
}

// tokens is a usage in words, without what is none.
func tokens(u model.Usage) string {
	words := []string{display.Grouped(u.Input) + " tokens in", display.Grouped(u.Output) + " out"}
	for _, part := range []struct {
		n    int64
		what string
	}{{u.CacheRead, "read from cache"}, {u.CacheWrite, "written to cache"}, {u.LostInput, "lost with calls that broke off"}} {
		if part.n > 0 {
			words = append(words, display.Grouped(part.n)+" "+part.what)
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

func showLists(a *app.App, v *view.Session) {
	section(a, "waits for you", v.Waiting, func(w view.Waiting) { showWait(a, w) })
	showPlan(a, v.Plan)
	showActs(a, v)
	section(a, "tasks", v.Tasks, func(t view.Task) { showTask(a, t) })
	section(a, "awaits", v.Awaits, func(w view.Await) { itemf(a, "%s", AwaitLine(a, w)) })
	section(a, "facts", v.Facts, func(f view.Fact) { itemf(a, "%s: %s", f.Kind, f.Text) })
	changed := append(slices.Clone(v.Files.Modified), v.Files.Created...)
	if n := len(changed); n > 0 {
		section(a, "changed files", changed[:min(n, shownFiles)], func(f view.File) { itemf(a, "%s", a.Tilde(f.Path)) })
		if n > shownFiles {
			itemf(a, "… %d more", n-shownFiles)
		}
	}
	section(a, "messages that wait for their turn", v.Inbox, func(i view.InboxItem) { itemf(a, "%s  %s", a.When(int64(i.Sent)), inboxText(i)) })
	section(a, "faults", v.Faults, func(f string) { itemf(a, "%s", f) })
	section(a, "messages", v.Messages, func(m view.Message) { showMessage(a, m) })
}

// section prints a list below its name; of an empty one nothing.
func section[T any](a *app.App, name string, items []T, item func(T)) {
	if len(items) > 0 {
		heading(a, name)
	}
	for _, it := range items {
		item(it)
	}
}

// itemf prints one entry of a section.
func itemf(a *app.App, format string, args ...any) {
	a.Beside("  ", 2, display.Line(fmt.Sprintf(format, args...), 300))
}

func showActs(a *app.App, v *view.Session) {
	if len(v.Acts) == 0 {
		return
	}
	acts := v.Acts[max(0, len(v.Acts)-shownActs):]
	heading(a, "acts")
	if before := int64(len(v.Acts)-len(acts)) + v.Truncated["acts"]; before > 0 {
		itemf(a, "… %s before", display.Grouped(before))
	}
	var out []entry
	for _, act := range acts {
		took := ""
		if act.Started > 0 && act.Ended >= act.Started {
			took = "  " + took10(int64(act.Ended-act.Started))
		}
		stood := stands(act, v.Waiting)
		out = append(out, entry{
			words: []string{act.ID, act.Tool, stood + took}, styles: []ansi.Style{a.Styles().Quiet, a.Styles().Accent, standing(a, stood)},
			text: display.Shown(act.About, 200),
		})
	}
	columned(a, out)
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
func showWait(a *app.App, w view.Waiting) {
	if w.Question == nil {
		itemf(a, "approval %s  %s %s  %s", w.ID, w.Tool, inputText(w.Input), w.Reason)
		if w.Again {
			a.Linef("    %s", pending.DecidedAgain)
		}
		a.Linef("    perdure approvals allow %s, or deny", w.ID)
		return
	}
	itemf(a, "question %s  %s", w.ID, w.Question.Question)
	for i, o := range w.Question.Options {
		a.Linef("    %d  %s", i+1, display.Shown(o, 200))
	}
	a.Linef("    perdure answer %s ANSWER", w.ID)
}

func showTask(a *app.App, t view.Task) {
	how := display.TaskSettings(t.TaskSettings)
	if how != "" {
		how = "[" + how + "]  "
	}
	itemf(a, "%s  %s  %s  %s%s", display.Called(t), display.TaskStatus(t), display.TaskFigures(t), how, t.Command)
	indented(a, t.LastOutput)
}

// inboxText is what somebody sent: a message's text, else the kind of what it was.
func inboxText(i view.InboxItem) string {
	if i.Kind != session.KindMessageReceived {
		return string(i.Kind)
	}
	return i.Text
}

// showMessage prints a message with every line indented, so that none can pass for one of ours.
func showMessage(a *app.App, m view.Message) {
	for _, c := range m.Content {
		a.Linef("  %s", a.Styles().Bold.Styled(string(m.Role)+": "+string(c.Type)))
		indented(a, contentText(c))
	}
}

func indented(a *app.App, text string) { a.Block(text, 4) }

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
		return fmt.Sprintf("%s, %s", c.Media, display.Bytes(int64(c.Bytes)))
	}
	return inputText(c.Raw)
}

// inputText shows a tool's input as compact JSON.
func inputText(v any) string {
	var b strings.Builder
	if display.Encoder(&b).Encode(v) != nil {
		return ""
	}
	return strings.TrimSpace(b.String())
}

// AwaitLine is one await for people.
func AwaitLine(a *app.App, v view.Await) string {
	at := ""
	if v.At != 0 {
		at = ", at the latest " + a.When(int64(v.At))
	}
	return v.ID + ": " + display.Shown(v.Text+at, 500)
}
