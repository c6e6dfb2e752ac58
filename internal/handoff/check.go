package handoff

import "time"

// Stale is what of a document is no longer so.
type Stale struct {
	Age    string  `json:"age"` // in words, "2 days old"; empty: nobody knows
	Things []Thing `json:"stale"`
}

// Thing is a file or a commit that a document names and that is gone, or changed since.
type Thing struct {
	Name   string `json:"name"` // as the document names it
	Kind   string `json:"kind"` // file, commit
	Change string `json:"change"`
}

// What can have become of a thing.
const (
	Gone    = "gone"
	Changed = "changed since"
)

// Named lists what a document names: files, as absolute paths, and commits, at most 512 of each.
func Named(Document) (paths, commits []string) { return nil, nil }

// Check tells what is gone or changed of what a document names. look tells of an absolute path whether it exists and
// whether it changed since the document was written; commit tells whether one is in the repository; either may be nil.
func Check(Document, func(path string) (exists, changed bool), func(hash string) bool, time.Time) Stale {
	return Stale{}
}

// Mark gives a reader the text: a first line with its age, and a mark behind each thing that is gone or changed.
func Mark(text string, _ Stale) string { return text }
