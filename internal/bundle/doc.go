// Package bundle is a session as one portable file: its log with the hashes that it had, the logs that it was forked from,
// the files that its home kept for it, and room for captured trees and their blobs. docs/format.md has every byte.
//
// # The model
//
// A bundle is a preface and a sequence of frames, each with a type, its lengths and a checksum. A header says what
// follows and how much of it; an end frame has the BLAKE3 of all bytes before it. So a bundle that was cut, lengthened or
// changed anywhere is known as such, and one that claims little and unfolds into much is stopped at what it claimed.
// Writer and reader hold one frame at a time, whatever a bundle's size; neither seeks.
//
// # The caller's duties
//
// Hand the writer what the header announced, in the order of the types: logs (ancestors first), files, trees, blobs. Of
// what [Read] hands out, let nothing become visible before Read has returned without an error: only the end frame proves
// what came before it. A bundle is somebody else's word. That it is whole says nothing of who wrote it.
package bundle
