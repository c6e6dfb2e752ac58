package attack_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/test/modeltest"
)

// What a person answers, or tells the model with a decision, is looked at before it is on disk, by verbs too.
func TestSecretsInAnswers(t *testing.T) {
	rec := record(t,
		modeltest.Step{Tools: []modeltest.ToolCall{tool("AskUser", `{"question":"Which token?"}`)}},
		modeltest.Step{Tools: []modeltest.ToolCall{tool("Bash", `{"command":"touch x"}`)}},
	)
	w := guarded(t, rec)
	cmd := w.command("-p", "--session-id", "s")
	cmd.Stdin = strings.NewReader("from stdin: " + userKey)
	if o := w.finish(cmd); o.code != 3 {
		t.Fatal(o)
	}
	w.want(0, "answer", "s", "it is", userKey, "or", apiKey)
	w.want(3, "-p", "-r", "s")
	w.want(0, "approvals", "deny", "s", "--message", "not with "+userKey)
	w.want(0, "rename", "s", "about "+userKey)
	w.want(0, "-p", "-r", "s", "also "+userKey)
	w.clean("the model's input", rec.asked())
	if n := strings.Count(rec.asked(), "[secret:MY_TOKEN]"); n < 4 {
		t.Errorf("only %d values were replaced", n)
	}
	w.cleanHome()
}

// A server that quotes the key which it refuses does not get it into the log.
func TestSecretsInErrors(t *testing.T) {
	w := newWorld(t)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.WriteHeader(http.StatusUnauthorized)
		_ = json.NewEncoder(rw).Encode(map[string]any{"error": map[string]string{"message": "Incorrect API key provided: " + apiKey}})
	}))
	defer server.Close()
	w.env = []string{"OPENAI_API_KEY=" + apiKey, "OPENAI_BASE_URL=" + server.URL}
	o := w.want(1, "-p", "--session-id", "s", "--model", "openai/m", "--output-format", "stream-json", "hello")
	w.clean("the outcome", o.out+o.stderr)
	if !strings.Contains(o.out, "[secret:OPENAI_API_KEY]") {
		t.Errorf("the error is not told: %s", o)
	}
	w.cleanHome()
}

// A secret that a background command prints in two halves is not given to the model in two halves.
func TestSecretsInPieces(t *testing.T) {
	rec := record(t,
		modeltest.Step{Tools: []modeltest.ToolCall{
			tool("Bash", `{"command":"head -c 20 token; echo > half; until test -e on; do sleep 0.02; done; tail -c +21 token","run_in_background":true}`),
			tool("Bash", `{"command":"until test -e half; do sleep 0.02; done"}`),
			tool("BashOutput", `{"bash_id":"bash_1"}`),
			tool("Bash", `{"command":"touch on; tail --pid=$(pgrep -f 'test -e o[n]' | head -1) -f /dev/null; sleep 0.2"}`),
			tool("BashOutput", `{"bash_id":"bash_1"}`),
		}},
	)
	w := guarded(t, rec)
	w.write(filepath.Join(w.work, "token"), userKey)
	w.want(0, "-p", "--session-id", "s", bypass, "hello")
	w.until("the end of the task", func() bool { return w.show("s").Tasks[0].Status != "running" || len(w.pids()) == 0 })
	if got := strings.Join(w.results("s"), "\n"); strings.Contains(got, userKey[:16]) || strings.Contains(got, userKey[24:]) {
		t.Errorf("the halves were given: %s", got)
	}
	if !strings.Contains(rec.asked(), "[secret:MY_TOKEN]") {
		t.Errorf("the value never came: %q", w.results("s"))
	}
	// What the task printed stays with it; what it was given does not.
	for _, path := range w.search(w.home, userPart) {
		if !strings.HasPrefix(filepath.Base(path), "out.") && !w.captured(path) {
			t.Errorf("%s holds a secret", path)
		}
	}
}

// White space around a value does not hide it from us, and a value that is too short is named.
func TestSecretsWithSpace(t *testing.T) {
	rec := record(t, modeltest.Step{Tools: []modeltest.ToolCall{tool("Bash", `{"command":"cat key token"}`)}})
	w := guarded(t, rec)
	w.env = append(w.env, "ANTHROPIC_API_KEY= "+apiKey+"\r\n", "MY_TOKEN="+userKey+" ", "PIN=1234")
	w.write(filepath.Join(w.user, ".config", "perdure", "config.toml"), "secrets = [\"MY_TOKEN\", \"PIN\", \"UNSET\"]\n")
	w.write(filepath.Join(w.work, "key"), apiKey+"\n")
	w.write(filepath.Join(w.work, "token"), userKey+"\n")
	o := w.want(0, "-p", "--session-id", "s", bypass, "hello")
	w.clean("the model's input", rec.asked())
	w.cleanHome()
	if !strings.Contains(o.stderr, "PIN") || strings.Contains(o.stderr, "1234") || strings.Contains(o.stderr, "UNSET") {
		t.Errorf("what is not hidden is not named: %s", o)
	}
}

// A model that writes a file back as it was shown to it does not destroy the secrets in the file.
func TestSecretsAreNotOverwritten(t *testing.T) {
	rec := record(t,
		modeltest.Step{Tools: []modeltest.ToolCall{tool("Read", `{"file_path":".env"}`)}},
		modeltest.Step{Tools: []modeltest.ToolCall{
			tool("Write", `{"file_path":".env","content":"TOKEN=[secret:MY_TOKEN]\nDEBUG=1\n"}`),
			tool("Edit", `{"file_path":".env","old_string":"DEBUG=0","new_string":"DEBUG=1"}`),
		}},
	)
	w := guarded(t, rec)
	file := w.write(filepath.Join(w.work, ".env"), "TOKEN="+userKey+"\nDEBUG=0\n")
	w.want(0, "-p", "--session-id", "s", bypass, "set DEBUG")
	b, err := os.ReadFile(file)
	if err != nil || string(b) != "TOKEN="+userKey+"\nDEBUG=1\n" {
		t.Errorf("the file is %q, %v: %q", b, err, w.results("s"))
	}
	w.cleanHome()
}
