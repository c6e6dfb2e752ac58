package session

import "github.com/perdure/perdure/store"

// Effect classes tell what a crash means for a tool call.
type Effect string

// The effect classes.
const (
	EffectRead     Effect = "read"     // no effect, or one that a second run repeats harmlessly: run again freely
	EffectProcess  Effect = "process"  // a command: its shim's record decides
	EffectEdit     Effect = "edit"     // a file: digests before and after decide
	EffectExternal Effect = "external" // unknown after a crash
	EffectQuestion Effect = "question" // asks a human; the answer is the result
)

// Edit is the intent of one file change, complete but for the content. It is logged before the file is touched.
type Edit struct {
	Path    string       `json:"path"`     // absolute, symlinks resolved
	Pre     store.Digest `json:"pre"`      // of the file before; zero means it does not exist
	Post    store.Digest `json:"post"`     // of the file after
	Mode    uint32       `json:"mode"`     // permission bits after
	InPlace bool         `json:"in_place"` // a hard-linked file is written in place
	Size    int64        `json:"size"`     // bytes after
	Result  string       `json:"result"`   // what the model is told when it succeeded
}

// Question is what a model asks a human.
type Question struct {
	Question string   `json:"question"`
	Options  []string `json:"options,omitempty"`
}

// FileUse says how the agent came to know a file.
type FileUse string

// The uses of a file.
const (
	FileRead     FileUse = "read"
	FileModified FileUse = "modified"
	FileCreated  FileUse = "created"
)

// File is what the session knows of one file.
type File struct {
	Path   string       `json:"path"`
	Digest store.Digest `json:"digest"` // of the content as last read or written by the session
	Mode   uint32       `json:"mode"`
	Size   int64        `json:"size"`
	Use    FileUse      `json:"use"`
	Time   int64        `json:"time,omitzero"` // ms UTC, of the newest event about it; set by the fold
	Seq    int64        `json:"seq,omitzero"`  // of that event; set by the fold
}
