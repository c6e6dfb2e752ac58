// Package api sends one request to a model API over HTTP and reads its reply, once.
//
// Every failure comes out as a *modelapi.Error with its class, or as the context's own error when the caller's context
// ended. Nothing is retried here and no redirect is followed: a redirect would carry the key to another host.
//
// A stream that sends nothing for the client's idle time fails as a timeout; the wait for the first byte counts. A
// connection that is dead, as after the machine slept, is noticed after some 35 s of silence, and fails as one that
// broke off. A reply is bounded by [MaxReply] bytes, the body of an error by 1 MiB, whatever the server sends.
package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/perdure/perdure/internal/provider/raw"
	"github.com/perdure/perdure/internal/provider/sse"
	"github.com/perdure/perdure/modelapi"
)

// MaxReply bounds a whole reply, in bytes. While it comes it costs about four times as much memory.
const MaxReply = 64 << 20

// quietTimes is for how many idle times a stream may go on with nothing but signs of life: they would keep a turn open
// for ever.
const quietTimes = 6

var errQuiet = errors.New("nothing but signs of life")

// DefaultIdle is how long a stream may be silent.
const DefaultIdle = 5 * time.Minute

const (
	maxErrorBody = 1 << 20
	drainTime    = 50 * time.Millisecond
	drainBytes   = 64 << 10
	maxBlank     = 64 // blanks before the first byte that tells what a body is
)

var errIdle = errors.New("the stream was silent for too long")

// errLimit says that a reply is longer than MaxReply.
var errLimit = errors.New("reply is too long")

// Client talks to one API. The zero value works.
type Client struct {
	HTTP      *http.Client     // nil: a client without proxies' surprises but the environment's proxy settings
	Idle      time.Duration    // 0: DefaultIdle
	UserAgent string           // empty: "perdure"
	Now       func() time.Time // for retry-after dates; nil: the system's clock
}

// Stream is a reply that is being read. Close it.
type Stream struct {
	RequestID string

	kind   string // the content's type
	whole  []byte // a reply in one JSON object: the server does not stream
	src    *bufio.Reader
	events *sse.Reader
	body   *idleReader
	quiet  *time.Timer // ends a stream that has nothing to say
	parent context.Context
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// Stream posts body, JSON, and returns the reply's events, or, of a server that does not stream, the whole of it: see
// [Stream.Whole].
func (c Client) Stream(ctx context.Context, url string, header http.Header, body []byte) (*Stream, error) {
	st, err := c.post(ctx, url, header, body)
	if err != nil {
		return nil, err
	}
	st.src = bufio.NewReader(st.body)
	st.events = sse.NewReader(st.src)
	if st.kind == "application/json" || st.kind == "text/html" {
		if err := st.readWhole(); err != nil {
			st.Close()
			return nil, err
		}
	}
	return st, nil
}

// readWhole takes the body for one JSON object.
func (s *Stream) readWhole() error {
	b, err := io.ReadAll(s.src)
	if err != nil {
		return s.Fail(err)
	}
	if b = bytes.TrimSpace(b); s.kind == "text/html" || !json.Valid(b) || !raw.IsObject(b) || !raw.IsNull(raw.Get(b, "error")) {
		return notAStream(s.kind, b, s.RequestID)
	}
	s.whole = b
	return nil
}

// opensObject reports a body that begins with a JSON object, which no stream of events does. It waits for the first byte.
func opensObject(src *bufio.Reader) bool {
	for i := 1; i <= maxBlank; i++ {
		b, err := src.Peek(i)
		if err != nil || len(b) < i {
			return false
		}
		if c := b[i-1]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c == '{'
		}
	}
	return false
}

// Whole is the reply of a server that does not stream though it is asked to: one JSON object. It is nil where events
// come. Ask before the first event; it waits for the first byte. Its errors are those of Next.
func (s *Stream) Whole() ([]byte, error) {
	if s.whole == nil && opensObject(s.src) {
		if err := s.readWhole(); err != nil {
			return nil, err
		}
	}
	return s.whole, nil
}

// NotStreamed is the error about a whole reply that is not understood.
func (s *Stream) NotStreamed() error { return notAStream("application/json", s.whole, s.RequestID) }

// Fetch makes a request without streaming and returns the reply, of at most limit bytes. A nil body is a GET.
func (c Client) Fetch(ctx context.Context, url string, header http.Header, body []byte, limit int64) ([]byte, error) {
	st, err := c.post(ctx, url, header, body)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	b, err := io.ReadAll(io.LimitReader(st.body, limit+1))
	if err != nil {
		return nil, st.Fail(err)
	}
	if int64(len(b)) > limit {
		return nil, st.Fail(errLimit)
	}
	return b, nil
}

// post sends the request and reads the answer's headers.
func (c Client) post(ctx context.Context, url string, header http.Header, body []byte) (*Stream, error) {
	sctx, cancel := context.WithCancelCause(ctx)
	var connected atomic.Bool
	req, err := c.request(httptrace.WithClientTrace(sctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	}), url, header, body)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	st := &Stream{parent: ctx, ctx: sctx, cancel: cancel, body: &idleReader{idle: c.idle(), left: MaxReply}}
	st.quiet = time.AfterFunc(quietTimes*st.body.idle, func() { cancel(errQuiet) })
	st.body.timer = time.AfterFunc(st.body.idle, func() { cancel(errIdle) })
	resp, err := c.client().Do(req) //nolint:bodyclose // Stream.Close closes it.
	if err != nil {
		st.Close()
		if e := st.ended(); e != nil {
			return nil, e
		}
		class := modelapi.ClassDisconnect
		if !connected.Load() {
			class = modelapi.ClassUnreached
		}
		return nil, &modelapi.Error{Class: class, Message: words(err)}
	}
	st.body.src = resp.Body
	st.RequestID = requestID(resp.Header)
	st.kind, _, _ = mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode/100 == 2 {
		return st, nil
	}
	defer st.Close()
	b, _ := io.ReadAll(io.LimitReader(st.body, maxErrorBody))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return nil, c.refused(resp, b)
}

// unsendable reports whether no request can carry a header's value.
func unsendable(value string) bool {
	return strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

func (c Client) request(ctx context.Context, url string, header http.Header, body []byte) (*http.Request, error) {
	method, payload := http.MethodGet, io.Reader(nil)
	if body != nil {
		method, payload = http.MethodPost, bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, payload)
	if err != nil {
		return nil, &modelapi.Error{Class: modelapi.ClassInvalid, Message: words(err)}
	}
	for name, values := range header {
		if slices.ContainsFunc(values, unsendable) {
			return nil, &modelapi.Error{Class: modelapi.ClassInvalid, Message: "the value of the header " + name + " holds a control character"}
		}
	}
	if header != nil {
		req.Header = header.Clone()
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	agent := c.UserAgent
	if agent == "" {
		agent = "perdure"
	}
	req.Header.Set("User-Agent", agent)
	return req, nil
}

// Next returns the next event. io.EOF is the end of the stream; other errors are finished: *modelapi.Error, or the
// context's.
func (s *Stream) Next() (sse.Event, error) {
	e, err := s.events.Next()
	if err == nil && e.Name != "ping" {
		s.quiet.Reset(quietTimes * s.body.idle)
	}
	if err == nil || errors.Is(err, io.EOF) {
		return e, err
	}
	return sse.Event{}, s.Fail(err)
}

// Fail makes what went wrong while reading a finished error.
func (s *Stream) Fail(err error) error {
	if e := s.ended(); e != nil {
		return e
	}
	class := modelapi.ClassDisconnect
	if errors.Is(err, sse.ErrTooLong) || errors.Is(err, errLimit) {
		class = modelapi.ClassProtocol
	}
	return &modelapi.Error{Class: class, Message: err.Error(), RequestID: s.RequestID}
}

// ended returns what ended the request from this side: the caller's context, or silence.
func (s *Stream) ended() error {
	if err := s.parent.Err(); err != nil {
		return err
	}
	if errors.Is(context.Cause(s.ctx), errQuiet) {
		return &modelapi.Error{
			Class: modelapi.ClassTimeout, Message: fmt.Sprintf("nothing but signs of life came for %s", quietTimes*s.body.idle), RequestID: s.RequestID,
		}
	}
	if errors.Is(context.Cause(s.ctx), errIdle) {
		return &modelapi.Error{
			Class: modelapi.ClassTimeout, Message: fmt.Sprintf("nothing came for %s", s.body.idle), RequestID: s.RequestID,
		}
	}
	return nil
}

// Finish closes a stream whose reply is complete. It waits a moment for the stream's end, so that the connection can
// be used again.
func (s *Stream) Finish() {
	s.quiet.Stop()
	s.body.timer.Reset(drainTime)
	s.body.idle = drainTime
	_, _ = io.Copy(io.Discard, io.LimitReader(s.body, drainBytes))
	s.Close()
}

// Close ends the request. It may be called twice.
func (s *Stream) Close() {
	s.body.timer.Stop()
	s.quiet.Stop()
	s.cancel(nil)
	if s.body.src != nil {
		_ = s.body.src.Close()
	}
}

// idleReader restarts a timer at each byte that comes, and ends at a bound.
type idleReader struct {
	src   io.ReadCloser
	timer *time.Timer
	idle  time.Duration
	left  int64
}

func (r *idleReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errLimit
	}
	if int64(len(p)) > r.left {
		p = p[:r.left]
	}
	n, err := r.src.Read(p)
	r.left -= int64(n)
	if n > 0 {
		r.timer.Reset(r.idle)
	}
	return n, err
}

func (c Client) idle() time.Duration {
	if c.Idle <= 0 {
		return DefaultIdle
	}
	return c.Idle
}

// client never follows a redirect.
func (c Client) client() *http.Client {
	if c.HTTP == nil {
		return standard()
	}
	own := *c.HTTP
	own.CheckRedirect = stay
	return &own
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
