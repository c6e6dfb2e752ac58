package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/perdure/perdure/internal/test/modeltest"
)

// The scripts in testdata/model are the command against a strict model server, which refuses a history that is not
// paired or not append-only. Its answer to message N is "reply N", and a call of Bash if the message says so.
//
// As long as the file "fault" is there, its first line is the status that the API answers with (0: it breaks the
// connection off) and the rest its message. "requests" has one line for each request, and last.json is the newest one.
func TestModelScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "model"),
		Setup: func(env *testscript.Env) error {
			strict, err := modeltest.New(modeltest.Config{Respond: answerByText, Models: []string{"m", "wide"}})
			if err != nil {
				return err
			}
			server := httptest.NewServer(front{dir: env.WorkDir, behind: strict})
			env.Defer(server.Close)
			env.Setenv("PERDURE_HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("ANTHROPIC_API_KEY", "sk-test-0123456789")
			env.Setenv("ANTHROPIC_BASE_URL", server.URL)
			return nil
		},
	})
}

func answerByText(r modeltest.ParsedRequest) modeltest.Step {
	last := r.Messages[len(r.Messages)-1]
	if _, command, ok := strings.Cut(last.Text(), "run: "); ok {
		return modeltest.Step{Tools: []modeltest.ToolCall{{Name: "Bash", InputText: fmt.Sprintf(`{"command":%q}`, command)}}}
	}
	return modeltest.Step{Text: fmt.Sprintf("reply %d", r.Step)}
}

// front answers with the fault that a script asks for, else passes on.
type front struct {
	dir    string
	behind http.Handler
}

func (f front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/messages") {
		f.behind.ServeHTTP(w, r)
		return
	}
	f.note(body)
	fault, err := os.ReadFile(filepath.Join(f.dir, "fault"))
	if err != nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
		f.behind.ServeHTTP(w, r)
		return
	}
	first, message, _ := strings.Cut(string(fault), "\n")
	status, err := strconv.Atoi(first)
	if err != nil || status == 0 {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"api_error","message":%q}}`, strings.TrimSpace(message))
}

func (f front) note(body []byte) {
	_ = os.WriteFile(filepath.Join(f.dir, "last.json"), body, 0o600)
	if log, err := os.OpenFile(filepath.Join(f.dir, "requests"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		_, _ = log.WriteString("request\n")
		_ = log.Close()
	}
}
