package app

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/process"
)

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 64

// Ask puts a question on stderr and returns the line that a person answers, without spaces around it. What was typed
// before the question was shown is no answer to it. It ends with ctx: the read that waits for the line is left behind,
// for a process that is about to end.
func (a *App) Ask(ctx context.Context, question string) (string, error) {
	a.DropTyped()
	a.apart(func() { _, _ = fmt.Fprint(a.Stderr, display.Safe(question)) })
	type line struct {
		text string
		err  error
	}
	answered := make(chan line, 1)
	go func() {
		text, err := bufio.NewReader(io.LimitReader(a.Stdin, maxAnswer)).ReadString('\n')
		answered <- line{text, err}
	}()
	select {
	case l := <-answered:
		if l.err != nil && !errors.Is(l.err, io.EOF) {
			return "", l.err
		}
		return strings.TrimSpace(l.text), nil
	case <-ctx.Done():
		_, _ = fmt.Fprintln(a.Stderr)
		return "", ctx.Err()
	}
}

// AskHidden is Ask for what must not be seen: it is read from the terminal that stdin is, without an echo. ok is false
// where there is none.
func (a *App) AskHidden(question string) (answer string, ok bool, err error) {
	f, isFile := a.Stdin.(*os.File)
	if !isFile || !a.Asks {
		return "", false, nil
	}
	a.DropTyped()
	defer process.Unseen(f)() // before the question is there: people type ahead, and programs paste
	a.apart(func() { _, _ = fmt.Fprint(a.Stderr, display.Safe(question)) })
	b, err := term.ReadPassword(int(f.Fd()))
	_, _ = fmt.Fprintln(a.Stderr)
	return string(b), true, err
}

// Confirm asks a question that is answered with yes or no; any other answer is the usual one. A signal ends the asking, and
// the error has the exit code that names it: no answer is not an answer.
func (a *App) Confirm(ctx context.Context, question string, usual bool) (bool, error) {
	ctx, ended := a.UntilSignal(ctx, func() {})
	answer, err := a.Ask(ctx, question)
	if sig, ok := ended().(syscall.Signal); ok {
		return false, Exit(ExitSignalled + int(sig))
	}
	switch strings.ToLower(answer) {
	case "y", "yes":
		return true, err
	case "n", "no":
		return false, err
	}
	return usual, err
}

// DropTyped forgets what was typed on the terminal that stdin is and not read yet; what comes through a pipe stays.
func (a *App) DropTyped() {
	if f, ok := a.Stdin.(*os.File); ok {
		process.DropTyped(f)
	}
}

// maxPrompt bounds what is read from stdin, in bytes.
const maxPrompt = 8 << 20

// ReadStdin reads a text of at most maxPrompt bytes.
func (a *App) ReadStdin() (string, error) {
	b, err := io.ReadAll(io.LimitReader(a.Stdin, maxPrompt+1))
	switch zero := bytes.IndexByte(b, 0); {
	case err != nil:
		return "", &ExitError{Code: ExitFailed, Text: "read stdin: " + CauseOf(err).Error()}
	case zero >= 0:
		return "", &ExitError{
			Code: ExitUsage, Text: "stdin is not text: there is a zero byte at " + display.Bytes(int64(zero)),
			Hint: "name the file in the prompt instead, so that the model can look at it with its tools",
		}
	case len(b) > maxPrompt:
		return "", &ExitError{
			Code: ExitUsage, Text: "stdin holds more than " + display.Bytes(maxPrompt) + ", the most that a prompt takes",
			Hint: "name a file in the prompt instead, so that the model can read what it needs of it",
		}
	}
	if !utf8.Valid(b) {
		a.Note("stdin is not all UTF-8: what is not is sent as \uFFFD")
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	return string(b), nil
}
