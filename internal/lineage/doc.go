// Package lineage says where words come from: which of them a session's agent wrote on its own, and which only repeat what
// a tool, a file outside of the project or somebody's text brought into the session. It is pure.
//
// [Own] leaves of a text what its writer says, without what is quoted in it. [Log] says of each event which text it
// brought in, and from where. [Matcher] finds the claims that such a text says already. Together they give a claim the
// trust of the least of its sources. They compare words: a claim that says the same in other words is not found.
package lineage
