package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// addressFile is where the dev server writes its address.
const addressFile = "server.addr"

// Serve is the demo's dev server: it serves a directory on a free loopback port, writes its address to the file
// server.addr there, and prints a line for each request, until ctx ends.
func Serve(ctx context.Context, dir string, out io.Writer) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	addr := l.Addr().String()
	if err := os.WriteFile(filepath.Join(dir, addressFile), []byte(addr), 0o600); err != nil {
		return errors.Join(err, l.Close())
	}
	files := http.FileServer(http.Dir(dir))
	n := 0
	srv := &http.Server{
		ReadHeaderTimeout: 5 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n++
			_, _ = fmt.Fprintf(out, "request %d: %s %q\n", n, r.Method, r.URL.Path)
			files.ServeHTTP(w, r)
		}),
	}
	_, _ = fmt.Fprintf(out, "serving on http://%s\n", addr)
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
