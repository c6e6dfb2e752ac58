// Package live shows a run to a person who watches it: what the model says, as it comes, one line for each tool call
// with its outcome, and what the run waits for.
//
// [Calls] knows which tool an act is of, from the events of a log; [View] draws a run on a terminal. Whatever goes in, no
// byte comes out that a terminal obeys, but for the view's own colours.
package live
