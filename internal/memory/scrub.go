package memory

import "context"

// Scrub has nothing to do: what is deleted is in no file; see [store.Scrubber].
func (s *Store) Scrub(ctx context.Context) error {
	return s.call(ctx, "scrub", "*", func(*Home) error { return nil })
}
