//go:build linux || darwin

package task

// BootID names the current boot of this machine; empty if the system does not tell.
func BootID() string {
	id, err := cachedBootID()
	if err != nil {
		return ""
	}
	return id
}
