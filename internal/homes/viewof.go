package homes

import (
	"unicode/utf8"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/view"
)

// The statuses of a task as views have them.
const (
	taskRunning = string(command.Running)
	taskExited  = string(command.Exited)
	taskLost    = string(command.Lost)
)

func agentView(a session.Agent) view.Agent {
	return view.Agent{
		Name: a.Name, Version: a.Version, Provider: a.Provider, Model: a.Model, System: a.System, MaxTokens: a.MaxTokens,
		Window: a.Window, Price: a.Price, APIVersion: a.APIVersion, Betas: a.Betas, Thinking: a.Thinking, Tools: JSONValue(a.Tools),
	}
}

// envView has the bytes of a value that is no text as {"bytes": base64}.
func envView(d command.EnvDelta) map[string]any {
	out := make(map[string]any, len(d))
	for k, v := range d {
		switch {
		case v == nil:
			out[k] = nil
		case utf8.ValidString(*v):
			out[k] = *v
		default:
			out[k] = map[string]any{"bytes": []byte(*v)}
		}
	}
	return out
}

func stepViews(plan []session.Step) []view.Step {
	out := make([]view.Step, len(plan))
	for i, s := range plan {
		out[i] = view.Step{
			Content: s.Content, ActiveForm: s.ActiveForm, Status: string(s.Status), Blocker: s.Blocker, Reason: s.Reason, Output: s.Output,
		}
	}
	return out
}

func ruleViews(rules []session.Rule) []view.Rule {
	out := make([]view.Rule, len(rules))
	for i, r := range rules {
		out[i] = view.Rule(r)
	}
	return out
}

func settingsView(s session.TaskSettings) view.TaskSettings {
	return view.TaskSettings{
		Stdin: s.Stdin, TTY: (*view.TerminalSize)(s.TTY), Limits: view.Limits(s.Limits), Lifetime: string(s.Lifetime),
	}
}

func attemptViews(list []session.TaskAttempt) (out []view.Attempt) {
	for _, a := range list {
		out = append(out, view.Attempt{
			Act: a.Act, Status: string(a.Status), ExitCode: a.ExitCode, Signal: a.Signal, By: a.By, Reason: a.Reason,
			Output: a.Output, Started: a.Started, Ended: a.Ended,
		})
	}
	return out
}
