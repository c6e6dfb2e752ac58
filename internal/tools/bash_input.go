package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
)

//go:embed bash_input.md
var bashInputDescription string

// bashInput types into a background command. It is not run again after a crash: nobody knows how much the command got.
type bashInput struct{}

func (bashInput) Spec() Spec {
	return Spec{
		Name: "BashInput", Description: strings.TrimSpace(bashInputDescription), Effect: session.EffectExternal,
		Schema: `{"type":"object","properties":{` +
			`"bash_id":{"type":"string","description":"The id of the background command, such as bash_1"},` +
			`"text":{"type":"string","description":"What to type; a newline is added"},` +
			`"newline":{"type":"boolean","description":"false types the text as it is, for single keys"},` +
			`"eof":{"type":"boolean","description":"End the input after the text"}},` +
			`"required":["bash_id"]}`,
	}
}

// typed is what the call types.
func typed(in *input) string {
	text := in.text("text")
	if _, given := in.raw("text"); given && in.flag("newline", true) {
		text += "\n"
	}
	return text
}

// Run types, and says what became of it. A command that has ended is no error: that it has is the result.
func (bashInput) Run(ctx context.Context, c Call, env Env) (Result, error) {
	in := parse(c)
	id, text, eof := in.nonEmpty("bash_id"), typed(in), in.flag("eof", false)
	switch {
	case text == "" && !eof:
		in.problem(`"text" is missing; give a text, or "eof": true`)
	case len(text) > session.MaxInput:
		in.problem("\"text\" has %d bytes, at most %d can be typed at once", len(text), session.MaxInput)
	}
	if r := in.refusal(); r != nil {
		return *r, nil
	}
	task := knownTask(env, id)
	switch {
	case task == nil:
		return unknownTask(env, id), nil
	case task.Session != "":
		return failure("%s belongs to the session that this one was forked from; only that one can type into it", id), nil
	}
	n, outcome, st, err := env.Tasks.Write(ctx, id, []byte(text), eof)
	switch {
	case errors.Is(err, ErrNoTask):
		return failure("%s: its record is gone", id), nil
	case err != nil && !task.Live(): // its directory is gone too
		return success("nothing was typed\n%s", taskStatus(id, task.CommandState())), nil
	case err != nil:
		return Result{}, fmt.Errorf("type into %s: %w", id, err)
	}
	return inputResult(id, n, len(text), eof, outcome, st), nil
}

// inputResult words what became of the input.
func inputResult(id string, n, size int, eof bool, outcome session.InputOutcome, st command.State) Result {
	switch outcome {
	case session.InputTaken:
		end := ""
		if eof {
			end = "; its input is at its end"
		}
		return success("%s typed into %s%s; read what it answers with BashOutput", bytesText(n), id, end)
	case session.InputEnded:
		return success("nothing was typed\n%s", taskStatus(id, st))
	case session.InputClosed:
		return failure("%s has no open input: it was started without \"stdin\" or \"tty\", or its input was ended before", id)
	case session.InputFull:
		return failure("%s does not read its input: %d of %d bytes were taken", id, n, size)
	case session.InputUnknown:
	}
	return failure("it is not known what %s got", id)
}

func bytesText(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return strconv.Itoa(n) + " bytes"
}
