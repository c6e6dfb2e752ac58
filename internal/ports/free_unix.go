//go:build unix

package ports

import (
	"errors"

	"golang.org/x/sys/unix"
)

// free reports whether nobody listens on a TCP port, on any address. It listens on nothing itself.
func free(port int) bool {
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|sockFlags, 0)
	if err == nil {
		defer unix.Close(fd)
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0) // then it stands for IPv4 as well
		if err = bind(fd, &unix.SockaddrInet6{Port: port}); err == nil || errors.Is(err, unix.EADDRINUSE) {
			return err == nil
		}
	}
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|sockFlags, 0) // there is no IPv6 here
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return bind(fd, &unix.SockaddrInet4{Port: port}) == nil
}

// bind tries an address as a server would: what a closed connection still holds is no hindrance.
func bind(fd int, addr unix.Sockaddr) error {
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	return unix.Bind(fd, addr)
}
