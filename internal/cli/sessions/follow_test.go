package sessions_test

import (
	"bufio"
	"context"
	"os"
	"syscall"
	"testing"

	"github.com/perdure/perdure/internal/cli"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: who follows ends when nobody reads any more, as `… | head` does not, though there is nothing to write.
func TestFollowEndsWithItsReader(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("s")
	w.RunTask("--name", "quiet", "--", "sh", "-c", "echo up; exec sleep 300")
	for _, args := range [][]string{{"log", "s", "--follow"}, {"log", "s", "-f", "--json"}, {"task", "output", "quiet", "--follow"}} {
		r, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		app := *w.App
		app.Stdout, app.Stderr = out, &clitest.LockedBuffer{}
		code := make(chan int, 1)
		ctx, end := context.WithCancel(t.Context())
		go func() { code <- cli.Main(ctx, &app, args) }()
		if _, err := bufio.NewReader(r).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-code:
			t.Errorf("%v: it ends while it is read, exit %d", args, got)
		default:
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		ended := -1
		clitest.Until(t, "it ends", func() bool {
			select {
			case ended = <-code:
			default:
			}
			return ended >= 0
		})
		if ended != 128+int(syscall.SIGPIPE) {
			t.Errorf("%v: exit %d", args, ended)
		}
		end()
		_ = out.Close()
	}
}
