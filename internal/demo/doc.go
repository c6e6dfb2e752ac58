// Package demo shows what Perdure is for, in a few seconds and without a key: an agent works on a small project, asks
// for permission, is killed by SIGKILL in the middle of a command, and is resumed exactly.
//
// The model is scripted, and says so. Everything else is real: the processes, the signal, the shell, the files, the
// dev server, the log. The demo writes into its home and one temporary directory only, and names what it leaves
// running.
package demo
