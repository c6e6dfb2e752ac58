package engine

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

// Bounds of the look at known files before a turn's first request, and of what is told of them.
const (
	maxLooked    = 256
	maxLookBytes = 8 << 20  // of one file; a larger one is not looked at
	maxLookTotal = 64 << 20 // of all
	maxNamed     = 20
)

// tellChanged tells the model which files changed, or went, since the session last read or wrote them: it would go on
// from what it remembers. It is a message in the log before the request is fixed, so that a retry sends the same bytes,
// and what was told once is not told again. What an edit changes is known, and not told.
func (s *files) tellChanged(ctx context.Context) error {
	if s.looked {
		return nil
	}
	s.looked = true
	changed := s.changedFiles()
	if len(changed) == 0 {
		return nil
	}
	text := "[" + changedSince + changedNames(changed) + ". Read it again before you rely on it.]" + s.diffs(changed)
	return s.append(ctx, engineActor, &session.MessageReceived{
		Note: true, Content: []model.Part{model.TextPart(text)}, Changed: changed,
	})
}

const changedSince = "changed on disk since you last read or wrote it: "

// changedNames lists at most 20 files that changed.
func changedNames(changed []session.FileChange) string {
	var words []string
	for _, c := range changed[:min(len(changed), maxNamed)] {
		what := " (changed)"
		if c.Digest.IsZero() {
			what = " (removed)"
		}
		words = append(words, c.Path+what)
	}
	if n := len(changed) - len(words); n > 0 {
		words = append(words, "and "+strconv.Itoa(n)+" more")
	}
	return strings.Join(words, ", ")
}

// changedFiles are the known files that are not on disk as the session knows them, by path, but for those that the model
// was told of.
func (s *files) changedFiles() (changed []session.FileChange) {
	for _, f := range s.newestFiles() {
		now, _, err := s.eng.cfg.Files.Digest(f.Path)
		told, known := s.state.Told[f.Path]
		if err != nil || now == f.Digest || known && told == now {
			continue
		}
		changed = append(changed, session.FileChange{Path: f.Path, Digest: now})
	}
	slices.SortFunc(changed, func(a, b session.FileChange) int { return strings.Compare(a.Path, b.Path) })
	return changed
}

// newestFiles are the known files that are looked at: the newest ones, as many as can be read in a moment.
func (s *files) newestFiles() []session.File {
	files := make([]session.File, 0, len(s.state.Files))
	for _, f := range s.state.Files {
		if f.Size <= maxLookBytes {
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b session.File) int { return int(b.Seq - a.Seq) })
	total := int64(0)
	for i, f := range files {
		if total += f.Size; i == maxLooked || total > maxLookTotal {
			return files[:i]
		}
	}
	return files
}
