package plans

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/workflow"
)

func editCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "edit ID", Short: "Change the plan in $VISUAL or $EDITOR, as a checklist", Args: app.ExactArgs(1, "a session"),
		Long: `The plan is opened as a Markdown checklist. What you change is brought into the plan as it is when you have saved: steps
that the agent finished or added meanwhile stay so. A file that is left empty changes nothing.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				return edit(ctx, a, h, id)
			})
		},
	}
}

func edit(ctx context.Context, a *app.App, h *homes.Home, id string) error {
	editor := cmp.Or(a.Getenv("VISUAL"), a.Getenv("EDITOR"))
	if editor == "" {
		return &app.ExitError{Code: app.ExitUsage, Text: "no editor is known", Hint: "set EDITOR, or use perdure plan " + id + " set, add and remove"}
	}
	st, err := h.State(ctx, id)
	if err != nil {
		return err
	}
	text := workflow.Checklist("Plan of session "+id, known(st.Plan))
	base, err := workflow.ParseMarkdown([]byte(text))
	if err != nil {
		return &app.ExitError{Code: app.ExitFailed, Text: "the plan is too long for an editor: " + err.Error(), Hint: "use perdure plan " + id + " set, add and remove"}
	}
	file, edited, err := inEditor(ctx, a, editor, text)
	if err != nil {
		return err
	}
	err = take(ctx, a, h, id, base, edited)
	if err != nil {
		return fmt.Errorf("%w; what you wrote is in %s", err, file)
	}
	return os.Remove(file)
}

// take brings an edited checklist to the session.
func take(ctx context.Context, a *app.App, h *homes.Home, id string, base *workflow.Document, edited string) error {
	d, err := workflow.ParseMarkdown([]byte(edited))
	if err != nil {
		return err
	}
	if len(d.Plan) == 0 && len(base.Plan) > 0 {
		if strings.TrimSpace(edited) != "" {
			return app.UsageError("no step is left: perdure plan %s remove N takes steps out", id)
		}
		a.Note("the file is empty: the plan stays as it is")
		return nil
	}
	for _, p := range d.Problems {
		a.Note("%s", p)
	}
	return change(ctx, a, h, id, func(b *session.PlanEdited) error {
		b.Steps = workflow.Merge(base.Steps(), d.Steps(), b.Steps)
		return fits(b)
	})
}

// inEditor lets a person change a text. The file stays; the caller removes it when the text has arrived.
func inEditor(ctx context.Context, a *app.App, editor, text string) (name, edited string, err error) {
	f, err := os.CreateTemp("", "perdure-plan-*.md")
	if err != nil {
		return "", "", err
	}
	name = f.Name()
	if _, err = f.WriteString(text); err == nil {
		err = f.Close()
	}
	if err != nil {
		return name, "", err
	}
	c := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "sh", name)
	c.Env, c.Dir = a.Environ, a.Dir
	c.Stdin, c.Stdout, c.Stderr = a.Stdin, a.Stderr, a.Stderr
	if err := c.Run(); err != nil {
		_ = os.Remove(name)
		return name, "", &app.ExitError{Code: app.ExitFailed, Text: fmt.Sprintf("the editor ended with %v: the plan stays as it is", err)}
	}
	b, err := os.ReadFile(name)
	return name, string(b), err
}
