// Package window decides what a model's context window holds once the whole conversation does not fit any more. It is
// pure: a state and a transcript in, messages and the body of context.compacted out.
//
// What a request holds after a compaction, in this order: the system prompt and the tools, as frozen; then one message of
// named parts: the user's messages word for word, the plan, facts, decisions and failed approaches, files, the live state,
// what was done last, and the summary; then the newest whole steps as they were. Everything but the summary is written
// from the log. The summary is the model's, or made by rule where no model gives one.
package window
