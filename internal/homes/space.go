package homes

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/store"
)

// Space is what a home takes on its disk, in bytes.
type Space struct {
	Packs    int            `json:"packs"`
	Files    int64          `json:"files"`         // packs of captured files and artifacts
	Live     int64          `json:"live"`          // of them, what sessions need
	Free     int64          `json:"free"`          // of them, what a sweep can give back, at most
	Quota    int64          `json:"quota"`         // that Files may have; 0: nothing is captured
	Each     int64          `json:"session_quota"` // that one session may hold alone; 0: there is no bound of its own
	Shared   int64          `json:"shared"`        // of Live, what several sessions need
	Caches   int64          `json:"caches"`        // what is known of the directories that are captured, and journals of restores
	Outputs  int64          `json:"outputs"`
	Logs     int64          `json:"logs"` // the database of the sessions
	Search   int64          `json:"search"`
	Other    int64          `json:"other"`
	Sessions []SessionSpace `json:"sessions"` // that need captured files, the largest first
}

// SessionSpace is what a session needs of captured files and artifacts.
type SessionSpace struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Own     int64  `json:"own"`     // that no other session needs: its deletion and a sweep give it back
	Shared  int64  `json:"shared"`  // with others
	Outputs int64  `json:"outputs"` // large outputs of its tools
	// Refused is why its files are not captured today, though they were or could be; empty: they are.
	Refused string `json:"refused,omitempty"`
}

// Space measures what the home takes. It reads all trees that are kept. What it finds is what the sessions' quota goes by
// from then on.
func (h *Home) Space(ctx context.Context) (*Space, error) {
	defer h.Progress().Begin("measuring", "").End()
	s := &Space{Sessions: []SessionSpace{}}
	if f := h.cfg.Files; f != nil {
		s.Quota = cmp.Or(f.Quota, usualQuota)
	}
	s.Each = h.sessionQuota()
	now, gone := h.cfg.Now().UnixMilli(), h.gone()
	err := h.withBlobs(func(blobs *blob.Store) error {
		u, err := blobs.Usage()
		if err != nil {
			return err
		}
		s.Packs, s.Files = u.Packs, u.Bytes
		w := weighing{blobs: blobs, records: map[store.Digest]weighed{}, number: map[string]int32{}, with: map[[2]int32]int32{}}
		k := h.keeping(blobs, w.found)
		k.each = true
		was := map[string]held{}
		k.thin = func(id string) thinning {
			r, known := h.readRoom(id)
			if known {
				was[id] = r
			}
			return r.Thin
		}
		if err := k.look(ctx); err != nil {
			return err
		}
		if err := h.sum(ctx, s, &w); err != nil {
			return err
		}
		own := map[string]int64{}
		for _, one := range s.Sessions {
			own[one.ID] = one.Own
		}
		for id, r := range was {
			if s.Each > 0 {
				_, _ = h.measured(id, r, held{Own: own[id], Measured: now, Gone: gone, Thin: r.Thin}) // else it stays as it was
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, h.elsewhere(s)
}

// weighing adds up what sessions need. There may be millions of records: what is known of each is small, and has no
// pointers.
type weighing struct {
	blobs   *blob.Store
	records map[store.Digest]weighed
	ids     []string
	number  map[string]int32   // of a session in ids
	sets    [][]int32          // of sessions, by their numbers; the first ones are of one each
	with    map[[2]int32]int32 // the set that another one and a session make
}

// weighed is a record, and the set of sessions that need it.
type weighed struct {
	bytes int64
	by    int32
}

func (w *weighing) found(id string, d store.Digest) {
	n, known := w.number[id]
	if !known {
		n = int32(len(w.sets)) //nolint:gosec // fewer than there are records
		w.number[id] = n
		w.sets = append(w.sets, []int32{int32(len(w.ids))}) //nolint:gosec // of sessions
		w.ids = append(w.ids, id)
	}
	for _, r := range w.blobs.Records(d) {
		of, known := w.records[r.Digest]
		if !known {
			w.records[r.Digest] = weighed{r.Bytes, n}
		} else if by := w.join(of.by, n); by != of.by {
			w.records[r.Digest] = weighed{r.Bytes, by}
		}
	}
}

// join gives the set that has those of another one and of a session's own.
func (w *weighing) join(set, own int32) int32 {
	if set == own {
		return set
	}
	key := [2]int32{set, own}
	if known, ok := w.with[key]; ok {
		return known
	}
	joined, id := set, w.sets[own][0]
	if !slices.Contains(w.sets[set], id) {
		joined = int32(len(w.sets)) //nolint:gosec // fewer than there are records
		w.sets = append(w.sets, append(slices.Clone(w.sets[set]), id))
	}
	w.with[key] = joined
	return joined
}

func (h *Home) sum(ctx context.Context, s *Space, w *weighing) error {
	by := map[string]*SessionSpace{}
	of := func(n int32) *SessionSpace {
		id := w.ids[n]
		if by[id] == nil {
			by[id] = &SessionSpace{ID: id}
		}
		return by[id]
	}
	for _, r := range w.records {
		s.Live += r.bytes
		if by := w.sets[r.by]; len(by) == 1 {
			of(by[0]).Own += r.bytes
		} else {
			s.Shared += r.bytes
			for _, n := range by {
				of(n).Shared += r.bytes
			}
		}
	}
	s.Free = max(0, s.Files-s.Live)
	for id, one := range by {
		info, err := h.store.Get(ctx, id)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		one.Title = info.Heads.Title
		if st, err := h.State(ctx, id); err == nil {
			one.Refused = st.Workspace.Refused
		}
		if plainID(id) {
			if one.Outputs, err = bytesBelow(filepath.Join(h.dir, "outputs", id)); err != nil {
				return err
			}
		}
		s.Sessions = append(s.Sessions, *one)
	}
	slices.SortFunc(s.Sessions, func(a, b SessionSpace) int {
		return cmp.Or(cmp.Compare(b.Own+b.Shared, a.Own+a.Shared), cmp.Compare(a.ID, b.ID))
	})
	return nil
}

// elsewhere measures what is not in packs.
func (h *Home) elsewhere(s *Space) error {
	entries, err := os.ReadDir(h.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		n, err := bytesBelow(filepath.Join(h.dir, e.Name()))
		if err != nil {
			return err
		}
		switch name := e.Name(); {
		case name == "blobs":
			s.Other += max(0, n-s.Files) // indexes, and what a sweep tidies
		case name == "workspaces":
			s.Caches += n
		case name == "outputs":
			s.Outputs += n
		case name == "search":
			s.Search += n
		case !e.IsDir() && len(name) > 9 && name[:10] == "perdure.db":
			s.Logs += n
		default:
			s.Other += n
		}
	}
	return nil
}

// bytesBelow adds up the files below a name; links are not followed. What goes meanwhile is nothing.
func bytesBelow(name string) (n int64, err error) {
	err = filepath.WalkDir(name, func(_ string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	return n, err
}
