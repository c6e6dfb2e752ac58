package capture

import (
	"encoding/binary"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// openDir opens a directory below the root. No link is followed on the way, and no other file system is entered.
func openDir(root int, path string) (int, error) {
	if path == "" {
		path = "."
	}
	for {
		fd, err := unix.Openat2(root, path, &unix.OpenHow{
			Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NOFOLLOW,
			Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV,
		})
		switch {
		case errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN):
			continue
		case errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM):
			return openSteps(root, path)
		}
		return fd, err
	}
}

// coarseClock is the clock by which the kernel stamps files on local file systems, in ns.
func coarseClock() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &t); err != nil {
		return time.Now().UnixNano() - int64(20*time.Millisecond)
	}
	return t.Nano()
}

// window is how far apart two changes must be for a file system's stamps to tell them. Stamps of local file systems come
// from the kernel's own clock, which ticks every 10 ms or faster; FAT has 2 s. Of a server's clock nothing is known: its
// stamps count when they are old enough for clocks that are set.
func window(root int) int64 {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(root, &fs); err != nil {
		return int64(10 * time.Minute)
	}
	switch uint32(fs.Type) { //nolint:gosec // magic numbers have 32 bits
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, 0x2fc12fc1:
		return int64(20 * time.Millisecond)
	case unix.MSDOS_SUPER_MAGIC:
		return int64(4 * time.Second)
	}
	return int64(10 * time.Minute)
}

// readNames appends the names in an open directory.
func readNames(fd int, buf []byte, names []string) ([]string, error) {
	for {
		n, err := unix.ReadDirent(fd, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return names, err
		}
		for b := buf[:n]; len(b) > nameAt; {
			size := int(binary.NativeEndian.Uint16(b[16:]))
			if size <= nameAt || size > len(b) {
				return names, unix.EIO
			}
			name := b[nameAt:size]
			for i, c := range name {
				if c == 0 {
					name = name[:i]
					break
				}
			}
			if s := string(name); s != "." && s != ".." {
				names = append(names, s)
			}
			b = b[size:]
		}
	}
}

// nameAt is where the name stands in a struct linux_dirent64: inode (8), offset (8), length (2), type (1).
const nameAt = 19
