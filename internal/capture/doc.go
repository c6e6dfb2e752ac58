// Package capture turns a directory into a tree (package tree), whose contents are blobs (package blob).
//
// A [Dir] is a directory under care. It remembers of every file what the file system said of it when it was read, so
// that a capture reads only what has changed since. There are three ways to find that out, called rungs:
//
//   - hint: the directories that the kernel told of, and those that the caller names, are looked at. It is as true as what
//     was told: a change through a memory map is not, for one.
//   - walk: every file is looked at, none is read again without need.
//   - verify: every file is read.
//
// A hint that cannot be relied on (nobody watches, too much happened at once) becomes a walk. What was really done is in
// the result.
//
// A stamp that says "as before" is believed only if it is older than the look at it by more than the file system's clock
// can tell apart: git calls what is not "racily clean", and so do its documents (Documentation/technical/racy-git.txt).
// The kernel's own coarse clock, which stamps files on local file systems, is what is compared with.
//
// What is not captured is named: directories that can be made again (node_modules), big files, other file systems, what
// cannot be read. What git ignores is captured if it is small, and marked private. A .git is never looked into.
//
// Order of a capture, and the caller's duty: contents, then tree objects, then one sync ([blob.Batch.Commit]); the
// caller appends the event that names the tree, then calls [Result.Release], which lets blobs be swept again.
package capture
