package importing

import (
	"io"
	"time"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
)

// watched tells a person, once a second, how much was read.
type watched struct {
	io.Reader
	app  *app.App
	done string
	n    int64
	next time.Time
}

// watch gives a reader that does; where nobody looks on it is the reader itself.
func watch(a *app.App, done string, r io.Reader) io.Reader {
	if !a.Asks {
		return r
	}
	return &watched{Reader: r, app: a, done: done, next: time.Now().Add(time.Second)}
}

// Read reads, and tells.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.n += int64(n)
	if now := time.Now(); now.After(w.next) {
		w.next = now.Add(time.Second)
		w.app.Note("%s %s", w.done, display.Bytes(w.n))
	}
	return n, err
}
