package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 64

// ask puts a question on stderr and returns the line that a person answers, without spaces around it. It ends with ctx:
// the read that waits for the line is left behind, for a process that is about to end.
func (a *App) ask(ctx context.Context, question string) (string, error) {
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
