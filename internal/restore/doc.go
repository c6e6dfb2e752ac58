// Package restore makes a directory what a captured tree says, and loses nothing by it.
//
// Three trees are compared: the base, which is what the session knew last; now, which was captured just before; and the
// target. What the target wants otherwise than the base, and nobody else changed since, is done. What somebody else
// changed is a conflict: it stays, and the wanted version is written beside it under NAME.perdure-conflict, unless the
// caller forces it. What cannot be brought back, since its content is not in the trees, is never taken away.
//
// [Make] plans and touches nothing. [Begin] writes the plan to a journal, durably, before the first step; [Journal.Run]
// does it; [Journal.Undo] turns it round at any moment. Killed anywhere, the next [Open] and Run goes on: each step
// looks at what is on disk and does only what is left. At the end the journal says done, and stays until the caller has
// told its own log and calls [Journal.Forget].
//
// How a step goes: all contents are first written to a staging directory in the root, verified by their digests and
// synced, so that nothing has changed yet when one is missing, damaged or too large for the disk. Then each is swapped
// with the file that it replaces, and what came out is looked at once more: an edit that was made a moment before goes
// back to its place and is a conflict. Removals go by the staging directory, too. New names never replace one that
// appeared meanwhile.
//
// Every directory is opened from the root down, name by name, without following a link, and everything is done by its
// descriptor. Nothing is done in a .git, whatever a tree says.
//
// The caller holds the workspace's lease, so that no other restore and no tool of a session works in it meanwhile.
// Other programs may: they are what the checks are for. One case is left to them: a program that has a file open and
// goes on writing to it after it was replaced writes to the old one, as after every editor's save.
//
// Kept are kinds, contents, links, permission bits and times of files. Set-id bits are not given; attributes and access
// lists are those of a new file, and so is the owner, except where root restores: then it is who the old one belonged to.
package restore
