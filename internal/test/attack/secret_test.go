package attack_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/perdure/perdure/internal/test/modeltest"
)

// Values that must be found nowhere. Each has a middle that is searched for too, so that a cut one is found.
const (
	apiKey   = "sk-ant-canary-4f1d8c2b7a6e5d3c-abcdefgh"
	apiPart  = "4f1d8c2b7a6e5d3c"
	userKey  = "tok_canary_90b1c2d3e4f5a6b7_ijklmnop"
	userPart = "90b1c2d3e4f5a6b7"
)

// recorder is a strict model server that keeps every byte it was asked.
type recorder struct {
	url string
	mu  sync.Mutex
	raw bytes.Buffer
}

func record(t *testing.T, steps ...modeltest.Step) *recorder {
	t.Helper()
	server, err := modeltest.New(modeltest.Config{
		APIKey: apiKey,
		Respond: func(r modeltest.ParsedRequest) modeltest.Step {
			if r.Step < len(steps) {
				return steps[r.Step]
			}
			return modeltest.Step{Text: "The end."}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	rec := &recorder{}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		rec.mu.Lock()
		rec.raw.Write(b)
		rec.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(b))
		server.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		h.Close()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		for _, v := range server.Violations() {
			t.Errorf("the model API refused: %+v", v)
		}
	})
	rec.url = h.URL
	return rec
}

func (r *recorder) asked() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.raw.String()
}

// guarded is a world with an API key and a secret of the user's own.
func guarded(t *testing.T, rec *recorder) *world {
	w := newWorld(t)
	w.env = []string{"ANTHROPIC_API_KEY=" + apiKey, "MY_TOKEN=" + userKey, "ANTHROPIC_BASE_URL=" + rec.url}
	w.write(filepath.Join(w.user, ".config", "perdure", "config.toml"), "secrets = [\"MY_TOKEN\"]\n")
	return w
}

// clean fails for every place in which a secret stands.
func (w *world) clean(where string, text string) {
	w.t.Helper()
	for _, part := range []string{apiPart, userPart} {
		if i := strings.Index(text, part); i >= 0 {
			w.t.Errorf("%s holds a secret: …%q…", where, text[max(0, i-80):min(len(text), i+60)])
		}
	}
}

// cleanHome fails for a secret anywhere in the home, but in what a running command printed or was given.
func (w *world) cleanHome() {
	w.t.Helper()
	for _, part := range []string{apiPart, userPart} {
		for _, path := range w.search(w.home, part) {
			if !w.captured(path) {
				w.t.Errorf("%s is in %s", part, path)
			}
		}
	}
}

// captured reports a place where the project's own files are kept, byte by byte, and their names: they come back as they
// were, whatever is in them.
func (w *world) captured(path string) bool {
	return filepath.Dir(path) == filepath.Join(w.home, "blobs", "packs") || filepath.Base(path) == "stat" && strings.HasPrefix(path, filepath.Join(w.home, "workspaces")+"/")
}

func tool(name, format string, args ...any) modeltest.ToolCall {
	return modeltest.ToolCall{Name: name, InputText: fmt.Sprintf(format, args...)}
}

// A command does not get the key, and what it prints of secrets by whatever means reaches neither model nor log.
func TestSecretsStayOut(t *testing.T) {
	rec := record(t,
		modeltest.Step{Tools: []modeltest.ToolCall{tool("Bash", `{"command":"env; cat $(dirname /proc/$PPID/x)/environ; cat key token"}`)}},
		modeltest.Step{Tools: []modeltest.ToolCall{
			tool("Read", `{"file_path":"key"}`),
			tool("Grep", `{"pattern":"canary","output_mode":"content"}`),
			tool("Bash", `{"command":"head -c 65530 /dev/zero | tr '\\0' x; cat key; head -c 200000 /dev/zero | tr '\\0' y; cat token; head -c 1000000 /dev/zero | tr '\\0' z; cat key"}`),
			tool("Bash", `{"command":"head -c 1048560 /dev/zero | tr '\\0' x; cat key; head -c 1048540 /dev/zero | tr '\\0' y; cat token"}`),
			tool("Bash", `{"command":"export STOLEN=$(cat key) MINE=$MY_TOKEN"}`),
			tool("Bash", `{"command":"env; cat token >&2; exit 3"}`),
		}},
		modeltest.Step{Tools: []modeltest.ToolCall{
			tool("Edit", `{"file_path":"config","old_string":"value = 1","new_string":"value = 2"}`),
			tool("Edit", `{"file_path":"config","old_string":"secret = sk-ant-canary-x","new_string":"value = 2"}`),
			tool("Glob", `{"pattern":"*canary*"}`),
			tool("Bash", `{"command":"nothing-%s"}`, "such"),
		}},
	)
	w := guarded(t, rec)
	w.write(filepath.Join(w.work, "key"), apiKey)
	w.write(filepath.Join(w.work, "token"), userKey)
	w.write(filepath.Join(w.work, "config"), "# settings\nsecret = "+apiKey+"\nvalue = 1\ntoken = "+userKey+"\n")
	w.write(filepath.Join(w.work, "canary-"+userKey), "")
	if err := syscall.Mkfifo(filepath.Join(w.work, "fifo-"+userKey), 0o600); err != nil { // it is not captured, and named
		t.Fatal(err)
	}
	o := w.want(0, "-p", "--session-id", "s", "--output-format", "stream-json", "--append-system-prompt", "Use "+userKey+".",
		bypass, "My key is "+apiKey+" and "+userKey)
	w.clean("stdout", o.out)
	w.clean("stderr", o.stderr)
	w.clean("the model's input", rec.asked())
	if n := strings.Count(rec.asked(), "[secret:ANTHROPIC_API_KEY]"); n < 5 {
		t.Errorf("only %d values were replaced: the commands did not print them", n)
	}
	for _, args := range [][]string{{"show", "s", "--json", "--messages"}, {"show", "s"}, {"log", "s", "--json"}, {"log", "s"}, {"list", "--json"}} {
		o := w.want(0, args...)
		w.clean(strings.Join(args, " "), o.out+o.stderr)
	}
	w.cleanHome()
	w.verify("s")
}
