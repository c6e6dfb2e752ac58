package app

import (
	"context"
	"fmt"

	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/provider/connect"
	"github.com/perdure/perdure/internal/settings"
)

// FirstRun is what a person is told who has set no model.
type FirstRun struct {
	Model string        // the local model that is used, for nothing else is set; empty: there is none, or one is configured
	Says  string        // what is the case; empty: a model is configured
	Ways  []connect.Way // what to do about it
}

// FirstRun looks whether a model is configured, and for one on this machine if none is: that takes at most 300 ms, and no
// time where the settings or the environment say what the model is.
func (a *App) FirstRun(ctx context.Context, set settings.Loaded) FirstRun {
	if _, variable := connect.Configured(a.Getenv); set.Model != "" || variable != "" {
		return FirstRun{}
	}
	model, there := connect.Connector{Getenv: a.Getenv}.Local(ctx)
	switch {
	case model != "":
		return FirstRun{Model: model, Says: foundLocal(model), Ways: []connect.Way{{What: "for good", How: "perdure config set model " + model}}}
	case there:
		return FirstRun{Says: "No model is configured, and the Ollama on this machine has none: run ollama pull MODEL.", Ways: connect.Guide()}
	}
	return FirstRun{Says: "No model is configured yet.", Ways: connect.Guide()}
}

func foundLocal(model string) string {
	return "No key is set: " + model + " is used, the model that Ollama on this machine got last."
}

// TellFirstRun prints it with the results.
func (a *App) TellFirstRun(f FirstRun) {
	if f.Says == "" {
		return
	}
	look := a.Styles()
	a.Linef("%s", look.Title.Styled(display.Line(f.Says, 300)))
	for _, w := range f.Ways {
		a.Beside("  "+look.Accent.Styled(fmt.Sprintf("%-15s", w.What))+"  ", 19, display.Line(w.How, 300))
	}
	a.Linef("")
}

// TellLocal says which model was found by itself, for a session that was made with no model named.
func (a *App) TellLocal(model string) {
	a.Note("no key is set: %s is used, the model that Ollama on this machine got last", model)
	a.Hint("for good: perdure config set model %s", display.Quote(model))
}
