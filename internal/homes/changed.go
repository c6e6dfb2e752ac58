package homes

import (
	"slices"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/view"
)

// Bounds of the look at files when a session is resumed.
const (
	maxLooked    = 256
	maxLookBytes = 8 << 20
)

// changedFiles lists files that changed since the session last read or wrote them, of the newest ones that are small
// enough to be read quickly.
func (h *Home) changedFiles(st *session.State) (out []view.Recovery) {
	files := make([]session.File, 0, len(st.Files))
	for _, f := range st.Files {
		if f.Size <= maxLookBytes {
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b session.File) int { return int(b.Seq - a.Seq) })
	for _, f := range files[:min(len(files), maxLooked)] {
		now, _, err := tools.OSFiles{}.Digest(f.Path)
		switch {
		case err != nil || now == f.Digest:
		case now.IsZero():
			out = append(out, view.Recovery{Kind: "file", ID: f.Path, Text: "was removed since the session saw it"})
		default:
			out = append(out, view.Recovery{Kind: "file", ID: f.Path, Text: "changed since the session saw it"})
		}
	}
	return out
}
