package api

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perdure/perdure/modelapi"
)

// A connection that died without a word, as while a laptop was closed, is noticed long before the stream counts as
// silent: the reply that was under way fails as one that broke off, which is asked for again.
func TestAConnectionThatDiedWithoutAWordIsNoticed(t *testing.T) {
	release := make(chan struct{})
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"one\":1}\n\n")
		w.(http.Flusher).Flush()
		<-release
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	defer close(release)
	between := &wire{to: srv.Listener.Addr().String()}
	tr := transport(alive{every: 100 * time.Millisecond, within: 100 * time.Millisecond})
	tr.TLSClientConfig = srv.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	tr.DialContext = between.dial
	c := Client{HTTP: &http.Client{Transport: tr}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	st, err := c.Stream(ctx, "https://example.com/v1", nil, []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if _, err := st.Next(); err != nil {
		t.Fatal(err)
	}
	between.dead.Store(true)
	_, err = st.Next()
	if e := failure(t, err); e.Class != modelapi.ClassDisconnect {
		t.Errorf("%+v", e)
	}
}

// wire is a way to a server that can die without telling either end.
type wire struct {
	to   string
	dead atomic.Bool
}

func (w *wire) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", w.to)
	return &cut{c, w, make(chan struct{})}, err
}

type cut struct {
	net.Conn
	wire   *wire
	closed chan struct{}
}

func (c *cut) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.wire.dead.Load() {
		<-c.closed
		return 0, net.ErrClosed
	}
	return n, err
}

func (c *cut) Write(p []byte) (int, error) {
	if c.wire.dead.Load() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

func (c *cut) Close() error {
	close(c.closed)
	return c.Conn.Close()
}
