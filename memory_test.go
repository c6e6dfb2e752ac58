package perdure_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure"
)

// Goal: a program says where its agents' memory lies, and a word that means nothing is an error.
func TestMemoryIsConfigured(t *testing.T) {
	if _, err := perdure.Open(t.Context(), t.TempDir(), perdure.Config{Memory: "attic"}); err == nil || !strings.Contains(err.Error(), "attic") {
		t.Errorf("got %v", err)
	}
	h, err := perdure.Open(t.Context(), t.TempDir(), perdure.Config{Memory: "home"})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}
