// Package files is what people do with the files of sessions: checkpoint gives them a name, diff shows what has changed,
// undo and restore bring them back. Nothing is restored without a plan that was shown and a person's yes.
package files
