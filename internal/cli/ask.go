package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 64

// ask puts a question on stderr and returns the line that a person answers, without spaces around it. What was typed
// before the question was shown is no answer to it. It ends with ctx: the read that waits for the line is left behind,
// for a process that is about to end.
func (a *App) ask(ctx context.Context, question string) (string, error) {
	a.dropTyped()
	_, _ = fmt.Fprint(a.Stderr, plain(question))
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

// dropTyped forgets what was typed on the terminal that stdin is and not read yet; what comes through a pipe stays.
func (a *App) dropTyped() {
	if f, ok := a.Stdin.(*os.File); ok {
		dropTyped(f)
	}
}
