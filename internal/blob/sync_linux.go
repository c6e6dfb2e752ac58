package blob

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// flush makes a file's bytes and length durable; not its times.
func flush(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("fdatasync "+f.Name(), err)
		}
	}
}
