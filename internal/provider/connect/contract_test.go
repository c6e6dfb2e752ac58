package connect

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/perdure/perdure/internal/test/modeltest"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/modelapi/providertest"
)

// other is the other side of both APIs, which answers the calls by replies in their order.
type other struct {
	api     string
	replies []providertest.Reply

	mu   sync.Mutex
	sent [][]byte
}

func (o *other) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller gave up
	}
	o.mu.Lock()
	reply := o.replies[min(len(o.sent), len(o.replies)-1)]
	o.sent = append(o.sent, body)
	o.mu.Unlock()
	srv, err := modeltest.New(modeltest.Config{
		AllowForeignHistory: true, Models: []string{"m"}, Respond: func(modeltest.ParsedRequest) modeltest.Step { return stepOf(reply) },
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	srv.ServeHTTP(w, r)
}

func (o *other) requests() [][]byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([][]byte{}, o.sent...)
}

// stepOf says a reply in the server's words.
func stepOf(r providertest.Reply) modeltest.Step {
	u := modeltest.Usage{Input: r.Usage.Input, Output: r.Usage.Output, CacheRead: r.Usage.CacheRead, CacheWrite: r.Usage.CacheWrite}
	s := modeltest.Step{StopReason: string(r.Stop), Usage: u}
	for _, b := range r.Blocks {
		switch b.Type {
		case model.BlockThinking:
			s.Thinking = b.Text
		case model.BlockText:
			s.Text = b.Text
		case model.BlockToolUse:
			c := modeltest.ToolCall{ID: b.Tool.ID, NoID: b.Tool.ID == "", Name: b.Tool.Name, InputText: string(b.Tool.Input)}
			if r.Stop == modelapi.StopMaxTokens {
				c.Cut = len(c.InputText)
				c.InputText += `ng"}`
			}
			s.Tools = append(s.Tools, c)
		}
	}
	switch {
	case r.Status > 0:
		s.Faults = []modeltest.Fault{{Kind: modeltest.FaultStatus, Status: r.Status}}
	case r.Break:
		s.Faults = []modeltest.Fault{{Kind: modeltest.FaultDisconnect, After: 3}}
	case r.Stall:
		s.Faults = []modeltest.Fault{{Kind: modeltest.FaultStall, After: 2}}
	}
	return s
}

// Goal: the providers keep the contract that every provider has to keep.
func TestContract(t *testing.T) {
	for _, api := range apis() {
		t.Run(api, func(t *testing.T) {
			providertest.Run(t, providertest.Peer{Model: "m", NoThinking: api == modeltest.OpenAI, Start: func(t *testing.T, replies []providertest.Reply) (modelapi.Provider, func() [][]byte) {
				o := &other{api: api, replies: replies}
				srv := httptest.NewServer(o)
				t.Cleanup(srv.Close)
				c := Connector{Getenv: env("ANTHROPIC_API_KEY", "key", "ANTHROPIC_BASE_URL", srv.URL, "OPENAI_API_KEY", "key", "OPENAI_BASE_URL", srv.URL+"/v1")}
				p, _, err := c.Open(strings.ToLower(api) + "/m")
				if err != nil {
					t.Fatal(err)
				}
				return p, o.requests
			}})
		})
	}
}
