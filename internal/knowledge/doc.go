// Package knowledge keeps what outlives a session: the memory of a project, the memory of its user, and the project's
// journal. The files are the truth; people read and edit them with any editor.
//
// A [Scope] is one memory: an index, MEMORY.md, of one line for each entry under the heading of a topic, and a file of
// details for each. The index stays small enough to be in every session's first request: 200 lines and 25 KB. What would
// go beyond that is refused with the names of the entries to demote, never cut in silence. Who noted an entry, when, and
// when it was last confirmed lies beside it in .meta.json.
//
// A change is one step for everybody who looks: under a lock of the directory it is written down whole, with the bytes
// that it replaces, then made file by file, each by a rename and only where the file still is what the change was made
// for, and then closed. Whoever takes the lock next after a crash finishes it. So a change has happened or it has not;
// one with a key (the call of a tool) happens once, however often it is asked for; and the newest can be undone.
//
// [Memory.Do] is the tool that models are trained on: view, create, str_replace, insert, delete and rename below
// /memories, in that tool's exact words. [Journal] is append-only. [Brief] is what a new session is given to read.
//
// A [Desk] is the place of a project's state files, which package workflow writes: under the same lock, each with a copy of
// what was written last, so that a person's edit is seen.
//
// Names never lead out: every file is reached from the directory by os.Root, links are refused, and so is each spelling
// that could mean another place. Nothing here is asked for permission; callers decide who may call.
package knowledge
