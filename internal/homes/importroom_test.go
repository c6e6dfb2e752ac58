package homes_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/test/forge"
	"github.com/perdure/perdure/store"
)

// noise is a bundle of a session with a file that does not get smaller.
func noise(t *testing.T, id string, size int) []byte {
	t.Helper()
	content := make([]byte, size)
	if _, err := rand.NewChaCha8([32]byte{byte(len(id)), id[0]}).Read(content); err != nil {
		t.Fatal(err)
	}
	object := forge.Object(forge.File("f", content))
	return forge.Bundle{
		ID: id, Bodies: []session.Body{forge.Opened(id), forge.Captured(store.Sum(object))}, Trees: [][]byte{object}, Blobs: [][]byte{content},
	}.Bytes(t)
}

// Goal: an import makes room below the quota by taking away what no session needs any more; where that is not enough, it
// says which setting it is about, and nothing of it is left.
func TestAnImportWithinTheQuota(t *testing.T) {
	h, err := homes.Open(t.Context(), t.TempDir(), homes.Config{Files: &homes.Files{Quota: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	if err := received(t, h, noise(t, "a", 700_000)).Import(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	b := noise(t, "b", 800_000)
	if err := received(t, h, b).Import(t.Context(), t.TempDir()); !errors.Is(err, blob.ErrQuota) || !strings.Contains(err.Error(), "files.quota_mb") {
		t.Errorf("over the quota: %v", err)
	}
	if _, err := h.Store().Get(t.Context(), "b"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("it is there: %v", err)
	}
	if err := h.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	dir := h.Dir()
	if err := h.Close(); err != nil { // attempts to make room are some minutes apart in one process
		t.Fatal(err)
	}
	if h, err = homes.Open(t.Context(), dir, homes.Config{Files: &homes.Files{Quota: 1 << 20}}); err != nil {
		t.Fatal(err)
	}
	if err := received(t, h, b).Import(t.Context(), t.TempDir()); err != nil {
		t.Errorf("after the other one was deleted: %v", err)
	}
}
