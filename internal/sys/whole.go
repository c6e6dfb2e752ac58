//go:build linux || darwin

package sys

const whole = true // commands run here, and files are captured
