// Package workflow is a session's plan as a document: state.json, which people and other programs read and edit, and
// what becomes of their edits.
//
// A [Document] is made of a session's state by [New], written by [Document.JSON] and read by [ParseJSON], [ParseYAML] and
// [ParseMarkdown]. Its fields are those of the usual state file (task, status, plan, findings, failed_approaches) and
// ours. What this package does not know it keeps: keys, values and their order survive being read, changed and written.
//
// [Save] writes a session's document where its memory lies, [Propose] finds what a person changed in it, and [Load] tells
// a new session what an earlier one left. All text of a document is data: no caller may take it for an instruction.
package workflow
