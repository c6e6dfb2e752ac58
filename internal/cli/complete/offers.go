package complete

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/pending"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// offers are looked up in the home as it is when a person asks for them.
type offers struct{ *app.App }

// offer runs do over the home and gives what it found that begins with prefix, each once. A failing completion offers
// nothing: its errors belong to the command itself. What does not show as it is, such as a title from a bundle that holds
// what a terminal obeys, is not offered.
func (a offers) offer(cmd *cobra.Command, prefix string, do func(h *homes.Home, add func(value, about string)) error) ([]string, cobra.ShellCompDirective) {
	var out []string
	seen := map[string]bool{}
	_ = a.With(cmd.Context(), func(h *homes.Home) error {
		return do(h, func(value, about string) {
			if value != "" && !strings.ContainsFunc(value, plain.Hidden) && strings.HasPrefix(value, prefix) && len(out) < maxCompletions && !seen[value] {
				seen[value] = true
				out = append(out, value+"\t"+display.Line(about, display.MaxCell))
			}
		})
	})
	return out, cobra.ShellCompDirectiveNoFileComp
}

// sessions offers sessions, by id and by name, for the first argument.
func (a offers) sessions(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return a.sessionsThat(func(view.Listing) bool { return true })(cmd, args, prefix)
}

// sessionsThat is sessions for a verb that can act on some of them only.
func (a offers) sessionsThat(fits func(view.Listing) bool) completer {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.offer(cmd, prefix, func(h *homes.Home, add func(value, about string)) error {
			page, err := h.List(cmd.Context(), store.Query{Limit: 1000})
			for _, s := range page.Sessions {
				if !fits(s) {
					continue
				}
				about := s.Heads.Title
				if about == "" {
					about = s.Heads.Labels[app.LabelPrompt]
				}
				add(s.ID, about+"  "+a.Tilde(s.Heads.Cwd))
				add(s.Heads.Title, a.Tilde(s.Heads.Cwd))
			}
			return err
		})
	}
}

// is reports whether a session is in one of some lifecycles.
func is(lifecycles ...session.Lifecycle) func(view.Listing) bool {
	return func(s view.Listing) bool { return slices.Contains(lifecycles, session.Lifecycle(s.Heads.Lifecycle)) }
}

// held reports whether a process, here or elsewhere, may hold a session.
func held(s view.Listing) bool { return s.Holder != nil && s.Holder.Alive != store.Dead }

// works reports whether a command may run in the foreground of a session: its turn is open, whoever runs it.
func works(s view.Listing) bool {
	return s.Activity == string(session.Running) || s.Activity == string(session.Interrupted) || s.Activity == string(session.Parked)
}

// Which tasks a verb can act on.
func anyTask(view.Task) bool      { return true }
func stillRuns(t view.Task) bool  { return t.Live() }
func takesInput(t view.Task) bool { return t.Live() && (t.Stdin || t.TTY != nil) }

// tasks offers tasks that a verb can act on: by name or id for the first argument, with the sessions that have
// one; what follows are at most that many tasks of the session that the first one names, each once.
func (a offers) tasks(fits func(view.Task) bool, most int) completer {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return a.offer(cmd, prefix, func(h *homes.Home, add func(value, about string)) error {
			if len(args) > most {
				return nil
			}
			if len(args) > 0 {
				tasks, err := a.TasksOf(cmd.Context(), h, args[0])
				for _, t := range tasks {
					if fits(t) && !slices.ContainsFunc(args[1:], func(named string) bool { return app.IsCalled(named)(t) }) {
						add(t.ID, display.TaskStatus(t)+"  "+t.Command)
						add(t.Name, display.TaskStatus(t)+"  "+t.Command)
					}
				}
				return err
			}
			tasks, _, err := h.Tasks().All(cmd.Context())
			for _, t := range tasks {
				if fits(t) {
					add(t.Name, display.TaskStatus(t)+"  "+t.Command)
					add(t.SessionID, "session of "+display.Called(t)+"  "+t.Command)
				}
			}
			return err
		})
	}
}

// policies offers a task, and then what may become of it after a reboot.
func (a offers) policies(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	tasks, directive := a.tasks(anyTask, 1)(cmd, args, prefix)
	if len(args) == 1 || len(args) == 2 {
		policies, _ := fixed("never", session.RestartOnReboot)(cmd, args, prefix)
		tasks = append(tasks, policies...)
	}
	return tasks, directive
}

// steps offers sessions, then the numbers of the steps of the plan there, and then what a step can be set to.
func (a offers) steps(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	switch {
	case len(args) == 2 && cmd.Name() == "set":
		var words []string
		for _, s := range session.StepStatuses() {
			words = append(words, string(s))
		}
		return fixed(words...)(cmd, args, prefix)
	case len(args) != 1:
		return a.sessions(cmd, args, prefix)
	}
	return a.offer(cmd, prefix, func(h *homes.Home, add func(value, about string)) error {
		id, err := a.Resolve(cmd.Context(), h, args[0])
		if err != nil {
			return err
		}
		st, err := h.State(cmd.Context(), id)
		if err != nil {
			return err
		}
		for i, s := range st.Plan {
			add(strconv.Itoa(i+1), string(s.Status)+"  "+s.Content)
		}
		return nil
	})
}

// waits offers what waits for a human.
func (a offers) waits(kind string) completer {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return a.offer(cmd, prefix, func(h *homes.Home, add func(value, about string)) error {
			if kind == pending.Question && len(args) > 0 {
				return nil
			}
			waits, err := pending.All(cmd.Context(), a.App, h, kind)
			for _, w := range waits {
				about := w.Call.Tool + " " + session.About(w.Call.Input)
				if w.Call.Question != nil {
					about = w.Call.Question.Question
				}
				if !slices.Contains(args, w.ID) {
					add(w.ID, about)
				}
			}
			return err
		})
	}
}

// asking offers the sessions in which something waits for a human: for a flag, approvals alone.
func (a offers) asking(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return a.offer(cmd, prefix, func(h *homes.Home, add func(value, about string)) error {
		kinds := []string{pending.Approval, pending.Question}
		if cmd.Name() != "list" {
			kinds = kinds[:1]
		} else if len(args) > 0 {
			return nil
		}
		for _, kind := range kinds {
			waits, err := pending.All(cmd.Context(), a.App, h, kind)
			if err != nil {
				return err
			}
			for _, w := range waits {
				add(w.Session, kind)
			}
		}
		return nil
	})
}

// grants offers sessions, then the rules that were granted there.
func (a offers) grants(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return a.sessions(cmd, args, prefix)
	}
	return a.offer(cmd, prefix, func(h *homes.Home, add func(value, about string)) error {
		id, err := a.Resolve(cmd.Context(), h, args[0])
		if err != nil {
			return err
		}
		st, err := h.State(cmd.Context(), id)
		if err != nil {
			return err
		}
		for _, g := range st.Permissions.Grants {
			add(g.Rule, g.Scope)
		}
		return nil
	})
}
