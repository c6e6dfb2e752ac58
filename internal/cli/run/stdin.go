package run

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/cli/app"
)

// firstByte is how long a run waits for stdin before it says so, or, where stdin only may hold a prompt, goes on
// without it: programs that start others often leave them a pipe in which nothing ever comes.
const firstByte = 3 * time.Second

// prompt puts the prompt of a run together, from its arguments and from stdin, and reports how many bytes of stdin are in
// it. Stdin is read
//
//   - for the argument "-", whatever it is;
//   - when it is no terminal: what comes follows the arguments after a blank line. In a new session a pipe is waited for,
//     but a socket only 3 s: no shell makes one, but programs that start others do, and sshd. A session that goes on waits
//     3 s for either.
//
// A file that something has read from already is left alone: it is that of a loop around the command.
func prompt(ctx context.Context, a *app.App, f *Flags, args []string) (text string, piped int, err error) {
	words := args
	asked := len(args) > 0 && args[len(args)-1] == "-"
	if asked {
		words = args[:len(args)-1]
	}
	text = strings.Join(words, " ")
	if !utf8.ValidString(text) {
		a.Note("the prompt is not all UTF-8: what is not is sent as \uFFFD")
	}
	old := f.cont || f.resume != ""
	switch {
	case len(words) > 0 && strings.TrimSpace(text) == "" && old:
		return "", 0, &app.ExitError{Code: app.ExitUsage, Text: "the prompt is blank", Hint: "leave it out to finish an open turn: perdure -p --resume ID"}
	case len(words) > 0 && strings.TrimSpace(text) == "":
		return "", 0, app.UsageError("the prompt is blank: perdure -p \"PROMPT\"")
	case f.resume == Pick:
		return text, 0, nil
	case text != "" && !asked && begun(a):
		a.Note("stdin was not read: something has read from that file already, as a loop does; - as the last argument takes the rest")
		return text, 0, nil
	case a.Terminal && !asked && (text != "" || old):
		return text, 0, nil
	case a.Terminal && !asked:
		return "", 0, app.UsageError("a prompt is needed: perdure -p \"PROMPT\"")
	}
	data, err := stdinText(ctx, a, !asked && (old || text != "" && stdinIsSocket(a)))
	if err != nil {
		return "", 0, err
	}
	if text = joined(text, data); strings.TrimSpace(data) != "" {
		piped = len(data)
	}
	if text == "" && !old {
		err = app.UsageError("a prompt is needed: perdure -p \"PROMPT\", or on stdin")
	}
	return text, piped, err
}

// joined is a prompt and the data that it is about. Data that is a prompt itself has no space around it.
func joined(prompt, data string) string {
	switch {
	case strings.TrimSpace(data) == "":
		return prompt
	case prompt == "":
		return strings.TrimSpace(data)
	}
	return prompt + "\n\n" + strings.TrimRight(data, "\r\n")
}

// stdinText reads stdin to its end, or gives up when optional and nothing came for a while. A signal ends the waiting.
func stdinText(parent context.Context, a *app.App, optional bool) (text string, err error) {
	ctx, ended := a.UntilSignal(parent, func() {})
	type read struct {
		text string
		err  error
	}
	done := make(chan read, 1)
	go func() { // it ends with the process if stdin never does
		if !comes(a, optional) {
			done <- read{}
			return
		}
		text, err := a.ReadStdin()
		done <- read{text, err}
	}()
	select {
	case r := <-done:
		ended()
		return r.text, r.err
	case <-ctx.Done():
		if sig, ok := ended().(syscall.Signal); ok {
			return "", app.Exit(app.ExitSignalled + int(sig))
		}
		return "", ctx.Err()
	}
}

// comes waits for the first byte of stdin, or its end, and reports whether it should be read.
func comes(a *app.App, optional bool) bool {
	if a.Terminal || ready(a.Stdin, firstByte) {
		return true
	}
	if optional {
		a.Note("stdin was not read: nothing came within %v; - as the last argument waits for it, and </dev/null spares this wait", firstByte)
		return false
	}
	a.Note("waiting for stdin, which is open and empty; </dev/null runs without it")
	return true
}

// stdinIsSocket reports whether stdin is a socket.
func stdinIsSocket(a *app.App) bool {
	in, ok := a.Stdin.(*os.File)
	if !ok {
		return false
	}
	info, err := in.Stat()
	return err == nil && info.Mode()&os.ModeSocket != 0
}

// begun reports whether stdin is a file from which something was read, and of which more is left.
func begun(a *app.App) bool {
	in, ok := a.Stdin.(*os.File)
	if !ok {
		return false
	}
	info, err := in.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	at, err := in.Seek(0, io.SeekCurrent)
	return err == nil && at > 0 && at < info.Size()
}

// ready waits until a read would not block. What is no file never blocks for long.
func ready(r io.Reader, limit time.Duration) bool {
	in, ok := r.(*os.File)
	if !ok {
		return true
	}
	const look = 100 * time.Millisecond
	fds := []unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}}
	for range limit / look {
		if n, err := unix.Poll(fds, int(look.Milliseconds())); n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
			return true // an error is met again by the read
		}
	}
	return false
}
