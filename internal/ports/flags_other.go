//go:build unix && !linux

package ports

const sockFlags = 0 // the descriptor lives for microseconds
