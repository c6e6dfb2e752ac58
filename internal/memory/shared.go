package memory

import (
	"bytes"
	"context"
	"fmt"
	"maps"

	"github.com/perdure/perdure/store"
)

// Shared returns the values of a scope; see [store.Directory].
func (s *Store) Shared(ctx context.Context, scope string) (values map[string][]byte, err error) {
	err = s.call(ctx, "shared values of", scope, func(h *Home) error {
		values = map[string][]byte{}
		for k, v := range h.shared[scope] {
			values[k] = bytes.Clone(v)
		}
		return nil
	})
	return values, err
}

// share sets shared values, or none of them.
func (h *Home) share(values []store.Shared) error {
	after := map[string]map[string][]byte{}
	for _, v := range values {
		if after[v.Scope] == nil {
			after[v.Scope] = map[string][]byte{}
			maps.Copy(after[v.Scope], h.shared[v.Scope])
		}
		if delete(after[v.Scope], v.Key); v.Value != nil {
			after[v.Scope][v.Key] = append([]byte{}, v.Value...)
		}
	}
	for scope, all := range after {
		size := 0
		for k, v := range all {
			size += len(k) + len(v)
		}
		if size > store.MaxShared {
			return fmt.Errorf("scope %q: %w: %d bytes, at most %d", scope, store.ErrSharedFull, size, store.MaxShared)
		}
	}
	if h.shared == nil {
		h.shared = map[string]map[string][]byte{}
	}
	maps.Copy(h.shared, after)
	return nil
}
