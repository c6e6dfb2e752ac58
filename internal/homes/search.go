package homes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/search"

	"github.com/perdure/perdure/internal/sys"
)

// SearchOptions say what is searched.
type SearchOptions struct {
	// Query is what is looked for; empty: the index is only brought up to date.
	Query string
	In    []string // of search.Kinds; none: all
	Cwd   string   // only what is about this directory, or one below it
	Limit int      // at most search.MaxHits; 0: 20
	// InProject: what is known of a project may lie in the project.
	InProject bool
	Rebuild   bool // the index is made anew
	Progress  func(search.Progress)
}

// Search finds words in the texts of all sessions and in what is known beside them. The index that it uses is a cache in
// the home, which it brings up to date; where that cannot be written, an index in memory is made for this one search.
// Errors: search.ErrNoWords, search.ErrTooLong.
func (h *Home) Search(ctx context.Context, o SearchOptions) (search.Found, error) {
	var q search.Query
	if o.Query != "" {
		var err error
		if q, err = search.Parse(o.Query); err != nil {
			return search.Found{}, fmt.Errorf("search: %w", err)
		}
	}
	cfg := search.Config{Home: h.dir, Rebuild: o.Rebuild, Progress: o.Progress, Fault: h.cfg.crash}
	if !h.owned() {
		cfg.Home = "" // whoever looks into another user's home leaves nothing there
	}
	if o.Limit <= 0 {
		o.Limit = 20
	}
	const twins = 20 // that may be left out
	f := search.Filter{Kinds: o.In, Cwd: o.Cwd, Limit: o.Limit + twins}
	if o.Cwd != "" {
		f.Root = knowledge.Root(o.Cwd)
	}
	lib := &library{home: h, inProject: o.InProject, files: map[string]knowledge.Document{}}
	found, err := search.Search(ctx, lib, cfg, q, f)
	found.Hits = withoutTwins(found.Hits)
	found.Hits = found.Hits[:min(len(found.Hits), o.Limit)]
	for i := range found.Hits {
		s := &found.Hits[i].Snippet
		// What is in the log has none; it may have been written before the secret was known as one.
		if text := h.secret.Replace([]byte(s.Text)); string(text) != s.Text {
			s.Text, s.Marks = string(text), nil
		}
	}
	return found, err
}

// withoutTwins leaves out one of an entry's line in the index of a memory and its file of details, the later one, and the
// name of a session of which there is more: its other hits have it.
func withoutTwins(hits []search.Hit) []search.Hit {
	seen, more := map[string]bool{}, map[string]bool{}
	for _, h := range hits {
		if h.Kind == search.Sessions && h.Text.Seq > 0 {
			more[h.Name] = true
		}
	}
	return slices.DeleteFunc(hits, func(h search.Hit) bool {
		if h.Kind == search.Sessions {
			return h.Text.Seq == 0 && more[h.Name]
		}
		if h.Kind != search.Memory {
			return false
		}
		dir, name := filepath.Split(h.Name)
		entry := filepath.Join(dir, h.Text.Title)
		if filepath.Base(dir) == "memory" {
			entry = filepath.Join(filepath.Dir(filepath.Clean(dir)), strings.TrimSuffix(name, ".md"))
		}
		twin := seen[entry]
		seen[entry] = true
		return twin && h.Text.Title != ""
	})
}

// owned reports whether the home is this user's, or is not there yet.
func (h *Home) owned() bool {
	info, err := os.Stat(h.dir)
	if err != nil {
		return true
	}
	owner, ok := sys.Owner(info)
	return !ok || int(owner) == os.Geteuid()
}
