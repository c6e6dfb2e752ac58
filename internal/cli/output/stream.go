package output

import (
	"encoding/json"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/view"
)

// stream writes one JSON object a line, as things happen; docs/stream-json.md describes each.
type stream struct {
	enc     *json.Encoder
	verbose bool
	begun   bool
	held    []streamLine // what came before the first line could be written
}

// maxHeld bounds what is held back, in lines.
const maxHeld = 256

// streamLine is one line of stream-json.
type streamLine struct {
	Type    string `json:"type"` // init, event, delta, asleep, result
	Session string `json:"session_id"`
	*streamInit
	Event  any          `json:"event,omitempty"`
	Act    string       `json:"act,omitempty"`
	Kind   string       `json:"kind,omitempty"`
	Text   string       `json:"text,omitempty"`
	Tool   string       `json:"tool,omitempty"`
	Use    string       `json:"tool_use_id,omitempty"`
	Result *view.Result `json:"result,omitempty"` // of asleep: what it has come to so far
}

// streamInit is what the first line says besides.
type streamInit struct {
	Resumed bool     `json:"resumed"`
	Title   string   `json:"title"`
	Model   string   `json:"model"` // PROVIDER/MODEL
	Cwd     string   `json:"cwd"`
	Mode    string   `json:"mode"`
	Tools   []string `json:"tools"`
	Version string   `json:"version"`
}

func (s *stream) line(l streamLine) {
	if !s.begun && len(s.held) < maxHeld {
		s.held = append(s.held, l)
		return
	}
	_ = s.enc.Encode(l)
}

func (s *stream) Opened(st *session.State, resumed bool, _ func(int64) string) {
	_ = s.enc.Encode(streamLine{Type: "init", Session: st.ID, streamInit: &streamInit{
		Resumed: resumed, Title: st.Title, Model: st.Agent.Provider + "/" + st.Agent.Model, Cwd: st.Cwd,
		Mode: st.Config.Mode, Tools: toolNames(st.Agent.Tools), Version: homes.Version,
	}})
	s.begun = true
	for _, l := range s.held {
		s.line(l)
	}
	s.held = nil
}

func (s *stream) Observe(u engine.Update) {
	if u.Event == nil {
		s.line(streamLine{Type: "delta", Session: u.Session, Act: u.Act, Kind: u.Kind, Text: u.Text, Tool: u.Tool, Use: u.Use})
		return
	}
	view := session.EventView(*u.Event, u.Body)
	if opened, ok := u.Body.(*session.Opened); ok && !s.verbose {
		withoutBulk(view.Body, opened)
	}
	s.line(streamLine{Type: "event", Session: u.Session, Event: view})
}

func (s *stream) TurnEnded(view.Turn) {}

func (s *stream) Asleep(r *view.Result) {
	s.line(streamLine{Type: "asleep", Session: r.SessionID, Result: r})
}

func (s *stream) Result(r *view.Result) {
	s.line(streamLine{Type: "result", Session: r.SessionID, Result: r})
}

// withoutBulk leaves the system prompt out of a session's first event, and all but the names out of its tools.
func withoutBulk(body any, opened *session.Opened) {
	m, _ := body.(map[string]any)
	agent, _ := m["agent"].(map[string]any)
	delete(agent, "system")
	if agent != nil {
		agent["tools"] = toolNames(opened.Agent.Tools)
	}
}

// toolNames are the names in the tools' JSON.
func toolNames(tools []byte) []string {
	var list []struct {
		Name string `json:"name"`
	}
	out := []string{}
	if json.Unmarshal(tools, &list) == nil {
		for _, t := range list {
			out = append(out, t.Name)
		}
	}
	return out
}
