package sessions

import (
	"fmt"
	"os"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// Known is what a session is known by: its name, else the first words of its first prompt; and these, if there is a name.
func Known(s view.Listing) (title, first string) {
	title, first = s.Heads.Title, s.Heads.Labels[app.LabelPrompt]
	switch {
	case title == "" && first != "":
		title, first = first, ""
	case title == "" && s.Parent != nil:
		title = "fork of " + app.ShortID(s.Parent.Session, app.ShortLength)
	case title == "" && OnlyTasks(s):
		title = "(tasks)"
	case title == "":
		title = "(no words yet)"
	}
	return title, first
}

// Stands is one word for where a session stands: its lifecycle once that is not open, else what it does.
func Stands(s view.Listing) string { return status(s) }

// HeldBy names the process that has a session; empty: none has.
func HeldBy(s view.Listing) string {
	if s.Holder == nil || s.Holder.Alive == store.Dead {
		return ""
	}
	if host, err := os.Hostname(); err == nil && host == s.Holder.Host {
		return fmt.Sprintf("pid %d", s.Holder.PID)
	}
	return fmt.Sprintf("pid %d on %s", s.Holder.PID, s.Holder.Host)
}

// Rests reports a session that takes no turns now because a person said so.
func Rests(s view.Listing) bool { return s.Heads.Lifecycle != string(session.LifecycleOpen) }
