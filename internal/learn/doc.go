// Package learn finds in a session's log what is worth knowing in later ones, and puts it before a person.
//
// [Extract] reads a log and gives what was tagged [DECISION], [GOTCHA], [REUSE] or [CORRECTION], in the agent's own
// replies, in the user's own messages and in the facts that it kept, summaries and words of handoffs included; [Newer]
// does the same for what came since a session was read before.
//
// Text that others brought into the session is never a finding: not the results of tools, not what is quoted, fenced or
// in an element, not instructions and not what was noted before. What the agent says and such a text said before it has
// that text's trust.
//
// What holds only now is left out, with the reason; what holds later is put as a fact, by rule, where the rule is sure.
// [Propose] puts the rest into the inbox of package knowledge. Nothing is noted before a person accepts it.
package learn
