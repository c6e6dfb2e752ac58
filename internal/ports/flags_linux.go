package ports

import "golang.org/x/sys/unix"

const sockFlags = unix.SOCK_CLOEXEC
