package asking

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/pending"
	"github.com/perdure/perdure/internal/cli/run"
	"github.com/perdure/perdure/internal/homes"
)

// AnswerCommand is perdure answer.
func AnswerCommand(a *app.App) *cobra.Command {
	var literal string
	var resume bool
	c := &cobra.Command{
		Use: "answer ID NUMBER|TEXT", Short: "Answer a question that the model or a session asked",
		Long: `Answers a question that the model asked. Where the question has options, the number of one stands for its text;
--text takes what is given literally, and - stands for standard input.

A session that runs with --on-lost ask asks by itself what becomes of the files that an interrupted call may have changed. Only
a number is an answer to that, and what it says is done at once: it is nothing that the model decides.`,
		Example: `  perdure answer build 2
  perdure answer build "neither: keep both branches"
  perdure answer build --text 2`,
		Args: app.RangeArgs(1, -1, "a question, or a session in which one waits, and the answer"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := strings.Join(args[1:], " ")
			given := cmd.Flags().Changed("text")
			switch {
			case given && len(args) > 1:
				return app.UsageError("give the answer once, as an argument or by --text")
			case given:
				text = literal
			case text == "-":
				var err error
				if text, err = a.ReadStdin(); err != nil {
					return err
				}
				text = strings.TrimSpace(text)
			case len(args) == 1:
				return app.UsageError("want a question and the answer: perdure answer %s NUMBER|TEXT", args[0])
			}
			if strings.TrimSpace(text) == "" {
				return app.UsageError("an answer cannot be empty")
			}
			var id string
			err := a.Verb(cmd, func(ctx context.Context, h *homes.Home) (err error) {
				id, err = answer(ctx, a, h, args[0], text, given)
				if err == nil && !resume {
					run.GoOn(ctx, a, h, id)
				}
				return err
			})
			if err != nil || !resume {
				return err
			}
			return run.ResumeHere(cmd.Context(), a, id)
		},
	}
	c.Flags().StringVar(&literal, "text", "", "the answer is this `TEXT`, also where it is a number")
	c.Flags().BoolVar(&resume, "resume", false, "go on with the session at once, as perdure -p --resume does")
	return c
}

// answer gives a human's answer to the question under ref, and tells the question's session.
func answer(ctx context.Context, a *app.App, h *homes.Home, ref, text string, literal bool) (id string, err error) {
	w, err := pending.Find(ctx, a, h, ref, pending.Question)
	if err != nil {
		return "", err
	}
	if !literal || w.Call.Lost() {
		if text, err = pending.Option(w.Call, text); err != nil {
			return "", err
		}
	}
	err = a.Within(ctx, h, w.Session, app.Patience, func(ctx context.Context) error { return h.Answer(ctx, w.Session, w.Call.ID, text) })
	if err != nil {
		return "", err
	}
	a.Note("%s answered: %s", w.ID, display.Shown(text, display.MaxCell))
	return w.Session, nil
}
