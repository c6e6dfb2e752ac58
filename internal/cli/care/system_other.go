//go:build !linux

package care

// systemChecks says what this system does not offer.
func systemChecks() []check {
	return []check{{
		Name: "system", Level: levelWarn,
		Text: "there are no pidfds and no child subreapers here: a command that forks away may escape from task kill",
	}}
}
