package perdure

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/perdure/perdure/model/connect"
)

func (h *Home) getenv(name string) string {
	for _, kv := range h.cfg.Environ {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			return v
		}
	}
	return ""
}

// withoutKeys removes provider keys from what commands inherit.
func withoutKeys(environ []string) []string {
	keys := connect.KeyVariables()
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		k, _, _ := strings.Cut(kv, "=")
		return slices.Contains(keys, k)
	})
}

// secrets gathers the values that must not reach model and log.
func secrets(cfg Config) map[string]string {
	out := map[string]string{}
	keys := connect.KeyVariables()
	for _, kv := range cfg.Environ {
		if k, v, _ := strings.Cut(kv, "="); slices.Contains(keys, k) {
			out[k] = strings.TrimSpace(v) // what is sent, and printed, has no white space around it
		}
	}
	for k, v := range cfg.Secrets {
		out[k] = strings.TrimSpace(v)
	}
	return out
}

// tempDir is a session's TMPDIR. It is kept until the session is deleted.
func (h *Home) tempDir(sessionID string) (string, error) {
	dir := filepath.Join(h.dir, "tmp", sessionID)
	return dir, os.MkdirAll(dir, 0o700)
}
