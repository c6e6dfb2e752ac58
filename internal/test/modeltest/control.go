package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// routes are all paths that the server knows.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.answerModel(Anthropic))
	mux.HandleFunc("POST /v1/messages/count_tokens", s.countTokens)
	mux.HandleFunc("POST /v1/chat/completions", s.answerModel(OpenAI))
	mux.HandleFunc("GET /v1/models", s.listModels)
	mux.HandleFunc("GET /api/tags", s.listTags)
	mux.HandleFunc("GET /api/version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]string{"version": "0.0.0-modeltest"})
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, "Ollama is running")
	})
	mux.HandleFunc("GET /control/report", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.Report()) })
	mux.HandleFunc("POST /control/release", func(w http.ResponseWriter, r *http.Request) {
		s.Release(r.URL.Query().Get("name"))
		writeJSON(w, map[string]bool{"released": true})
	})
	mux.HandleFunc("GET /control/stalled", s.controlStalled)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		api := Anthropic
		if strings.HasPrefix(r.URL.Path, "/v1/chat") {
			api = OpenAI
		}
		bad := refuse(RulePath, "%s %s is not served", r.Method, r.URL.Path)
		bad.status = http.StatusNotFound
		s.refuse(w, api, nil, bad, "req_path")
	})
	return mux
}

// controlStalled answers when n answers have stalled under a name; it waits as
// long as its client does.
func (s *Server) controlStalled(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.URL.Query().Get("n"))
	if err != nil || n < 1 {
		n = 1
	}
	if err := s.WaitStalled(r.Context(), r.URL.Query().Get("name"), n); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	writeJSON(w, map[string]int{"arrived": n})
}

// listModels speaks both APIs' dialects at once: they share the path.
func (s *Server) listModels(w http.ResponseWriter, _ *http.Request) {
	type model struct {
		ID          string `json:"id"`
		Object      string `json:"object"`
		Created     int64  `json:"created"`
		OwnedBy     string `json:"owned_by"`
		Type        string `json:"type"`
		DisplayName string `json:"display_name"`
		CreatedAt   string `json:"created_at"`
	}
	data := []model{}
	for _, id := range s.cfg.Models {
		data = append(data, model{id, "model", 1, "modeltest", "model", id, "2026-01-01T00:00:00Z"})
	}
	writeJSON(w, map[string]any{"object": "list", "data": data, "has_more": false})
}

// listTags is Ollama's list of models.
func (s *Server) listTags(w http.ResponseWriter, _ *http.Request) {
	models := []map[string]any{}
	for _, id := range s.cfg.Models {
		models = append(models, map[string]any{
			"name": id, "model": id, "modified_at": "2026-01-01T00:00:00Z", "size": 1, "digest": "0",
			"details": map[string]any{"family": "test", "parameter_size": "1B"},
		})
	}
	writeJSON(w, map[string]any{"models": models})
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client is gone: nobody to tell
}
