package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/perdure/perdure/session"
)

// summary says in a few words what an event is about. Its text is not safe yet.
func summary(ev session.Event) string {
	body, err := session.Decode(ev)
	if err != nil {
		return err.Error()
	}
	if text := sessionSummary(body); text != "" {
		return text
	}
	return workSummary(body)
}

func sessionSummary(body session.Body) string {
	switch b := body.(type) {
	case *session.Opened:
		return fmt.Sprintf("%s/%s in %s", b.Agent.Provider, b.Agent.Model, b.Cwd)
	case *session.Forked:
		return fmt.Sprintf("from %s at event %d", b.Parent.Session, b.Parent.Seq)
	case *session.Resumed:
		return fmt.Sprintf("epoch %d, pid %d on %s", b.Epoch, b.PID, b.Host)
	case *session.Released:
		return b.Reason
	case *session.LifecycleSet:
		return string(b.To)
	case *session.Labelled:
		if b.Title != nil {
			return "name " + *b.Title
		}
		return fmt.Sprint(b.Labels)
	case *session.PermissionRules:
		return fmt.Sprintf("%d rules", len(b.Rules))
	case *session.PermissionGranted:
		return b.Scope + ": " + b.Rule
	case *session.PermissionRevoked:
		return b.Rule
	case *session.FileSeen:
		return string(b.File.Use) + " " + b.File.Path
	case *session.PlanSet:
		return fmt.Sprintf("%d steps", len(b.Steps))
	case *session.FactAdded:
		return b.Fact.Kind + ": " + b.Fact.Text
	case *session.StateSet:
		return b.Key
	case *session.InboxRefused:
		return fmt.Sprintf("%s: %s", b.Item, b.Reason)
	case *session.App:
		return fmt.Sprintf("%s, %d bytes", b.Namespace, len(b.Data))
	case *session.Unknown:
		return fmt.Sprintf("not known to this version, %d bytes", len(b.Raw))
	case *session.Configured:
		return configured(b)
	case *session.TaskRequested:
		return b.Task + ": " + b.Command
	case *session.TaskStarted:
		return fmt.Sprintf("%s: pid %d %s", b.Task.ID, b.Task.PID, b.Task.Command)
	case *session.TaskExited:
		return b.Task + ": " + string(b.State.Status)
	case *session.TaskInput:
		return fmt.Sprintf("%s: %d bytes%s", b.Task, len(b.Text), map[bool]string{true: ", and its end"}[b.EOF])
	case *session.TaskWritten:
		return fmt.Sprintf("%s: %s, %d bytes", b.Task, b.Outcome, b.Bytes)
	case *session.TaskSignalled:
		return b.Task + ": " + b.Signal + " by " + b.By
	case *session.TaskRestartSet:
		return b.Task + ": after a reboot " + cmp.Or(b.Restart, "never")
	case *session.TaskNotRestarted:
		return b.Task + ": " + b.Reason
	case *session.TaskRead:
		return fmt.Sprintf("%s up to byte %d", b.Task, b.Position)
	}
	return ""
}

func workSummary(body session.Body) string {
	switch b := body.(type) {
	case *session.MessageReceived:
		return session.Text(b.Content)
	case *session.TurnStarted:
		return fmt.Sprintf("turn %d", b.N)
	case *session.TurnEnded:
		return strings.TrimSpace(fmt.Sprintf("turn %d: %s %s", b.N, b.Stop, b.Message))
	case *session.ModelRequested:
		return fmt.Sprintf("%s  %s, about %d tokens", b.Act, b.Model, b.Estimate)
	case *session.ModelResponded:
		return b.Act + "  " + string(b.Stop) + "  " + replyText(b)
	case *session.ModelFailed:
		return b.Act + "  " + b.Class + ": " + b.Message
	case *session.ModelLost:
		return b.Act + "  " + b.Reason
	case *session.ToolDecided:
		return b.Act + "  " + decided(b.Decision)
	case *session.ToolStarted:
		return b.Act + "  " + b.Start.Command
	case *session.ToolDetached:
		return b.Act + "  " + b.Task
	case *session.ToolFinished:
		return b.Act + "  " + string(b.Outcome) + "  " + session.Text(b.Content)
	case *session.ToolVoid:
		return b.Act + "  " + b.Reason
	case *session.ToolUnknown:
		return b.Act + "  " + b.Reason
	case *session.ApprovalRequested:
		return b.Act + "  " + b.Reason
	case *session.ApprovalAnswered:
		return b.Act + "  " + verdict(b.Allow)
	case *session.QuestionAsked:
		return b.Act + "  " + b.Question.Question
	case *session.QuestionAnswered:
		return b.Act + "  " + b.Text
	case *session.AwaitSet:
		return strings.TrimSpace(fmt.Sprintf("%s: %s %s %s", b.Await.ID, b.Await.Event, b.Await.Task, b.Await.Pattern))
	case *session.AwaitMet:
		return string(b.Text)
	case *session.AwaitDropped:
		return b.ID + ": " + b.Reason
	case *session.TimerSet:
		return b.ID
	case *session.TimerFired:
		return b.ID
	}
	return ""
}

// replyText is the text of a reply and the names of the tools it calls.
func replyText(b *session.ModelResponded) string {
	var words []string
	for _, bl := range b.Blocks {
		switch bl.Type {
		case session.BlockText:
			words = append(words, string(bl.Shown))
		case session.BlockToolUse:
			words = append(words, "→ "+bl.Name)
		case session.BlockThinking, session.BlockToolResult, session.BlockImage, session.BlockDocument, session.BlockOther:
		}
	}
	return strings.Join(words, " ")
}

func decided(d session.Decision) string {
	by := d.Rule
	switch {
	case d.Human:
		by = "approval"
	case by == "":
		by = "mode"
	}
	return verdict(d.Allow) + " by " + by
}

func verdict(allow bool) string {
	if allow {
		return "allow"
	}
	return "deny"
}

// configured names what a session.configured changed.
func configured(b *session.Configured) string {
	var out []string
	if b.Mode != nil {
		out = append(out, "mode "+*b.Mode)
	}
	if b.Model != nil && b.Provider != nil {
		out = append(out, "model "+*b.Provider+"/"+*b.Model)
	}
	if b.MaxSteps != nil {
		out = append(out, fmt.Sprintf("max steps %d", *b.MaxSteps))
	}
	if b.BudgetNano != nil {
		out = append(out, fmt.Sprintf("budget $%.2f", float64(*b.BudgetNano)/1e9))
	}
	if b.RetryForMS != nil {
		out = append(out, "retries for "+span(time.Duration(*b.RetryForMS)*time.Millisecond))
	}
	if b.Root != nil {
		out = append(out, "belongs to "+*b.Root)
	}
	if b.Cwd != nil {
		out = append(out, "works in "+*b.Cwd)
	}
	for _, d := range b.AddDirs {
		out = append(out, "directory "+d)
	}
	return strings.Join(out, ", ")
}
