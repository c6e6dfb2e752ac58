package background

import (
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/realdir"
)

// seenName is the file whose time says when a person looked at the sessions last.
const seenName = ".seen"

// Seen is when a person looked at a home's sessions last; zero: never, as far as it is known.
func Seen(home string) time.Time {
	info, err := os.Lstat(filepath.Join(home, dirName, seenName))
	if err != nil || !info.Mode().IsRegular() {
		return time.Time{}
	}
	return info.ModTime()
}

// SeenNow notes that a person has looked. Where it cannot be noted, as in a home that is read-only, more counts as news.
func SeenNow(home string) {
	root, err := realdir.Make(home, dirName)
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }()
	_ = root.Remove(seenName)
	if f, err := root.OpenFile(seenName, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600); err == nil {
		_ = f.Close()
	}
}
