package homes

import (
	"context"
	"fmt"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/internal/workspace"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// Bounds of what is told of a session's files; what is over them is counted.
const (
	maxTouches = 200_000
	maxNotKept = 1000
)

// FileHistory is what a session did with files, from its whole log: what its tools say that they read and wrote, and how
// the captured trees differ. What commands only read is not known.
type FileHistory struct {
	Session     string         `json:"session"`
	Dir         string         `json:"directory"`
	Captured    bool           `json:"captured"`          // some capture has succeeded: else what commands changed is not known
	Why         string         `json:"why,omitempty"`     // the newest capture did not succeed, or there was none: why
	Missing     int            `json:"missing,omitempty"` // captures whose bytes are not here: thinned since, or not brought along
	Files       []FileStory    `json:"files"`             // by path: those that the session itself touched
	Outside     int            `json:"outside"`           // other files that changed between its calls, by others' doing
	LeftOut     int            `json:"left_out,omitempty"`
	NotKept     []NotKept      `json:"not_kept"` // by path
	Failures    []NotCaptured  `json:"not_captured"`
	Points      []KeptTree     `json:"points"`      // that undo goes back to, the oldest first
	Checkpoints []KeptTree     `json:"checkpoints"` // the oldest first
	Artifacts   []KeptArtifact `json:"artifacts"`   // the oldest first
}

// KeptTree is a state of the files that stays as long as the session.
type KeptTree struct {
	Moment string       `json:"moment"`         // in words, as restore takes it but for a restore's
	Turn   int          `json:"turn,omitempty"` // of a point
	Seq    int64        `json:"seq"`
	Time   view.Stamp   `json:"time"`
	Tree   store.Digest `json:"tree"`
}

// KeptArtifact is a file that is kept with the session.
type KeptArtifact struct {
	Name   string       `json:"name"`
	Size   int64        `json:"size"`
	Digest store.Digest `json:"digest"`
	Act    string       `json:"act,omitempty"`
	Seq    int64        `json:"seq"`
	Time   view.Stamp   `json:"time"`
}

// FileStory is one file, with each thing that became of it, the oldest first.
type FileStory struct {
	Path    string      `json:"path"` // absolute
	Did     string      `json:"did"`  // read, created, modified, deleted, or temporary: created and deleted again
	Touches []FileTouch `json:"touches"`
}

// FileTouch is one thing that became of a file. What the captures before and after an act differ in is that act's:
// others who wrote at the same moment are not told apart.
type FileTouch struct {
	Did    string       `json:"did"` // read, created, modified, mode (only its permissions), deleted
	Digest store.Digest `json:"digest,omitzero"`
	Before store.Digest `json:"digest_before,omitzero"`
	Size   int64        `json:"size,omitempty"`
	Seq    int64        `json:"seq"`
	Time   view.Stamp   `json:"time"`            // of that event
	By     string       `json:"by"`              // a tool's name, task, restore, or outside: it was between its acts
	Act    string       `json:"act,omitempty"`   // the tool call, or the task
	About  string       `json:"about,omitempty"` // the command, or more about By
	Tasks  []string     `json:"tasks,omitempty"` // background tasks that ran beside a call, and may have done it; at most 8
}

// Who has touched a file, where no tool's name says it.
const (
	byTask    = "task"
	byRestore = "restore"
	byOutside = "outside"
)

// NotKept is something that is or was there, whose content no capture has.
type NotKept struct {
	Path  string `json:"path"` // below the directory
	Why   string `json:"why"`
	Files int64  `json:"files,omitempty"`
	Bytes int64  `json:"bytes,omitempty"`
	First int64  `json:"first_seq"` // of the captures that say so
	Last  int64  `json:"last_seq"`
}

// NotCaptured says that the files were not captured at some moment.
type NotCaptured struct {
	Seq  int64      `json:"seq"`
	Time view.Stamp `json:"time"`
	Why  string     `json:"why"`
}

// FileHistory reads what a session did with files. It costs a look at its whole log, and at what differs between its
// captures. Errors: store.ErrNotFound, *store.CorruptError, blob.ErrDamaged.
func (h *Home) FileHistory(ctx context.Context, id string) (*FileHistory, error) {
	info, err := h.store.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	start, err := (&verification{home: h, info: info}).start(ctx)
	if err != nil {
		return nil, err
	}
	f := &fileFold{st: start, stories: map[string]*FileStory{}, notKept: map[string]*NotKept{}, out: &FileHistory{Session: id}}
	err = h.withBlobs(func(blobs *blob.Store) error {
		f.trees = tree.Remember(workspace.Arrived(blobs), rememberedTrees)
		for ev, err := range h.store.Read(ctx, id, 1, 0) {
			if err != nil {
				return err
			}
			body, err := session.Decode(ev)
			if err != nil {
				return err
			}
			if err := f.event(ctx, ev, body); err != nil {
				return fmt.Errorf("session %s: event %d: %w", id, ev.Seq, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f.finish(), nil
}

// rememberedTrees bounds the lists of directories that are kept while trees are compared, in bytes: each is compared twice.
const rememberedTrees = 16 << 20
