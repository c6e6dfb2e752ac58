package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perdure/perdure/modelapi"
)

func failure(t *testing.T, err error) *modelapi.Error {
	t.Helper()
	e, ok := errors.AsType[*modelapi.Error](err)
	if !ok {
		t.Fatalf("error is %v", err)
	}
	return e
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answering(status int, header http.Header, body string) Client {
	return Client{HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	})}}
}

// A header that cannot be sent fails for good: the same request would fail again. The message does not repeat it.
func TestUnsendableHeaders(t *testing.T) {
	for _, value := range []string{"se\ncret", "se\x00cret", "secret\x7f"} {
		_, err := answering(200, nil, "").Stream(t.Context(), "http://x", http.Header{"X-Api-Key": {value}}, []byte("{}"))
		e := failure(t, err)
		if e.Class != modelapi.ClassInvalid || e.Retryable() || !strings.Contains(e.Message, "X-Api-Key") || strings.Contains(e.Message, "cret") {
			t.Errorf("%q: %v", value, err)
		}
	}
}

// What servers say becomes a class by which the engine decides.
func TestClasses(t *testing.T) {
	anthropic := func(kind, message string) string {
		return `{"type":"error","error":{"type":"` + kind + `","message":"` + message + `"},"request_id":"req_b"}`
	}
	for _, c := range []struct {
		status  int
		body    string
		class   modelapi.Class
		message string
	}{
		{400, anthropic("invalid_request_error", "tools.0: bad"), modelapi.ClassInvalid, "tools.0: bad"},
		{400, anthropic("invalid_request_error", "prompt is too long: 212345 tokens > 200000 maximum"), modelapi.ClassContext, ""},
		{400, anthropic("invalid_request_error", "input length and `max_tokens` exceed context limit: 1 + 2 > 3"), modelapi.ClassContext, ""},
		{400, `{"error":{"message":"no","code":"context_length_exceeded"}}`, modelapi.ClassContext, "no"},
		{400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`, modelapi.ClassContext, ""},
		{400, `{"object":"error","message":"This model's maximum context length is 4096 tokens","type":"BadRequestError","code":400}`, modelapi.ClassContext, ""},
		{401, anthropic("authentication_error", "invalid x-api-key"), modelapi.ClassAuth, "invalid x-api-key"},
		{402, anthropic("billing_error", "pay"), modelapi.ClassAuth, "pay"},
		{403, "", modelapi.ClassAuth, "Forbidden"},
		{404, `{"error":"model \"x\" not found, try pulling it first"}`, modelapi.ClassNotFound, `model "x" not found, try pulling it first`},
		{404, "404 page not found\n", modelapi.ClassNotFound, "404 page not found"},
		{408, "", modelapi.ClassTimeout, "Request Timeout"},
		{409, "", modelapi.ClassServer, "Conflict"},
		{413, anthropic("request_too_large", "big"), modelapi.ClassContext, "big"},
		{422, `{"detail":"wrong"}`, modelapi.ClassInvalid, "wrong"},
		{429, anthropic("rate_limit_error", "slow"), modelapi.ClassRateLimit, "slow"},
		{429, `{"error":{"message":"quota","type":"insufficient_quota","code":"insufficient_quota"}}`, modelapi.ClassAuth, "quota"},
		{500, "\xff<html>", modelapi.ClassServer, "\ufffd<html>"},
		{529, anthropic("overloaded_error", "busy"), modelapi.ClassServer, "busy"},
	} {
		_, err := answering(c.status, http.Header{"Request-Id": {"req_h"}}, c.body).Stream(context.Background(), "http://x/", nil, []byte("{}"))
		e := failure(t, err)
		if e.Class != c.class || e.Status != c.status || (c.message != "" && e.Message != c.message) || e.RequestID != "req_h" || e.Started {
			t.Errorf("%d %s: got %+v", c.status, c.body, e)
		}
	}
	for body, class := range map[string]modelapi.Class{
		anthropic("overloaded_error", ""): modelapi.ClassServer, anthropic("api_error", ""): modelapi.ClassServer,
		anthropic("rate_limit_error", ""): modelapi.ClassRateLimit, anthropic("timeout_error", ""): modelapi.ClassTimeout,
		anthropic("invalid_request_error", "x"):       modelapi.ClassInvalid,
		anthropic("permission_error", ""):             modelapi.ClassAuth,
		anthropic("not_found_error", ""):              modelapi.ClassNotFound,
		`{"error":{"code":502,"message":"upstream"}}`: modelapi.ClassServer, `{"error":{"code":429}}`: modelapi.ClassRateLimit,
		`{"error":"gone"}`: modelapi.ClassServer,
	} {
		if e := InStream([]byte(body), "r"); e.Class != class || e.RequestID == "" {
			t.Errorf("%s: got %+v", body, e)
		}
	}
}

// retry-after is believed as seconds, as a date and in milliseconds, within a day.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		key, value string
		want       time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second},
		{"Retry-After", "0.5", 500 * time.Millisecond},
		{"Retry-After", "Sat, 21 Nov 2026 12:01:00 GMT", time.Minute},
		{"Retry-After", "Sat, 21 Nov 2026 11:01:00 GMT", 0},
		{"Retry-After", "soon", 0},
		{"Retry-After", "-3", 0},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "1e99", 24 * time.Hour},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
	} {
		cl := answering(429, http.Header{c.key: {c.value}}, "")
		cl.Now = func() time.Time { return now }
		_, err := cl.Stream(context.Background(), "http://x/", nil, []byte("{}"))
		if e := failure(t, err); e.RetryAfter != c.want {
			t.Errorf("%s: %s: got %s", c.key, c.value, e.RetryAfter)
		}
	}
}

// A stream that says nothing for the idle time is a timeout, before its headers and after; what comes restarts it.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		first := true
		c := Client{Idle: time.Minute, HTTP: &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
			if !first {
				<-req.Context().Done()
				return nil, req.Context().Err()
			}
			first = false
			context.AfterFunc(req.Context(), func() { _ = r.CloseWithError(req.Context().Err()) })
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: r, Request: req}, nil
		})}}
		st, err := c.Stream(t.Context(), "http://x/", nil, []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for range 3 {
				<-time.After(50 * time.Second) // by the bubble's clock
				_, _ = io.WriteString(w, "data: 1\n\n")
			}
		}()
		begin := time.Now()
		for range 3 {
			if _, err := st.Next(); err != nil {
				t.Fatal(err)
			}
		}
		_, err = st.Next()
		if e := failure(t, err); e.Class != modelapi.ClassTimeout || time.Since(begin) != 210*time.Second {
			t.Errorf("after %s: %v", time.Since(begin), e)
		}
		st.Close()
		begin = time.Now()
		_, err = c.Stream(t.Context(), "http://x/", nil, []byte("{}"))
		if e := failure(t, err); e.Class != modelapi.ClassTimeout || time.Since(begin) != time.Minute {
			t.Errorf("headers after %s: %v", time.Since(begin), e)
		}
	})
}

// The caller's own end is the context's error, not a failure of the API.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "data: 1\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer srv.Close()
	st, err := Client{}.Stream(ctx, srv.URL, nil, []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if _, err := st.Next(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := st.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := (Client{}).Stream(ctx, srv.URL, nil, []byte("{}")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// No connection, a broken one, a wrong kind of answer and a redirect are told apart; a key never follows a redirect.
func TestConnections(t *testing.T) {
	leaked := ""
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { leaked += r.Header.Get("X-Api-Key") }))
	defer other.Close()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/cut":
			panic(http.ErrAbortHandler)
		case "/html":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<html>log in")
		case "/json":
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"error":{"message":"busy","type":"rate_limit_error"}}`)
		case "/away":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}
	}))
	defer srv.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	for _, c := range []struct {
		url   string
		class modelapi.Class
		words string
	}{
		{closed.URL, modelapi.ClassUnreached, "refused"},
		{"http://no host/", modelapi.ClassInvalid, ""},
		{srv.URL + "/cut", modelapi.ClassDisconnect, ""},
		{srv.URL + "/html", modelapi.ClassProtocol, "log in"},
		{srv.URL + "/json", modelapi.ClassRateLimit, "busy"},
		{srv.URL + "/away", modelapi.ClassInvalid, other.URL},
	} {
		for _, client := range []*http.Client{nil, {}} {
			_, err := Client{HTTP: client}.Stream(context.Background(), c.url, http.Header{"X-Api-Key": {"secret"}}, []byte("{}"))
			e := failure(t, err)
			if e.Class != c.class || !strings.Contains(e.Message, c.words) || strings.Contains(e.Error(), "secret") {
				t.Errorf("%s: got %v", c.url, e)
			}
		}
	}
	if leaked != "" {
		t.Error("the key followed a redirect")
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	n := copy(p, strings.Repeat("data: x\n\n", len(p)/9+1))
	return n, nil
}
func (endless) Close() error { return nil }

// A reply without an end is cut at its bound.
func TestReplyIsBounded(t *testing.T) {
	c := Client{HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: endless{}, Request: r}, nil
	})}}
	st, err := c.Stream(context.Background(), "http://x/", nil, []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	st.body.left = 1 << 16
	for range 1 << 16 {
		if _, err = st.Next(); err != nil {
			break
		}
	}
	if e := failure(t, err); e.Class != modelapi.ClassProtocol {
		t.Errorf("got %v", e)
	}
	if _, err := c.Fetch(context.Background(), "http://x/", nil, nil, 100); failure(t, err).Class != modelapi.ClassProtocol {
		t.Errorf("got %v", err)
	}
}

// A connection whose reply was read to its end serves the next request.
func TestConnectionsAreReused(t *testing.T) {
	addrs := map[string]bool{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		addrs[r.RemoteAddr] = true
		_, _ = io.WriteString(w, "data: 1\n\ndata: rest\n\n")
	}))
	defer srv.Close()
	c := Client{HTTP: srv.Client()}
	for range 5 {
		st, err := c.Stream(context.Background(), srv.URL, nil, []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := st.Next(); err != nil {
			t.Fatal(err)
		}
		st.Finish()
		st.Close()
	}
	if len(addrs) != 1 {
		t.Errorf("%d connections", len(addrs))
	}
}

// An address in an error shows its place alone: some servers take their key in the query.
func TestAddressesInErrorsHoldNoKey(t *testing.T) {
	const key = "sk-canary-123456"
	down := Client{HTTP: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, errors.New("connection refused")
	})}}
	moved := answering(307, http.Header{"Location": {"https://u:" + key + "@other/v1?key=" + key}}, "")
	for name, c := range map[string]struct {
		client  Client
		address string
		want    string
	}{
		"refused":    {down, "http://u:" + key + "@h/v1?key=" + key, "http://h/v1?…"},
		"no address": {down, "http://u:" + key + "@h\x7f/v1?key=" + key, "h"},
		"redirected": {moved, "http://h/v1", "https://other/v1?…"},
	} {
		_, err := c.client.Stream(t.Context(), c.address, nil, []byte("{}"))
		if e := failure(t, err); strings.Contains(e.Message, key) || !strings.Contains(e.Message, c.want) {
			t.Errorf("%s: %s", name, e.Message)
		}
	}
}

// Signs of life, pings and comments, do not keep a reply open for ever; what says something does.
func TestPingsDoNotKeepAReplyOpen(t *testing.T) {
	for name, sign := range map[string]string{"pings": "event: ping\ndata: {}\n\n", "comments": ": still here\n\n"} {
		synctest.Test(t, func(t *testing.T) {
			r, w := io.Pipe()
			c := Client{Idle: time.Minute, HTTP: &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
				context.AfterFunc(req.Context(), func() { _ = r.CloseWithError(req.Context().Err()) })
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: r, Request: req}, nil
			})}}
			st, err := c.Stream(t.Context(), "http://x/", nil, []byte("{}"))
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			over := make(chan struct{})
			go func() {
				defer close(over)
				for i := 0; ; i++ {
					<-time.After(10 * time.Second) // by the bubble's clock
					text := sign
					if i == 20 {
						text = "data: something\n\n"
					}
					if _, err := io.WriteString(w, text); err != nil {
						return
					}
				}
			}()
			for err == nil {
				_, err = st.Next()
			}
			if e := failure(t, err); e.Class != modelapi.ClassTimeout || time.Since(begin).Round(time.Second) != 210*time.Second+6*time.Minute {
				t.Errorf("%s: after %s: %v", name, time.Since(begin), e)
			}
			st.Close()
			<-over
		})
	}
}
