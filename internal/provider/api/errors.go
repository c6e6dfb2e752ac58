package api

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/provider/raw"
	"github.com/perdure/perdure/modelapi"
)

// maxMessage bounds what is kept of an API's words, in bytes.
const maxMessage = 2000

// standard is the client of those who bring none: it has no overall timeout, because a reply may stream for long.
// Replies are not compressed, so that events come as they are sent.
var standard = sync.OnceValue(func() *http.Client {
	return &http.Client{Transport: transport(alive{}), CheckRedirect: stay}
})

// alive is how a connection is asked whether it still is one: one that died while the machine slept says nothing by
// itself, and a reply, or the next request, would wait for it as long as a stream may be silent.
type alive struct {
	every  time.Duration // of silence, until it is asked; 0: 20 s
	within time.Duration // until it counts as dead; 0: 15 s
}

func transport(ask alive) *http.Transport {
	if ask == (alive{}) {
		ask = alive{every: 20 * time.Second, within: 15 * time.Second}
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: ask.every, PingTimeout: ask.within}
	const probes = 3
	t.DialContext = (&net.Dialer{
		Timeout:         30 * time.Second,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: ask.every, Interval: ask.within / probes, Count: probes},
	}).DialContext
	return t
}

// refused makes an error of a response that is not 2xx.
func (c Client) refused(resp *http.Response, body []byte) *modelapi.Error {
	p := readProblem(body)
	if p.message == "" {
		p.message = excerpt(body)
	}
	if p.message == "" {
		p.message = http.StatusText(resp.StatusCode)
	}
	if to := resp.Header.Get("Location"); resp.StatusCode/100 == 3 && to != "" {
		p.message = "redirected to " + Place(to) + ": set the base URL to the final address"
	}
	e := &modelapi.Error{
		Class: classOf(resp.StatusCode, p), Status: resp.StatusCode, Message: p.message,
		RequestID: requestID(resp.Header), RetryAfter: c.retryAfter(resp.Header),
	}
	if e.RequestID == "" {
		e.RequestID = p.requestID
	}
	return e
}

// words is the text of an error of a request, without what an address may hold besides its place: some servers take
// their key in the query.
func words(err error) string {
	e, ok := errors.AsType[*url.Error](err)
	if !ok {
		return err.Error()
	}
	var bad *url.Error
	if errors.As(e.Err, &bad) {
		return words(bad) // of an address that is none
	}
	return e.Op + " " + strconv.Quote(Place(e.URL)) + ": " + e.Err.Error()
}

// Place is an address without user, password, query and fragment.
func Place(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		address, _, _ = strings.Cut(address, "?")
		if i := strings.LastIndexByte(address, '@'); i >= 0 {
			address = address[i+1:]
		}
		return address
	}
	query := u.RawQuery != ""
	u.User, u.RawQuery, u.Fragment, u.ForceQuery = nil, "", "", false
	if query {
		return u.String() + "?…"
	}
	return u.String()
}

// InStream makes an error of an error object that came inside a stream whose status was 200.
func InStream(body []byte, requestID string) *modelapi.Error {
	p := readProblem(body)
	if p.message == "" {
		p.message = excerpt(body)
	}
	status, err := strconv.Atoi(p.code)
	if err != nil || status < 400 || status > 599 {
		status = 0
	}
	if p.requestID != "" {
		requestID = p.requestID
	}
	return &modelapi.Error{Class: classOf(status, p), Status: status, Message: p.message, RequestID: requestID}
}

func notAStream(kind string, body []byte, requestID string) *modelapi.Error {
	if kind != "text/html" && len(raw.Get(body, "error")) > 0 {
		return InStream(body, requestID)
	}
	hint := ""
	if kind != "text/html" {
		hint = " (it was asked to stream; turn streaming on in the server, or in the proxy before it)"
	}
	return &modelapi.Error{
		Class: modelapi.ClassProtocol, RequestID: requestID,
		Message: "the server answered with " + kind + " instead of a stream" + hint + ": " + excerpt(body),
	}
}

// problem is what the error envelopes of the known servers say.
type problem struct{ kind, code, message, requestID string }

// readProblem reads {"error":{"type","code","message"}}, {"error":"text"}, {"message":…} and {"detail":…}.
func readProblem(body []byte) problem {
	if !raw.IsObject(body) {
		return problem{}
	}
	p := problem{requestID: raw.GetString(body, "request_id")}
	inner := raw.Get(body, "error")
	if s, ok := raw.String(inner); ok {
		p.message = limit(s)
		return p
	}
	if !raw.IsObject(inner) {
		inner = body
	}
	p.kind = raw.GetString(inner, "type")
	p.message = limit(raw.GetString(inner, "message"))
	p.code = raw.GetString(inner, "code")
	if p.code == "" {
		p.code = strings.Trim(string(raw.Get(inner, "code")), `"`)
	}
	if p.message == "" {
		p.message = limit(raw.GetString(inner, "detail"))
	}
	return p
}

// classOf decides by what the API says in words where its status is not enough.
func classOf(status int, p problem) modelapi.Class {
	switch {
	case p.kind == "insufficient_quota" || p.code == "insufficient_quota" || p.kind == "billing_error":
		return modelapi.ClassAuth
	case (status == 0 || status == 400 || status == 413 || status == 422) && tooLong(p):
		return modelapi.ClassContext
	case status == 0:
		return classOfKind(p)
	case status == 401 || status == 402 || status == 403:
		return modelapi.ClassAuth
	case status == 404:
		return modelapi.ClassNotFound
	case status == 408:
		return modelapi.ClassTimeout
	case status == 413:
		return modelapi.ClassContext
	case status == 429:
		return modelapi.ClassRateLimit
	case status == 409 || status == 425 || status >= 500:
		return modelapi.ClassServer
	}
	return modelapi.ClassInvalid
}

// classOfKind is for errors inside a stream, which have no status.
func classOfKind(p problem) modelapi.Class {
	switch p.kind {
	case "rate_limit_error", "rate_limit_exceeded", "too_many_requests":
		return modelapi.ClassRateLimit
	case "timeout_error":
		return modelapi.ClassTimeout
	case "authentication_error", "permission_error":
		return modelapi.ClassAuth
	case "not_found_error":
		return modelapi.ClassNotFound
	case "request_too_large":
		return modelapi.ClassContext
	case "invalid_request_error", "BadRequestError":
		return modelapi.ClassInvalid
	}
	return modelapi.ClassServer
}

// tooLong knows how Anthropic, OpenAI, llama.cpp, vLLM, OpenRouter and Ollama say that a request exceeds the window.
func tooLong(p problem) bool {
	switch {
	case p.code == "context_length_exceeded", p.kind == "exceed_context_size_error", p.kind == "request_too_large":
		return true
	}
	m := strings.ToLower(p.message)
	for _, words := range []string{
		"prompt is too long", "maximum context length", "context window", "exceed context limit",
		"available context size", "context length exceeded", "exceeds the context", "input is too long",
	} {
		if strings.Contains(m, words) {
			return true
		}
	}
	return false
}

// maxRetryAfter bounds what is believed of a server's wish.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads retry-after-ms, then retry-after as seconds or as a date.
func (c Client) retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return bounded(ms * float64(time.Millisecond))
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return bounded(s * float64(time.Second))
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	now := c.Now
	if now == nil {
		now = time.Now
	}
	return bounded(float64(at.Sub(now())))
}

func bounded(ns float64) time.Duration {
	if math.IsNaN(ns) || ns <= 0 {
		return 0
	}
	return time.Duration(min(ns, float64(maxRetryAfter)))
}

func requestID(h http.Header) string {
	for _, k := range []string{"Request-Id", "X-Request-Id"} {
		if v := h.Get(k); v != "" {
			return v
		}
	}
	return ""
}

// Protocol says that a reply was not understood.
func Protocol(requestID, format string, args ...any) *modelapi.Error {
	return &modelapi.Error{
		Class: modelapi.ClassProtocol, RequestID: requestID, Message: limit(fmt.Sprintf(format, args...)),
	}
}

func excerpt(body []byte) string {
	return limit(strings.ToValidUTF8(strings.TrimSpace(string(body[:min(len(body), 4*maxMessage)])), "\ufffd"))
}

func limit(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	n := maxMessage
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
