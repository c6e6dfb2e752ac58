// Package attack uses the built perdure command as a hostile project, a hostile model and a careless user would, and
// looks for what must not happen: a secret on disk, an escape sequence on the terminal, a call that no human allowed.
//
// It has tests only. Every test makes a world of its own (a home, a user, a directory to work in) and leaves nothing
// that runs.
package attack
