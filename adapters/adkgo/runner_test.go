package adkgo_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	adk "google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	"github.com/perdure/perdure/adapters/adkgo"
)

const runnerHome = "ADKGO_TEST_RUNNER"

// counter is a model that calls the tool once for each message of the user, then says how many it was shown.
type counter struct{}

func (counter) Name() string { return "counter" }

func (counter) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	shown, called := 0, false
	for _, c := range req.Contents {
		for _, p := range c.Parts {
			if c.Role == genai.RoleUser && strings.HasPrefix(p.Text, "message ") {
				shown, called = shown+1, false
			}
			called = called || p.FunctionResponse != nil
		}
	}
	said := genai.NewContentFromText(fmt.Sprintf("shown %d", shown), genai.RoleModel)
	if !called {
		said = genai.NewContentFromFunctionCall("note", map[string]any{"n": shown}, genai.RoleModel)
	}
	return func(yield func(*model.LLMResponse, error) bool) {
		yield(&model.LLMResponse{Content: said, TurnComplete: true}, nil)
	}
}

// newRunner is ADK's runner over a home, with an agent that has one tool.
func newRunner(t *testing.T, dir string) (*runner.Runner, *adkgo.Service) {
	t.Helper()
	type args struct {
		N int `json:"n"`
	}
	note, err := functiontool.New(functiontool.Config{Name: "note", Description: "Notes a number."},
		func(c agent.Context, in args) (map[string]any, error) {
			return map[string]any{"noted": in.N}, c.State().Set("noted", in.N)
		})
	if err != nil {
		t.Fatal(err)
	}
	a, err := llmagent.New(llmagent.Config{Name: "counts", Model: counter{}, Tools: []tool.Tool{note}})
	if err != nil {
		t.Fatal(err)
	}
	s := adkgo.New(open(t, dir), adkgo.Options{})
	r, err := runner.New(runner.Config{AppName: "app", Agent: a, SessionService: s, AutoCreateSession: true})
	if err != nil {
		t.Fatal(err)
	}
	return r, s
}

// converse sends messages for ever. It prints each event that the runner gave, which is in the log then, and each answer.
func converse(t *testing.T, dir string) {
	r, s := newRunner(t, dir)
	n := 0
	if got, err := s.Get(t.Context(), &adk.GetRequest{AppName: "app", UserID: "user", SessionID: "s"}); err == nil {
		n = messages(got.Session)
	}
	for {
		n++
		for e, err := range r.Run(t.Context(), "user", "s", genai.NewContentFromText(fmt.Sprint("message ", n), genai.RoleUser), agent.RunConfig{}) {
			if err != nil {
				t.Fatal(err)
			}
			fmt.Println("event", e.ID)
			if e.Content != nil && len(e.Content.Parts) == 1 && e.Content.Parts[0].Text != "" {
				fmt.Println("answer", n, e.Content.Parts[0].Text)
			}
		}
	}
}

// messages counts what the user said.
func messages(s adk.Session) (n int) {
	for e := range s.Events().All() {
		if e.Author == "user" && e.Content != nil && len(e.Content.Parts) > 0 && e.Content.Parts[0].Text != "" {
			n++
		}
	}
	return n
}

// ADK's runner goes on after each kill with all that it gave before: its model is shown every message, once, and what a
// tool put into the state is there.
func TestRunnerIsKilled(t *testing.T) {
	if dir := os.Getenv(runnerHome); dir != "" {
		converse(t, dir)
		return
	}
	dir := filepath.Join(t.TempDir(), "home")
	var given []string
	for round := range 8 {
		n := 0
		untilKilled(t, "TestRunnerIsKilled", runnerHome, dir, func(line string) bool {
			var id string
			var number, shown int
			if _, err := fmt.Sscanf(line, "event %s", &id); err == nil {
				given = append(given, id)
				n++
				return n == 4+2*round // in a turn, and between two
			}
			if _, err := fmt.Sscanf(line, "answer %d shown %d", &number, &shown); err == nil && number != shown {
				t.Fatalf("round %d: the model was shown %d messages of %d", round, shown, number)
			} else if strings.Contains(line, "runner_test.go") {
				t.Fatalf("round %d: %s", round, line)
			}
			return false
		})
	}
	_, s := newRunner(t, dir)
	got, err := s.Get(t.Context(), &adk.GetRequest{AppName: "app", UserID: "user", SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	i := 0
	for e := range got.Session.Events().All() {
		if _, twice := at[e.ID]; twice {
			t.Errorf("event %s is there twice", e.ID)
		}
		at[e.ID] = i
		i++
	}
	last := -1
	for _, id := range given {
		where, there := at[id]
		if !there || where <= last {
			t.Fatalf("event %s was given, and is at %d (%t), behind %d", id, where, there, last)
		}
		last = where
	}
	if v, err := got.Session.State().Get("noted"); err != nil || v.(float64) < 8 {
		t.Errorf("noted %v, %v", v, err)
	}
	t.Logf("%d events given, %d there, %d messages", len(given), i, messages(got.Session))
}
