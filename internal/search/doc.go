// Package search finds words in all that a home knows: the texts of its sessions and the files that outlive them.
//
// The index is an SQLite database of its own in the home's directory search, with one FTS5 table. It holds no text, only
// where each word stands: snippets are read from where the text lies, so that what is gone is never shown. It is made of
// what a [Library] gives, brought up to date by each [Search], and it is never truth: one that is missing, damaged or of
// another version is made anew, and where none can be kept there is one in memory.
//
// What is a word is decided here and not by SQLite (see [Words]): letters and digits of any script, without case and
// accents; in scripts that put no blanks between words, each character. Texts and queries go the same way, so that what a
// plain reading finds ([Query.In]) the index finds too, and no query is an error of syntax.
//
// Whoever uses the index holds its lock alone, for as long as a question takes. A process that dies at any point leaves a
// transaction that the next one undoes; how far a source has been read is committed with the texts that were read of it.
//
// Deletion of a session is [Forget], which leaves none of its words in the file.
package search
