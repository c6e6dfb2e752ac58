// Package process says what this process can learn of its surroundings without a home: the terminal that it has, whether
// somebody reads its output, what was typed before it asked, whether a session's command started it. It opens nothing
// of Perdure's and knows no command.
package process
