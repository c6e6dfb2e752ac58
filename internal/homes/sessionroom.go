package homes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/capture"
	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/internal/sys"
)

// roomDir has a file for each session of a home whose sessions have a quota, and a lock beside them.
const (
	roomDir  = "room"
	roomLock = ".lock"
	roomGone = ".gone" // how many sessions were deleted
	maxRoom  = 4096    // bytes of a file that is read

	roomHolds = 24 * time.Hour // that what was measured is relied on
)

// held is what is known of the room that a session takes. Own was measured: what of captures and artifacts no other
// session needs; or it is what all sessions need together, which is no less. Added is what its captures have put into
// the packs since. The two together are too high by what was thinned, or has come to be shared, since. They are too low
// by what others gave up meanwhile, which is why a deletion of any session, and a day, has it measured again. A file
// that is missing or broken is made by measuring. None is synced: after a power failure it may be older than the packs
// by what the last seconds have kept.
type held struct {
	Own      int64    `json:"own"`
	Added    int64    `json:"added"`
	Measured int64    `json:"measured"` // ms UTC
	Gone     int64    `json:"gone"`     // how many sessions had been deleted then
	Tried    int64    `json:"tried"`    // to make room, ms UTC
	Thin     thinning `json:"thin"`
}

func (r held) bytes() int64 { return r.Own + r.Added }

// sessionQuota is what one session may hold alone; 0: there is no bound.
func (h *Home) sessionQuota() int64 {
	if f := h.cfg.Files; f != nil && h.blobs != nil {
		return f.SessionQuota
	}
	return 0
}

// readRoom reads what is known of a session's room; false: nothing that can be relied on.
func (h *Home) readRoom(id string) (r held, known bool) {
	if !plainID(id) {
		return r, false
	}
	b, err := h.readRoomFile(id)
	if err != nil || json.Unmarshal(b, &r) != nil || r.Own < 0 || r.Added < 0 || r.bytes() < 0 {
		return held{}, false
	}
	return r, true
}

func (h *Home) readRoomFile(name string) ([]byte, error) {
	root, err := realdir.Open(h.dir, roomDir)
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|sys.NoFollow|sys.NonBlock, 0)
	if err = errors.Join(err, root.Close()); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxRoom))
	return b, errors.Join(err, f.Close())
}

// gone is how many sessions were deleted since rooms are counted.
func (h *Home) gone() int64 {
	b, err := h.readRoomFile(roomGone)
	n, parseErr := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil || parseErr != nil {
		return 0
	}
	return n
}

// noteGone notes that a session is deleted: others may hold alone from now on what it shared with them.
func (h *Home) noteGone() error {
	if _, err := os.Lstat(filepath.Join(h.dir, roomDir)); errors.Is(err, fs.ErrNotExist) {
		return nil // nothing is counted
	}
	return h.inRooms(func(root *os.Root) error {
		return h.replaceRoomFile(root, roomGone, strconv.AppendInt(nil, h.gone()+1, 10))
	})
}

// thinningOf is what of a session's captures goes before its time.
func (h *Home) thinningOf(id string) thinning {
	r, _ := h.readRoom(id)
	return r.Thin
}

// changeRoom replaces what is known of a session's room. What change leaves as it is is not written.
func (h *Home) changeRoom(id string, change func(r held, known bool) held) error {
	return h.inRooms(func(root *os.Root) error {
		was, known := h.readRoom(id)
		is := change(was, known)
		if known && is == was {
			return nil
		}
		b, err := json.Marshal(is)
		if err != nil {
			return err
		}
		return h.replaceRoomFile(root, id, b)
	})
}

// inRooms does something with the files of rooms, alone among all processes.
func (h *Home) inRooms(do func(root *os.Root) error) error {
	root, err := realdir.Make(h.dir, roomDir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	lock, err := root.OpenFile(roomLock, os.O_RDWR|os.O_CREATE|sys.NoFollow, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // this gives it back
	for err = sys.ErrInterrupted; errors.Is(err, sys.ErrInterrupted); {
		err = sys.Flock(lock, sys.Exclusive) // who has it writes one small file
	}
	if err != nil {
		return err
	}
	return do(root)
}

// replaceRoomFile writes a file whole. The caller has the lock.
func (h *Home) replaceRoomFile(root *os.Root, name string, b []byte) error {
	const temp = ".new" // one name: what a kill leaves is written over
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|sys.NoFollow, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return root.Rename(temp, name)
}

// room is what a session may add to the packs; nil: as much as the home may.
func (h *Home) room(ctx context.Context, id string) (*capture.Room, error) {
	quota := h.sessionQuota()
	if quota == 0 || !plainID(id) {
		return nil, nil //nolint:nilnil // no bound
	}
	r, known := h.readRoom(id)
	if d := h.cfg.Now().Sub(time.UnixMilli(r.Measured)); !known || d < 0 || d >= roomHolds || r.Gone != h.gone() {
		var err error
		if r, err = h.measureRoom(ctx, id, quota, r); err != nil {
			return nil, fmt.Errorf("what session %s holds cannot be told: %w", id, err)
		}
	}
	return &capture.Room{Most: max(0, quota-r.bytes()), Count: func(added int64) error {
		return h.changeRoom(id, func(r held, _ bool) held { r.Added += added; return r })
	}}, nil
}

// measureRoom finds out what a session holds. It holds no more than all do: as long as that is below its quota, nothing
// is read.
func (h *Home) measureRoom(ctx context.Context, id string, quota int64, was held) (held, error) {
	gone := h.gone()
	u, err := h.blobs.Usage()
	if err != nil {
		return held{}, err
	}
	own := u.Bytes
	if own > quota {
		bounded, cancel := context.WithTimeout(ctx, roomMost)
		defer cancel()
		all, err := h.heldAlone(bounded, id, []thinning{was.Thin})
		switch {
		case err == nil:
			own = all[0]
		case bounded.Err() != nil && ctx.Err() == nil: // what is counted has to do, until tomorrow
			h.cfg.Log.Warn("what a session holds could not be measured in time", "session", id)
			own = was.bytes()
		default:
			return held{}, err
		}
	}
	return h.measured(id, was, held{Own: own, Measured: h.cfg.Now().UnixMilli(), Gone: gone, Tried: was.Tried, Thin: was.Thin})
}

// measured writes down what was found; what was added while it was looked for counts on.
func (h *Home) measured(id string, was, is held) (held, error) {
	err := h.changeRoom(id, func(now held, _ bool) held {
		is.Added = max(0, now.Added-was.Added)
		return is
	})
	return is, err
}

// roomLeft is the part of a session's quota that thinning aims at.
func roomLeft(quota int64) int64 { return quota / 4 * 3 }

// makeSessionRoom measures what a session really holds, because its quota seems to be used up, and thins its captures: as
// little as gives it a quarter of the quota back. It reports whether there is more room than before. Attempts are some time
// apart, in all processes: each reads all trees of the home.
func (h *Home) makeSessionRoom(ctx context.Context, id string) (bool, error) {
	h.swept.mu.Lock()
	defer h.swept.mu.Unlock()
	quota, now := h.sessionQuota(), h.cfg.Now()
	was, known := h.readRoom(id)
	if d := now.Sub(time.UnixMilli(was.Tried)); !known || d >= 0 && d < roomEvery {
		return false, nil
	}
	err := h.changeRoom(id, func(r held, _ bool) held { r.Tried = now.UnixMilli(); return r }) // also if it takes too long
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, roomMost)
	defer cancel()
	st, err := h.State(ctx, id)
	if err != nil {
		return false, err
	}
	ways, gone := was.Thin.harder(st), h.gone()
	own, err := h.heldAlone(ctx, id, ways)
	if err != nil {
		return false, err
	}
	n := 0
	for n < len(own)-1 && own[n] > roomLeft(quota) {
		n++
	}
	is, err := h.measured(id, was, held{Own: own[n], Measured: now.UnixMilli(), Gone: gone, Tried: now.UnixMilli(), Thin: ways[n]})
	if err != nil {
		return false, err
	}
	if n > 0 {
		h.cfg.Log.Info("old captures of a session are thinned: its room is used up", "session", id, "bytes", own[0]-own[n])
		if _, err := h.Sweep(ctx); err != nil { // the next one does it
			h.cfg.Log.Warn("what was thinned was not swept", "session", id, "error", err)
		}
	}
	return is.bytes() < quota && is.bytes() < was.bytes(), nil
}

// errSessionRoom is about a session's quota. Its text is always the same: a log has it once.
var errSessionRoom = fullError{
	"the room for files of this session is used up (files.session_quota_mb of the configuration allows more; perdure du says what it holds)",
	blob.ErrBound,
}

// errHomeRoom is about the home's.
var errHomeRoom = fullError{
	"the room for files of sessions is used up (files.quota_mb of the configuration; perdure du says what takes it)",
	blob.ErrQuota,
}

type fullError struct {
	text string
	is   error
}

func (e fullError) Error() string { return e.text }

func (e fullError) Unwrap() error { return e.is }
