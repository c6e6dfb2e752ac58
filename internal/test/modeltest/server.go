package modeltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The versions of the Anthropic API that the server speaks.
const (
	versionOld = "2023-06-01"
	versionNew = "2026-10-21"
)

// Bounds of a server.
const (
	maxBody          = 64 << 20
	maxConversations = 1 << 16
	maxViolations    = 1000
)

// ErrClosed says that the server was closed while something waited for it.
var ErrClosed = errors.New("model server closed")

// A Config says what the server answers; the zero Config refuses everything for
// want of a script.
type Config struct {
	Script Script
	// Respond answers what the Script has no step for. It must be a pure function
	// of the request, is called from several goroutines, and is asked once per
	// attempt: the answer of the first attempt is kept.
	Respond func(ParsedRequest) Step
	// Models are listed by the model endpoints; nil means one, "test-model".
	Models []string
	// APIKey is demanded when not empty; otherwise any key, or none, will do.
	APIKey string
	// AllowForeignHistory accepts assistant messages that this server never
	// sent, for sessions that were imported.
	AllowForeignHistory bool
	// Sleep waits between the pieces of a slow answer; nil means real time.
	Sleep func(context.Context, time.Duration) error
}

// A Server serves both APIs and /control. Its methods may be called from any
// goroutine.
type Server struct {
	cfg    Config
	mux    *http.ServeMux
	stalls *stalls
	http   *http.Server
	base   string

	mu         sync.Mutex
	convs      map[string]*conversation
	violations []Violation
	refused    int
	requests   int
	counted    int
	serial     int
	closing    bool

	handlers sync.WaitGroup
	done     chan struct{} // closed when the listener's goroutine has returned
}

// New returns a server that is an http.Handler and not yet listening.
func New(cfg Config) (*Server, error) {
	if err := cfg.Script.validate(); err != nil {
		return nil, fmt.Errorf("new model server: %w", err)
	}
	if cfg.Models == nil {
		cfg.Models = []string{"test-model"}
	}
	s := &Server{cfg: cfg, stalls: newStalls(), convs: map[string]*conversation{}}
	s.mux = s.routes()
	return s, nil
}

// Start returns a server that listens on a free loopback port.
func Start(cfg Config) (*Server, error) { return Listen("127.0.0.1:0", cfg) }

// Listen returns a server that listens on addr. Close ends it.
func Listen(addr string, cfg Config) (*Server, error) {
	s, err := New(cfg)
	if err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("model server: %w", err)
	}
	s.base = "http://" + ln.Addr().String()
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		_ = s.http.Serve(ln) // always ErrServerClosed: Close is the only way out
	}()
	return s, nil
}

// URL is the base URL of the Anthropic API and of Ollama's endpoints.
func (s *Server) URL() string { return s.base }

// OpenAIURL is the base URL of the Chat Completions API.
func (s *Server) OpenAIURL() string { return s.base + "/v1" }

// Close cuts all connections, frees the port and waits for the handlers. A
// second call does nothing. Reports can still be read.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.stalls.close()
	var err error
	if s.http != nil {
		err = s.http.Close()
		<-s.done
	}
	s.handlers.Wait()
	return err
}

// Release lets the answers go on that stall under the name, now and later.
func (s *Server) Release(name string) { s.stalls.release(name) }

// WaitStalled returns once n answers have stalled under the name since the
// start. It fails with the context's cause or ErrClosed.
func (s *Server) WaitStalled(ctx context.Context, name string, n int) error {
	return s.stalls.wait(ctx, name, n)
}

// ServeHTTP serves one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	s.handlers.Add(1)
	s.mu.Unlock()
	defer s.handlers.Done()
	s.mux.ServeHTTP(w, r)
}

// answerModel returns the handler of a model call.
func (s *Server) answerModel(api string) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		id := s.nextID(api)
		w.Header().Set("request-id", "req_"+id)
		w.Header().Set("x-request-id", "req_"+id)
		r, bad := s.read(api, req, false)
		if bad == nil {
			var p *player
			if p, bad = s.enter(r, req); bad == nil {
				p.w, p.id = w, id
				p.play()
				return
			}
		}
		s.refuse(w, api, r, bad, "req_"+id)
	}
}

// countTokens answers with an estimate, after the same rules.
func (s *Server) countTokens(w http.ResponseWriter, req *http.Request) {
	r, bad := s.read(Anthropic, req, true)
	if bad == nil {
		_, bad = s.checkHistory(r, func() { s.counted++ })
	}
	if bad != nil {
		s.refuse(w, Anthropic, r, bad, "req_count")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"input_tokens":%d}`, estimate(r, answer{}).Input)
}

// read parses the request and applies every rule but those of the history. The
// request is returned even when it is refused, as far as it was understood.
func (s *Server) read(api string, req *http.Request, counting bool) (*ParsedRequest, *refusal) {
	if typ, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type")); typ != "application/json" {
		return nil, refuse(RuleJSON, "content type %q is not application/json", typ)
	}
	if bad := s.authorize(req); bad != nil {
		return nil, bad
	}
	version := req.Header.Get("anthropic-version")
	if api == Anthropic && version != versionOld && version != versionNew {
		return nil, refuse(RuleVersion, "anthropic-version %q is not a valid version", version)
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, maxBody+1))
	if err != nil { // the client died while it sent: it has asked for nothing
		panic(http.ErrAbortHandler)
	}
	if len(body) > maxBody {
		bad := refuse(RuleLimit, "body of more than %d bytes", maxBody)
		bad.status = http.StatusRequestEntityTooLarge
		return nil, bad
	}
	if body = bytes.TrimSpace(body); !json.Valid(body) {
		return nil, refuse(RuleJSON, "the body is not valid JSON: %s", clip(body))
	}
	if api == OpenAI {
		r, bad := parseOpenAI(body)
		if bad != nil {
			return nil, bad
		}
		r.finish(s.cfg.Script.find)
		return r, first(checkOpenAIParams(body, r), checkOpenAIMessages(r), checkPairing(r))
	}
	r, bad := parseAnthropic(body)
	if bad != nil {
		return nil, bad
	}
	r.finish(s.cfg.Script.find)
	return r, first(checkAnthropicParams(body, r, version, counting), checkAnthropicMessages(r), checkPairing(r))
}

func first(refusals ...*refusal) *refusal {
	for _, r := range refusals {
		if r != nil {
			return r
		}
	}
	return nil
}

func (s *Server) authorize(req *http.Request) *refusal {
	key := req.Header.Get("x-api-key")
	if bearer, ok := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer "); ok {
		key = bearer
	}
	if s.cfg.APIKey == "" || key == s.cfg.APIKey {
		return nil
	}
	bad := refuse(RuleAuth, "invalid api key")
	bad.status = http.StatusUnauthorized
	return bad
}

// enter applies the rules of the history, finds the answer and its fault, and
// enters the request into the conversation.
func (s *Server) enter(r *ParsedRequest, req *http.Request) (*player, *refusal) {
	prefix, bad := s.checkHistory(r, func() {})
	if bad != nil {
		return nil, bad
	}
	step, ok := s.step(r)
	if !ok {
		return nil, refuse(RuleScript, "no step %d for conversation %q", r.Step, r.Key)
	}
	if err := step.validate(); err != nil {
		return nil, refuse(RuleScript, "step %d of conversation %q: %v", r.Step, r.Key, err)
	}
	made := makeAnswer(r, step, prefix)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.conversation(r)
	// Once more: another request may have been entered meanwhile.
	prefix, path, bad := c.check(r, s.cfg.AllowForeignHistory)
	if bad != nil {
		return nil, bad
	}
	if c.requests == 0 && len(s.convs) >= maxConversations {
		return nil, refuse(RuleLimit, "more than %d conversations", maxConversations)
	}
	s.convs[c.api+" "+c.key] = c
	v, attempt, bad := c.accept(r, prefix, path, made)
	if bad != nil {
		return nil, bad
	}
	s.requests++
	c.sawVersion(strings.TrimSpace(req.Header.Get("anthropic-version") + " " + req.Header.Get("anthropic-beta")))
	p := &player{s: s, ctx: req.Context(), r: r, v: v}
	if attempt <= len(step.Faults) {
		p.fault = step.Faults[attempt-1]
	}
	return p, nil
}

// checkHistory applies the rules of the history and calls also, both under the
// lock, which a panic in them does not leave held.
func (s *Server) checkHistory(r *ParsedRequest, also func()) (chain, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	also()
	prefix, _, bad := s.conversation(r).check(r, s.cfg.AllowForeignHistory)
	return prefix, bad
}

// conversation returns the one of r, or a new one that is not entered yet.
func (s *Server) conversation(r *ParsedRequest) *conversation {
	if c := s.convs[r.API+" "+r.Key]; c != nil {
		return c
	}
	return &conversation{api: r.API, key: r.Key}
}

func (s *Server) step(r *ParsedRequest) (Step, bool) {
	if c, ok := s.cfg.Script.find(r.Key); ok && r.Step < len(c.Steps) {
		return c.Steps[r.Step], true
	}
	if s.cfg.Respond != nil {
		return s.cfg.Respond(*r), true
	}
	return Step{}, false
}

// refuse records the violation and answers with it.
func (s *Server) refuse(w http.ResponseWriter, api string, r *ParsedRequest, bad *refusal, id string) {
	v := Violation{Rule: bad.rule, API: api, Detail: bad.detail}
	if r != nil {
		v.Key = r.Key
	}
	s.mu.Lock()
	s.refused++
	if len(s.violations) < maxViolations {
		s.violations = append(s.violations, v)
	}
	s.mu.Unlock()
	s.writeError(w, api, bad.status, bad.Error(), bad.rule, id)
}

func (s *Server) writeError(w http.ResponseWriter, api string, status int, message string, rule Rule, id string) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if rule != "" {
		h.Set("X-Modeltest-Rule", string(rule))
	}
	w.WriteHeader(status)
	if api == OpenAI {
		_, _ = w.Write(openaiError(status, message, string(rule)))
		return
	}
	_, _ = w.Write(anthropicError(status, message, id))
}

// nextID numbers responses; real ones differ between attempts too.
func (s *Server) nextID(api string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serial++
	if api == OpenAI {
		return "chatcmpl-test" + strconv.Itoa(s.serial)
	}
	return "msg_test" + strconv.Itoa(s.serial)
}

func (s *Server) sleep(ctx context.Context, d time.Duration) error {
	if s.cfg.Sleep != nil {
		return s.cfg.Sleep(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
