// Package tree has captured sets of files as values: what a directory held, named by one digest.
//
// A tree is one object for each directory: its entries, sorted by the bytes of their names, in one canonical form. An
// entry of a directory names the object of that directory by its digest, so equal directories are one object, an edit
// makes new objects only for the directories above it, and two trees are compared by looking only at what differs. The
// zero digest stands for the empty tree.
//
// The package is pure: objects come from a [Reader] and go wherever the caller keeps them. An object of a directory with
// very many entries is larger than a store may hand out at once: the caller's Reader puts it together.
//
// Objects may be a stranger's. [Decode] refuses what [Encode] would not write. A tree cannot contain itself, since its
// digest would have to, but few bytes can spell a tree of 2^60 files by naming one subtree often: whatever walks has a
// bound on the entries that it looks at, on depth and on the length of paths.
package tree
