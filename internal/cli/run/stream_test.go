package run_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

const usesTools = `{"turns":[{"match":"","steps":[
 {"thinking":"Let me see.","text":"I look.","tools":[
  {"name":"Bash","input":{"command":"echo hello"}},
  {"name":"Read","input":{"file_path":"missing"}}]},
 {"text":"It says hello."}]}]}`

// Goal: the first line of a stream says which session this is and what it is made of, in few bytes; times are RFC 3339;
// a tool's deltas name it; the last line is the outcome.
func TestStreamJSON(t *testing.T) {
	w := clitest.New(t)
	w.Configure("[files]\ncapture = false\n") // the directory is the user's home here, which would be told
	args := []string{"-p", "--session-id", "s", "--name", "the name", "--model", w.Scripted(usesTools), "--allowed-tools", "Bash(echo:*)", "--output-format", "stream-json", "hello"}
	o := w.Run(args...)
	ls := clitest.Lines(t, o.Stdout)
	first := ls[0]
	if first["type"] != "init" || first["session_id"] != "s" || first["resumed"] != false || first["title"] != "the name" ||
		!strings.HasPrefix(first["model"].(string), "scripted/") || first["cwd"] != w.Dir || first["mode"] != "default" || first["version"] == "" {
		t.Errorf("first line: %v", first)
	}
	if !strings.Contains(fmt.Sprint(first["tools"]), "Bash BashOutput") {
		t.Errorf("tools: %v", first["tools"])
	}
	if n := len(strings.SplitAfterN(o.Stdout, "\n", 2)[0]); n > 2000 {
		t.Errorf("the first line has %d bytes", n)
	}
	kinds := map[any]int{}
	for _, l := range ls {
		kinds[l["type"]]++
		switch l["type"] {
		case "event":
			ev := l["event"].(map[string]any)
			if _, err := time.Parse(time.RFC3339, ev["time"].(string)); err != nil {
				t.Error(err)
			}
			if agent, ok := ev["body"].(map[string]any)["agent"].(map[string]any); ok && (agent["system"] != nil || !strings.Contains(fmt.Sprint(agent["tools"]), "Bash BashOutput")) {
				t.Errorf("the opening is told in full: %v", agent)
			}
		case "delta":
			if l["kind"] == "tool" && (l["tool"] == nil || l["tool_use_id"] == nil) {
				t.Errorf("a tool's delta without its name: %v", l)
			}
		}
	}
	last := ls[len(ls)-1]
	if r := last["result"].(map[string]any); last["type"] != "result" || r["result"] != "It says hello." || r["num_turns"] != 1.0 || r["duration_ms"] == nil {
		t.Errorf("last line: %v", last)
	}
	if kinds["init"] != 1 || kinds["event"] < 10 || kinds["delta"] < 3 || kinds["session"] != 0 || o.Stderr != "" {
		t.Errorf("%v\n%s", kinds, o.Stderr)
	}
	args[2] = "v"
	if full := w.OK(append(args, "--verbose")...); !strings.Contains(full, "input_schema") {
		t.Error("--verbose leaves the tools out")
	}
	resumed := clitest.Lines(t, w.OK("-p", "-r", "s", "--output-format", "stream-json"))
	if resumed[0]["type"] != "init" || resumed[0]["resumed"] != true || resumed[len(resumed)-1]["type"] != "result" {
		t.Errorf("resumed: %v", resumed)
	}
}

// The lines of Claude Code's stream-json as a program declares them that reads it strictly.
type (
	claudeBlockIn struct {
		Type      string          `json:"type"`
		Text      *string         `json:"text"`
		Thinking  *string         `json:"thinking"`
		Signature *string         `json:"signature"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
		ToolUseID string          `json:"tool_use_id"`
		Content   any             `json:"content"`
		IsError   bool            `json:"is_error"`
	}
	claudeUsageIn struct {
		Input      int64 `json:"input_tokens"`
		Output     int64 `json:"output_tokens"`
		CacheWrite int64 `json:"cache_creation_input_tokens"`
		CacheRead  int64 `json:"cache_read_input_tokens"`
	}
	claudeMessageIn struct {
		ID           string          `json:"id"`
		Type         string          `json:"type"`
		Role         string          `json:"role"`
		Model        string          `json:"model"`
		Content      []claudeBlockIn `json:"content"`
		StopReason   *string         `json:"stop_reason"`
		StopSequence *string         `json:"stop_sequence"`
		Usage        *claudeUsageIn  `json:"usage"`
	}
	claudeLineIn struct {
		Type           string           `json:"type"`
		Subtype        string           `json:"subtype"`
		SessionID      string           `json:"session_id"`
		UUID           string           `json:"uuid"`
		Message        *claudeMessageIn `json:"message"`
		Parent         *string          `json:"parent_tool_use_id"`
		Cwd            string           `json:"cwd"`
		Tools          []string         `json:"tools"`
		MCP            []any            `json:"mcp_servers"`
		Model          string           `json:"model"`
		PermissionMode string           `json:"permissionMode"`
		SlashCommands  []string         `json:"slash_commands"`
		APIKeySource   string           `json:"apiKeySource"`
		OutputStyle    string           `json:"output_style"`
		Agents         []string         `json:"agents"`
		Version        string           `json:"claude_code_version"`
		IsError        *bool            `json:"is_error"`
		DurationMS     *int64           `json:"duration_ms"`
		DurationAPI    *int64           `json:"duration_api_ms"`
		NumTurns       *int             `json:"num_turns"`
		Result         *string          `json:"result"`
		StopReason     *string          `json:"stop_reason"`
		TotalCost      *float64         `json:"total_cost_usd"`
		Usage          *claudeUsageIn   `json:"usage"`
		Errors         []string         `json:"errors"`
		Denials        []struct {
			Tool  string `json:"tool_name"`
			Use   string `json:"tool_use_id"`
			Input any    `json:"tool_input"`
		} `json:"permission_denials"`
	}
)

// consume reads a stream as such a program does: it knows the calls that it has seen by their ids, in earlier streams of
// the session too, and takes the result.
func consume(t *testing.T, out string, uses map[string]bool) (texts, results []string, last claudeLineIn) {
	t.Helper()
	seen := map[string]bool{}
	for i, line := range strings.Split(strings.TrimSpace(out), "\n") {
		d := json.NewDecoder(bytes.NewReader([]byte(line)))
		d.DisallowUnknownFields()
		var l claudeLineIn
		if err := d.Decode(&l); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if l.SessionID != "s" || !regexp.MustCompile(`^[0-9a-f-]{36}$`).MatchString(l.UUID) || seen[l.UUID] {
			t.Errorf("session %q, uuid %q in %s", l.SessionID, l.UUID, line)
		}
		seen[l.UUID] = true
		if (i == 0) != (l.Type == "system" && l.Subtype == "init") || last.Type == "result" {
			t.Errorf("line %d: %s", i, line)
		}
		last = l
		switch l.Type {
		case "system":
			if len(l.Tools) == 0 || l.Cwd == "" || l.Model == "" || l.PermissionMode != "default" {
				t.Errorf("init: %s", line)
			}
		case "assistant":
			if m := l.Message; m.Role != "assistant" || m.Type != "message" || m.Usage == nil || m.ID == "" {
				t.Errorf("assistant: %s", line)
			}
			for _, b := range l.Message.Content {
				if b.Type == "text" {
					texts = append(texts, *b.Text)
				}
				if b.Type == "tool_use" {
					uses[b.ID] = true
				}
			}
		case "user":
			b := l.Message.Content[0]
			if l.Message.Role != "user" || b.Type != "tool_result" || !uses[b.ToolUseID] {
				t.Errorf("no call has this result: %s", line)
			}
			results = append(results, fmt.Sprintf("%v:%.20s", b.IsError, b.Content))
		case "result":
		default:
			t.Errorf("type %q", l.Type)
		}
	}
	return texts, results, last
}

// Goal: a program that was written for Claude Code's stream reads this one.
func TestClaudeStreamJSON(t *testing.T) {
	w := clitest.New(t)
	uses := map[string]bool{}
	out := w.OK("-p", "--session-id", "s", "--model", w.Scripted(usesTools), "--allowed-tools", "Bash(echo:*)", "--output-format", "claude-stream-json", "hello")
	texts, results, last := consume(t, out, uses)
	if got := strings.Join(texts, "|"); got != "I look.|It says hello." {
		t.Errorf("texts: %s", got)
	}
	if len(results) != 2 || !strings.HasPrefix(results[0]+results[1], "false:hello") && !strings.HasPrefix(results[1], "false:hello") {
		t.Errorf("results: %q", results)
	}
	if last.Subtype != "success" || *last.IsError || *last.Result != "It says hello." || *last.NumTurns != 2 || last.Usage.Output == 0 || last.TotalCost == nil {
		t.Errorf("%+v", last)
	}
	o := w.Fails(app.ExitWaiting, "approvals allow", "-p", "-r", "s", "--output-format", "claude-stream-json", "--model", w.Scripted(`{"turns":[{"match":"now","steps":[{"tools":[{"name":"Bash","input":{"command":"touch x"}}]},{"text":"Done."}]}]}`), "now")
	if _, _, last = consume(t, o.Stdout, uses); last.Subtype != "error_during_execution" || !*last.IsError || len(last.Denials) != 1 || last.Denials[0].Tool != "Bash" || last.Denials[0].Use == "" {
		t.Errorf("%+v", last)
	}
	w.OK("approvals", "allow", "s")
	if _, results, last = consume(t, w.OK("-p", "-r", "s", "--output-format", "claude-stream-json"), uses); len(results) != 1 || *last.Result != "Done." {
		t.Errorf("resumed: %v %+v", results, last)
	}
}
