//go:build darwin

package task

// playPart has no parts to play where processes cannot be put into a container.
func playPart() {}
