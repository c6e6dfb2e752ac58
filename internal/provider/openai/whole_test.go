package openai

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/perdure/perdure/modelapi"
)

// Goal: a server that does not stream, though it is asked to, is understood all the same: its one JSON body is the reply,
// whatever content type it has. What is no reply is told with what helps.
func TestReplyInOneBody(t *testing.T) {
	const said = `{"id":"c1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hello","tool_calls":[{"id":"a","type":"function","function":{"name":"Bash","arguments":"{\"command\":\"ls\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}`
	for name, c := range map[string]struct {
		kind, body, fails string
		calls             int
		stop              modelapi.StopReason
	}{
		"json":         {"application/json", said, "", 1, modelapi.StopToolUse},
		"charset":      {"application/json; charset=utf-8", " \n" + said + "\n", "", 1, modelapi.StopToolUse},
		"text":         {"text/plain", said, "", 1, modelapi.StopToolUse},
		"stream":       {"text/event-stream", said, "", 1, modelapi.StopToolUse},
		"no counts":    {"application/json", `{"choices":[{"message":{"content":"hello"}}]}`, "", 0, modelapi.StopEndTurn},
		"cut":          {"application/json", said[:90], "instead of a stream", 0, ""},
		"another":      {"application/json", `{"status":"ok"}`, "instead of a stream", 0, ""},
		"an error":     {"application/json", `{"error":{"message":"too many cats"}}`, "too many cats", 0, ""},
		"several":      {"application/x-ndjson", said + "\n" + said, "instead of a stream", 0, ""},
		"page":         {"text/html", "<html>sign in</html>", "instead of a stream", 0, ""},
		"really a one": {"text/event-stream", "data: " + said + "\n\ndata: [DONE]\n\n", "", 1, modelapi.StopToolUse},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				_, _ = w.Write([]byte(c.body))
			}))
			defer s.Close()
			seen := ""
			r, err := New(Config{BaseURL: s.URL, HTTP: s.Client()}).Call(context.Background(), ask(), func(d modelapi.Delta) {
				if d.Kind == modelapi.DeltaText {
					seen += d.Text
				}
			})
			if c.fails != "" {
				e, ok := errors.AsType[*modelapi.Error](err)
				if !ok || !strings.Contains(e.Message, c.fails) || e.Class == modelapi.ClassDisconnect {
					t.Errorf("%v, %+v", r, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Blocks) != 1+c.calls || r.Blocks[0].Text != "hello" || seen != "hello" || r.Stop != c.stop {
				t.Errorf("%+v, seen %q", r, seen)
			}
			if c.calls == 1 && (r.Usage.Input != 7 || r.Blocks[1].Tool.Name != "Bash") {
				t.Errorf("%+v", r)
			}
		})
	}
}
