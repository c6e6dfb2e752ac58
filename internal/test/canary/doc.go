// Package canary holds texts that pretend to be more than data, puts each of them wherever a session reads text that others
// wrote, and looks whether one of them got out of its cage: into the system prompt, the rules, the user's mouth, the
// memory, or a terminal's control. It is a corpus and its checks, which are tests.
package canary
