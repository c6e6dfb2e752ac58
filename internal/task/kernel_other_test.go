//go:build darwin

package task

func keepsEnds() {}
