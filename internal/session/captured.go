package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/perdure/perdure/store"
)

// CaptureRung says how the files were looked at.
type CaptureRung string

// The rungs of a capture, the cheapest first.
const (
	RungHint   CaptureRung = "hint"   // only what is known to have changed
	RungWalk   CaptureRung = "walk"   // every name and its times
	RungVerify CaptureRung = "verify" // every byte
)

// CaptureWhy says what the files were captured for.
type CaptureWhy string

// Why files are captured.
const (
	CaptureBefore  CaptureWhy = "before"  // before the first act of a turn that may change them: what others did is in it
	CaptureAct     CaptureWhy = "act"     // after such an act
	CaptureTurn    CaptureWhy = "turn"    // at a turn's end
	CaptureNamed   CaptureWhy = "named"   // a checkpoint
	CaptureFork    CaptureWhy = "fork"    // a fork begins with them
	CapturePause   CaptureWhy = "pause"   // the session is given back
	CaptureRestore CaptureWhy = "restore" // before a restore
	CaptureResume  CaptureWhy = "resume"  // the session was opened
)

// FilesCaptured says what the files are: a tree, whose bytes are durable before this event is. With Refused it says why
// they were not captured.
type FilesCaptured struct {
	headOnly
	Dir     string       `json:"dir"`
	Tree    store.Digest `json:"tree,omitzero"`
	Rung    CaptureRung  `json:"rung,omitempty"`
	Why     CaptureWhy   `json:"why"`
	Act     string       `json:"act,omitempty"`     // of a capture after an act
	Name    string       `json:"name,omitempty"`    // of a checkpoint
	Request int64        `json:"request,omitempty"` // seq of what it answers
	Files   int64        `json:"files"`
	Bytes   int64        `json:"bytes"`
	Changed int64        `json:"changed"` // paths that are not as in the tree before
	Skipped []Skipped    `json:"skipped,omitempty"`
	Torn    []string     `json:"torn,omitempty"` // files that changed while they were read
	Repos   []RepoFact   `json:"repos,omitempty"`
	Dropped int64        `json:"dropped,omitempty"` // entries of these lists that are over their bounds
	Refused string       `json:"refused,omitempty"`
}

// Skipped is something that is there and is not in the tree.
type Skipped struct {
	Path  string `json:"path"`
	Why   string `json:"why"`
	Files int64  `json:"files,omitempty"`
	Bytes int64  `json:"bytes,omitempty"`
}

// RepoFact is what git says of a repository among the files; nothing in its .git is captured.
type RepoFact struct {
	Dir    string       `json:"dir"` // below the captured one; empty: that itself
	Head   string       `json:"head,omitempty"`
	Branch string       `json:"branch,omitempty"`
	Index  store.Digest `json:"index,omitzero"` // of its index file
	Dirty  bool         `json:"dirty,omitempty"`
}

// Bounds of the lists of a capture.
const (
	maxSkipped = 64
	maxTorn    = 64
	maxRepos   = 16
	maxWhyNot  = 400 // bytes
)

// Bound cuts the lists to 64 skipped, 64 torn and 16 repositories, and counts the rest.
func (b *FilesCaptured) Bound() {
	b.Dropped += int64(max(0, len(b.Skipped)-maxSkipped) + max(0, len(b.Torn)-maxTorn) + max(0, len(b.Repos)-maxRepos))
	b.Skipped = slices.Clip(b.Skipped[:min(len(b.Skipped), maxSkipped)])
	b.Torn = slices.Clip(b.Torn[:min(len(b.Torn), maxTorn)])
	b.Repos = slices.Clip(b.Repos[:min(len(b.Repos), maxRepos)])
	b.Refused = CutEnd(b.Refused, maxWhyNot)
}

func (b *FilesCaptured) summary() string {
	what := string(b.Why)
	switch {
	case b.Name != "":
		what = "checkpoint " + b.Name
	case b.Act != "":
		what = "after " + b.Act
	}
	if b.Refused != "" {
		return what + ": not captured: " + b.Refused
	}
	text := fmt.Sprintf("%s: %d changed of %d files, tree %.12s", what, b.Changed, b.Files, b.Tree)
	if n := int64(len(b.Skipped)+len(b.Torn)) + b.Dropped; n > 0 {
		text += ", " + things(int(n), "notice")
	}
	return text
}

func (b *FilesCaptured) apply(s *State, e store.Event) {
	w := &s.Workspace
	if b.Request != 0 {
		w.Asked = slices.DeleteFunc(slices.Clone(w.Asked), func(a CheckpointAsk) bool { return a.Seq == b.Request })
	}
	switch {
	case b.Refused != "":
		w.Refused = b.Refused
		return
	case b.Tree.IsZero():
		s.fault(e, "a capture without a tree")
		return
	}
	w.Dir, w.Tree, w.Seq, w.Time, w.Refused = b.Dir, b.Tree, e.Seq, e.Time, ""
	w.Unsure = 0
	if b.Name != "" {
		s.addCheckpoint(e, Checkpoint{Name: b.Name, Seq: e.Seq, Dir: b.Dir, Tree: b.Tree, Time: e.Time})
	}
}

// addCheckpoint keeps a checkpoint; none that is there is dropped for it.
func (s *State) addCheckpoint(e store.Event, c Checkpoint) {
	w := &s.Workspace
	if _, known := w.Checkpoint(c.Name); known {
		w.Checkpoints = slices.DeleteFunc(slices.Clone(w.Checkpoints), func(o Checkpoint) bool { return o.Name == c.Name })
	}
	if len(w.Checkpoints) >= maxCheckpoints {
		s.fault(e, "more than %d checkpoints", maxCheckpoints)
		return
	}
	w.Checkpoints = append(slices.Clip(w.Checkpoints), c)
}

// CheckpointRequested asks for a checkpoint. Its answer is a files.captured with its seq, of the tree or of why there is
// none.
type CheckpointRequested struct {
	headOnly
	Key  string `json:"key,omitempty"` // idempotency key of the inbox
	Name string `json:"name"`
}

func (b *CheckpointRequested) summary() string { return b.Name }

func (b *CheckpointRequested) apply(s *State, e store.Event) {
	if err := s.Workspace.TakesCheckpoint(b.Name); err != nil {
		s.fault(e, "checkpoint %s: %s", CutEnd(b.Name, maxCheckpointName), err)
		return
	}
	s.Workspace.Asked = append(slices.Clip(s.Workspace.Asked), CheckpointAsk{Seq: e.Seq, Name: b.Name})
}

// Artifact is a file that is kept with the session whatever becomes of its workspace.
type Artifact struct {
	Name   string       `json:"name"`
	Media  string       `json:"media,omitempty"`
	Size   int64        `json:"size"`
	Digest store.Digest `json:"digest"`
	Act    string       `json:"act,omitempty"` // the tool call that kept it
	Note   string       `json:"note,omitempty"`
	Seq    int64        `json:"seq,omitzero"`  // of the event; set by the fold
	Time   int64        `json:"time,omitzero"` // ms UTC, of the event; set by the fold
}

// Bounds of an artifact, in bytes.
const (
	MaxArtifactName = 255
	MaxArtifactNote = 1000
)

// ArtifactName says why a text is no name of an artifact: it has 1 to 255 bytes that can be printed.
func ArtifactName(name string) error {
	if name == "" || len(name) > MaxArtifactName || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("an artifact's name has 1 to %d bytes that can be printed", MaxArtifactName)
	}
	return nil
}

// ArtifactAdded keeps a file with the session: its bytes are durable before this event is. A name that is given again
// stands for the newer one from then on.
type ArtifactAdded struct {
	headOnly
	Artifact Artifact `json:"artifact"`
}

func (b *ArtifactAdded) summary() string {
	return strings.TrimSpace(fmt.Sprintf("%s, %d bytes %s", b.Artifact.Name, b.Artifact.Size, b.Artifact.Note))
}

// TakesArtifact says why the model may not keep an artifact of that name: a person has kept one, which it would hide, or
// with so many names of its own it could have a person's artifacts leave the list.
func (w *Workspace) TakesArtifact(name string) error {
	i := slices.IndexFunc(w.Artifacts, func(a Artifact) bool { return a.Name == name })
	switch {
	case i >= 0 && w.Artifacts[i].Act == "":
		return errors.New("the user has kept something under this name: take another one")
	case i < 0 && len(w.Artifacts) >= maxArtifacts/2:
		return fmt.Errorf("%d artifacts are kept: use a name that was used before", len(w.Artifacts))
	}
	return nil
}

func (b *ArtifactAdded) apply(s *State, e store.Event) {
	w, a := &s.Workspace, b.Artifact
	a.Seq, a.Time = e.Seq, e.Time
	if a.Name == "" || a.Digest.IsZero() {
		s.fault(e, "an artifact without a name or without bytes")
		return
	}
	kept := slices.DeleteFunc(slices.Clone(w.Artifacts), func(o Artifact) bool { return o.Name == a.Name })
	if n := len(kept) - maxArtifacts + 1; n > 0 {
		kept = kept[n:]
		s.Dropped.Artifacts += int64(n)
	}
	w.Artifacts = append(kept, a)
}
